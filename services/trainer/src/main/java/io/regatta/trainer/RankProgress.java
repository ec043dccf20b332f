package io.regatta.trainer;

import java.util.concurrent.atomic.AtomicLong;

/** How far one rank is, for heartbeats and {@code status}. Any thread. */
final class RankProgress {

  private final AtomicLong examples = new AtomicLong();
  private volatile long step;

  /** Notes that this rank has made so many steps. */
  void stepped(long made) {
    step = made;
  }

  /** Adds to the examples that this rank has trained. */
  void trained(long count) {
    examples.addAndGet(count);
  }

  /** Returns how many steps this rank has made. */
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
