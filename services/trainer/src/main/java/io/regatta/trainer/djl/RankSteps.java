package io.regatta.trainer.djl;

import java.util.function.LongFunction;

/**
 * Counts the pushes of one rank, over all its replicas, and adds up what the shards say about them. Shared by the
 * replicas' model threads; its lock is held only while a push is handed over, which keeps the numbers in the order in
 * which the links send them.
 */
public final class RankSteps {

  private long made;
  private int pushesPerStep = 1;
  private long stalenessMax;
  private long skippedPushes;
  private long clockLeadMax;

  /** Pushes made by this rank so far, empty ones included. */
  public synchronized long made() {
    return made;
  }

  /** Where each replica pushes for itself, a step is one push of each. */
  synchronized void pushesPerStep(int pushes) {
    pushesPerStep = pushes;
  }

  /** Steps made by this rank so far: one batch of each replica. */
  public synchronized long steps() {
    return made / pushesPerStep;
  }

  /** Highest staleness that a shard has reported for a push of this rank. */
  public synchronized long stalenessMax() {
    return stalenessMax;
  }

  /** Most clocks that this rank was ahead of the slowest one at a pull; at most the bound in SSP. */
  public synchronized long clockLeadMax() {
    return clockLeadMax;
  }

  /** Pushes dropped by the NaN policy. */
  public synchronized long skippedPushes() {
    return skippedPushes;
  }

  /** Hands over one push under the next number. */
  synchronized <T> T next(LongFunction<T> push) {
    return push.apply(made++);
  }

  /** Goes on from a later step, agreed upon by all ranks. */
  public synchronized void resumeAt(long step) {
    made = Math.max(made, step);
  }

  /** Goes on with the run of a snapshot, which had made so many steps. */
  synchronized void resumeAtStep(long steps) {
    resumeAt(Math.multiplyExact(steps, pushesPerStep));
  }

  /** Pushes that a step of this rank is. */
  public synchronized int pushesPerStep() {
    return pushesPerStep;
  }

  /** Notes how far ahead a pull found this rank. */
  synchronized void pulled(long clockLead) {
    clockLeadMax = Math.max(clockLeadMax, clockLead);
  }

  /** Notes what the shards answered to a push. */
  synchronized void acknowledged(long staleness, boolean skippedPush) {
    stalenessMax = Math.max(stalenessMax, staleness);
    skippedPushes += skippedPush ? 1 : 0;
  }
}
