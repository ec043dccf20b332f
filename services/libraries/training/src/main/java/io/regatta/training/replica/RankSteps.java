package io.regatta.training.replica;

import io.regatta.core.exchange.TrainerProgress;
import io.regatta.snapshot.ExampleCounts;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The progress of one rank over all its replicas, and the shards' answers to its pushes. Shared by the replicas' model
 * threads. Its lock is held only while a push is sent, which keeps the numbers in the order in which the links send
 * them.
 *
 * <p>It has three different counts. The shards keep the clock, too, and it jumps to that of the others after a barrier.
 * The exchanges are pushes. The step of the learning rate's schedule follows the clock, except in geo mode; of a push
 * with several steps of one replica it counts each.
 */
public final class RankSteps {

  /** A function that sends one push. */
  @FunctionalInterface
  public interface Push<T> {

    /**
     * Sends the push.
     *
     * @param learningRateStep step of the schedule that belongs to the push
     * @param after progress of the rank once it is applied
     */
    T make(long learningRateStep, TrainerProgress after);
  }

  /** The step that a replica is about to make, together with those before it that are not pushed yet. */
  private record Coming(TrainerProgress.Replica progress, long examples, int steps) {

    Coming and(Coming next) {
      return new Coming(next.progress, examples + next.examples, steps + next.steps);
    }
  }

  private long clock;
  private int pushesPerStep = 1;
  /** False if a push may contain several steps of a replica. */
  private boolean pushedApart = true;
  private long exchanges;
  /** The schedule's step at the clock {@code scheduleClock}. */
  private long scheduleStep;
  private long scheduleClock;
  /** Steps that were pushed together with a later one of the same replica, so that the clock lacks them. */
  private long pushedTogether;
  private boolean resumed;
  /** Content of the steps that are pushed next, by replica. */
  private final Map<Integer, Coming> coming = new TreeMap<>();
  /** Progress that has been pushed, or in geo mode added to the local values, by replica. */
  private final Map<Integer, TrainerProgress.Replica> made = new TreeMap<>();
  private long stalenessMax;
  private long skippedPushes;
  private long clockLeadMax;
  /** Examples of all steps of this rank, over all incarnations of the run; unknown if the snapshot did not say. */
  private long examples;
  /** Examples that earlier incarnations have trained. */
  private ExampleCounts before = ExampleCounts.NONE;
  /** Examples of all completed steps of all incarnations of the run, of any rank, if ranks make steps together. */
  private long examplesOfAll;
  /** Time for which others of an elastic job trained before this rank joined, ms. */
  private long millisBefore;

  /** Creates the steps of a rank with one replica. */
  public RankSteps() {
    this(1);
  }

  /** Creates the steps of a rank with the given replicas. */
  RankSteps(int replicas) {
    for (int replica = 0; replica < replicas; replica++) {
      made.put(replica, new TrainerProgress.Replica(0, List.of()));
    }
  }

  /** Returns the clock that the shards keep for this rank, as far as it has pushed; empty pushes count. */
  public synchronized long made() {
    return clock;
  }

  /** Sets the number of pushes of a step: if each replica pushes for itself, one per replica. */
  public synchronized void pushesPerStep(int pushes) {
    pushesPerStep = pushes;
  }

  /** Sets the number of a replica's steps that a push contains. */
  public synchronized void stepsPerPush(int steps) {
    pushedApart = steps == 1;
  }

  /** Returns the step of the learning rate's schedule: in sync mode the next round. */
  public synchronized long steps() {
    return learningRateStep(clock);
  }

  private long learningRateStep(long atClock) {
    return scheduleStep + (atClock - scheduleClock + pushedTogether) / pushesPerStep;
  }

  /** Returns the local steps of the replica that has made most. */
  public synchronized long localSteps() {
    return made.values().stream().mapToLong(TrainerProgress.Replica::localSteps).max().orElse(0);
  }

  /** Returns the local steps of each replica. */
  public synchronized List<Long> stepsByReplica() {
    return made.values().stream().map(TrainerProgress.Replica::localSteps).toList();
  }

  /** Returns the local steps of all replicas together. */
  public synchronized long stepsOfReplicas() {
    return made.values().stream().mapToLong(TrainerProgress.Replica::localSteps).sum();
  }

  /** Returns the highest staleness that a shard has reported for a push of this rank. */
  public synchronized long stalenessMax() {
    return stalenessMax;
  }

  /** Returns the most clocks that this rank was ahead of the slowest one at a pull; at most the bound in SSP. */
  public synchronized long clockLeadMax() {
    return clockLeadMax;
  }

  /** Returns the number of pushes dropped by the NaN policy. */
  public synchronized long skippedPushes() {
    return skippedPushes;
  }

