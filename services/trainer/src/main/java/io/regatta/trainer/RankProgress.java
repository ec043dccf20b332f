package io.regatta.trainer;

import java.util.concurrent.atomic.AtomicLong;

/** The progress of one rank, for heartbeats and {@code status}. Any thread may use it. */
final class RankProgress {

  private final AtomicLong examples = new AtomicLong();
  private volatile long step;

  /** Notes the steps that this rank has made. */
  void stepped(long made) {
    step = made;
  }

  /** Adds to the examples that this rank has trained. */
  void trained(long count) {
    examples.addAndGet(count);
  }

  /** Returns the steps that this rank has made. */
  long step() {
    return step;
  }

  /** Returns the last step that this rank has made; -1 if none. */
  long lastStep() {
    return step - 1;
  }

  long examples() {
    return examples.get();
  }
}
