package io.regatta.trainer.heter;

import io.regatta.node.admin.CounterSource;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;

/** Counts of a rank's exchange with heter workers. Written by the owner of {@link HeterWorkers}, read by any thread. */
public final class HeterCounts {
  final LongAdder batches = new LongAdder();
  final LongAdder again = new LongAdder();
  final LongAdder bytesOut = new LongAdder();
  final LongAdder bytesIn = new LongAdder();
  final LongAdder waitNanos = new LongAdder();

  /** Returns the batches whose results have come. */
  public long batches() {
    return batches.sum();
  }

  /** Returns how often a batch was sent to another heter worker, because the first was lost. */
  public long again() {
    return again.sum();
  }

  /** Returns the bytes of all tensors sent. */
  public long bytesOut() {
    return bytesOut.sum();
  }

  /** Returns the bytes of all tensors received. */
  public long bytesIn() {
    return bytesIn.sum();
  }

  /** Returns the time between sending a batch and its result, over all batches, in seconds. */
  public double waitSeconds() {
    return waitNanos.sum() / 1e9;
  }

  /** Returns the counts as metrics of a trainer. */
  public List<CounterSource> sources() {
    return List.of(new CounterSource("regatta.trainer.heter.batches", "batches computed by heter workers",
        this::batches),
        new CounterSource("regatta.trainer.heter.again", "batches sent again, because their heter worker was lost",
            this::again),
        new CounterSource("regatta.trainer.heter.bytes.out", "bytes of tensors sent to heter workers", this::bytesOut),
        new CounterSource("regatta.trainer.heter.bytes.in", "bytes of tensors received from heter workers",
            this::bytesIn),
        new CounterSource("regatta.trainer.heter.wait",
            "time between sending a batch and its result, over all batches, s",
            this::waitSeconds));
  }
}
