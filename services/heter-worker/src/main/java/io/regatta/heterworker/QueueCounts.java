package io.regatta.heterworker;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/** The counts of a {@link BatchQueue} since its start. Its loop writes them; any thread may read them. */
final class QueueCounts {

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

  long batches() {
    return batches.get();
  }

  long examples() {
    return examples.get();
  }

  /** Returns the batches that were computed together with others. */
  long gathered() {
    return gathered.get();
  }

  /** Returns the batches whose trainer was gone before they were computed. */
  long dropped() {
    return dropped.get();
  }

  double busySeconds() {
    return busyNanos.get() / NANOS_PER_SECOND;
  }

  double waitedSeconds() {
    return waitedNanos.get() / NANOS_PER_SECOND;
  }
}
