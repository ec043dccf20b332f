package io.regatta.training.heter.queue;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** The counts of a {@link BatchQueue} since its start. Its owner writes them; any thread may read them. */
public final class QueueCounts {

  private static final double NANOS_PER_SECOND = TimeUnit.SECONDS.toNanos(1);

  private final AtomicLong batches = new AtomicLong();
  private final AtomicLong examples = new AtomicLong();
  private final AtomicLong gathered = new AtomicLong();
  private final AtomicLong dropped = new AtomicLong();
  private final AtomicLong busyNanos = new AtomicLong();
  private final AtomicLong waitedNanos = new AtomicLong();

  /** Notes that the model thread has ended a work. */
  void computed(int ofBatches, long ofExamples, long nanos) {
    batches.addAndGet(ofBatches);
    examples.addAndGet(ofExamples);
    busyNanos.addAndGet(nanos);
    if (ofBatches > 1) {
      gathered.addAndGet(ofBatches);
    }
  }

  void dropped(int count) {
    dropped.addAndGet(count);
  }

  /** Adds to the time that batches have waited for the model thread. */
  void waited(long nanos) {
    waitedNanos.addAndGet(nanos);
  }

  /** Returns the batches that have been computed, or refused by the part. */
  public long batches() {
    return batches.get();
  }

  /** Returns the examples in them. */
  public long examples() {
    return examples.get();
  }

  /** Returns the batches that were computed together with others. */
  public long gathered() {
    return gathered.get();
  }

  /** Returns the batches whose trainer was gone before they were computed. */
  public long dropped() {
    return dropped.get();
  }

  /** Returns the time for which the model thread has computed. */
  public double busySeconds() {
    return busyNanos.get() / NANOS_PER_SECOND;
  }

  /** Returns the time for which batches have waited for the model thread. */
  public double waitedSeconds() {
    return waitedNanos.get() / NANOS_PER_SECOND;
  }
}