  /**
   * Notes the step that a replica is about to make.
   *
   * @param progress of the replica once it is made
   * @param inStep examples that it trains
   */
  public synchronized void coming(int replica, TrainerProgress.Replica progress, long inStep) {
    Coming next = new Coming(progress, inStep, 1);
    if (pushedApart) { // one that is still here has failed, and is made again
      coming.put(replica, next);
    } else {
      coming.merge(replica, next, Coming::and);
    }
  }

  /** Counts the steps of these replicas, which are part of the next push. */
  public synchronized void stepped(List<Integer> replicas) {
    for (int replica : replicas) {
      Coming step = coming.remove(replica);
      if (step != null) {
        made.put(replica, step.progress());
        pushedTogether += step.steps() - 1;
        examples = examples < 0 ? TrainerProgress.UNKNOWN : examples + step.examples();
      }
    }
  }

  /** Counts the examples that all ranks have trained in a step that they have made together. */
  public synchronized void trainedByAll(long inStep) {
    examplesOfAll += inStep;
  }

  /**
   * Returns the examples that earlier incarnations of the run have trained. Those that this incarnation trains again
   * are counted as repeated.
   */
  public synchronized ExampleCounts before() {
    return before;
  }

  /**
   * Returns the examples that the run has trained so far, if ranks make steps together.
   *
   * @param repeated examples that have been trained more than once in this incarnation
   */
  public synchronized ExampleCounts trained(long repeated) {
    long soFar = before.isKnown() ? examplesOfAll : TrainerProgress.UNKNOWN;
    return new ExampleCounts(soFar, before.repeated() + repeated, 0);
  }

  /**
   * Returns the examples of all completed steps of all incarnations of the run, including those of ranks that are gone;
   * 0 if ranks do not make steps together.
   */
  public synchronized long examplesOfAll() {
    return examplesOfAll;
  }

  /**
   * Returns the time for which the run had been training before this rank joined it, ms; 0 if it has been there from
   * the beginning.
   */
  public synchronized long millisBefore() {
    return millisBefore;
  }

  /**
   * Takes over another rank's knowledge of the whole run, in an elastic job.
   *
   * @param examplesSoFar of all completed steps
   * @param earlier examples that earlier incarnations have trained
   * @param millis for which it had been training
   * @param ownMillis for which this rank has been training
   */
  public synchronized void takeOver(long examplesSoFar, ExampleCounts earlier, long millis, long ownMillis) {
    examplesOfAll = examplesSoFar;
    before = earlier;
    millisBefore = Math.max(millisBefore, millis - ownMillis);
  }

  /**
   * Sends one push under the next number.
   *
   * @param replicas whose steps it contains
   */
  public synchronized <T> T next(List<Integer> replicas, Push<T> push) {
    stepped(replicas);
    clock++;
    exchanges++;
    return push.make(learningRateStep(clock - 1), new TrainerProgress(localSteps(), exchanges, learningRateStep(clock),
        examples, List.copyOf(made.values())));
  }

  /** Continues at a later clock, on which all ranks have agreed. */
  public synchronized void resumeAt(long later) {
    clock = Math.max(clock, later);
  }

  /**
   * Resumes the run of a snapshot, each count from its own value; the first of the replicas does it for all. A newcomer
   * to an elastic job that has received later values keeps these.
   *
   * @param clockOfShards with which the shards begin
   * @param own progress of this rank
   * @param ofRun examples that all ranks have trained; those that the snapshot contains only in part are trained again
   */
  public synchronized void resume(long clockOfShards, TrainerProgress own, ExampleCounts ofRun) {
    if (resumed) {
      return;
    }
    resumed = true;
    before = new ExampleCounts(ofRun.trained(), ofRun.repeated() + ofRun.ahead(), 0);
    examplesOfAll = Math.max(0, ofRun.trained());
    if (clockOfShards >= clock) {
      clock = clockOfShards;
      scheduleClock = clockOfShards;
      scheduleStep = own.learningRateStep();
      pushedTogether = 0;
      exchanges = own.exchanges();
      examples = own.examples();
      for (int replica = 0; replica < own.replicas().size(); replica++) {
        made.put(replica, own.replicas().get(replica));
      }
    }
  }

  /** Returns the pushes of a step of this rank. */
  public synchronized int pushesPerStep() {
    return pushesPerStep;
  }

  /** Notes how far ahead a pull found this rank. */
  public synchronized void pulled(long clockLead) {
    clockLeadMax = Math.max(clockLeadMax, clockLead);
  }

  /** Notes the shards' answer to a push. */
  public synchronized void acknowledged(long staleness, boolean skippedPush) {
    stalenessMax = Math.max(stalenessMax, staleness);
    skippedPushes += skippedPush ? 1 : 0;
  }
}
