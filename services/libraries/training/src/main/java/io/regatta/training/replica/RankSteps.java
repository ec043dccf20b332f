package io.regatta.training.replica;

import io.regatta.core.exchange.TrainerProgress;
import io.regatta.snapshot.ExampleCounts;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * Progress of one rank over all its replicas, and what the shards say about its pushes. Shared by the replicas' model
 * threads; its lock is held only while a push is handed over, which keeps the numbers in the order in which the links
 * send them.
 *
 * <p>Three counts that differ: the clock, which the shards keep alike and which jumps to that of the others after a barrier; the
 * exchanges, which are pushes; and the step of the learning rate's schedule, which follows the clock, except in geo mode.
 */
public final class RankSteps {

  /** Hands over one push. */
  @FunctionalInterface
  public interface Push<T> {

    /**
     * Makes the push.
     *
     * @param learningRateStep step of the schedule that the push is of
     * @param after progress of the rank once it is applied
     */
    T make(long learningRateStep, TrainerProgress after);
  }

  /** Step that a replica is about to make. */
  private record Coming(TrainerProgress.Replica progress, long examples) {}

  private long clock;
  private int pushesPerStep = 1;
  private long exchanges;
  /** The schedule is at this step where the clock is at that one. */
  private long scheduleStep;
  private long scheduleClock;
  private boolean resumed;
  /** By replica: what the steps that are pushed next contain. */
  private final Map<Integer, Coming> coming = new TreeMap<>();
  /** By replica: what has been pushed, or in geo mode added to the local values. */
  private final Map<Integer, TrainerProgress.Replica> made = new TreeMap<>();
  private long stalenessMax;
  private long skippedPushes;
  private long clockLeadMax;
  /** Examples of all steps of this rank, over all lives of the run; unknown if the snapshot did not say. */
  private long examples;
  /** Examples that lives before this one have trained. */
  private ExampleCounts before = ExampleCounts.NONE;
  /** Where ranks make steps together: examples of all completed steps of all lives of the run, whoever made them. */
  private long examplesOfAll;
  /** How long others of an elastic job trained before this rank came, ms. */
  private long millisBefore;

  /** One replica. */
  public RankSteps() {
    this(1);
  }

  /** A rank of so many replicas. */
  RankSteps(int replicas) {
    for (int replica = 0; replica < replicas; replica++) {
      made.put(replica, new TrainerProgress.Replica(0, List.of()));
    }
  }

  /** Returns the clock that the shards keep of this rank, as far as it has pushed: empty pushes count. */
  public synchronized long made() {
    return clock;
  }

  /** Where each replica pushes for itself, a step is one push of each. */
  public synchronized void pushesPerStep(int pushes) {
    pushesPerStep = pushes;
  }

  /** Returns the step that the schedule of the learning rate is at: in sync mode the round that comes next. */
  public synchronized long steps() {
    return learningRateStep(clock);
  }

  private long learningRateStep(long atClock) {
    return scheduleStep + (atClock - scheduleClock) / pushesPerStep;
  }

  /** Returns the local steps of the replica that has made most. */
  public synchronized long localSteps() {
    return made.values().stream().mapToLong(TrainerProgress.Replica::localSteps).max().orElse(0);
  }

  /** Returns the local steps of all replicas together. */
  public synchronized long stepsOfReplicas() {
    return made.values().stream().mapToLong(TrainerProgress.Replica::localSteps).sum();
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

  /**
   * Notes the step that a replica is about to make.
   *
   * @param progress of the replica once it is made
   * @param inStep examples that it trains
   */
  public synchronized void coming(int replica, TrainerProgress.Replica progress, long inStep) {
    coming.put(replica, new Coming(progress, inStep));
  }

  /** These replicas have made their step, which is part of the next push. */
  public synchronized void stepped(List<Integer> replicas) {
    for (int replica : replicas) {
      Coming step = coming.remove(replica);
      if (step != null) {
        made.put(replica, step.progress());
        examples = examples < 0 ? TrainerProgress.UNKNOWN : examples + step.examples();
      }
    }
  }

  /** Counts the examples that all ranks have trained in a step that they have made together. */
  public synchronized void trainedByAll(long inStep) {
    examplesOfAll += inStep;
  }

  /**
   * Returns the examples that lives of the run before this one have trained. Those that this life trains again are
   * counted as repeated.
   */
  public synchronized ExampleCounts before() {
    return before;
  }

  /**
   * Returns the examples that the run has trained so far, where ranks make steps together.
   *
   * @param repeated examples that have been trained more than once in this life
   */
  public synchronized ExampleCounts trained(long repeated) {
    long soFar = before.isKnown() ? examplesOfAll : TrainerProgress.UNKNOWN;
    return new ExampleCounts(soFar, before.repeated() + repeated, 0);
  }

  /**
   * Returns the examples of all completed steps of all lives of the run, also those of ranks that are gone; 0 where
   * ranks do not make steps together.
   */
  public synchronized long examplesOfAll() {
    return examplesOfAll;
  }

  /** Time for which the run had been training before this rank took it over, ms; 0 if it has been there from the beginning. */
  public synchronized long millisBefore() {
    return millisBefore;
  }

  /**
   * Takes over what another rank of an elastic job knows of the whole run.
   *
   * @param examplesSoFar of all completed steps
   * @param earlier examples that lives before this one have trained
   * @param millis for which it had been training
   * @param ownMillis for which this rank has been training
   */
  public synchronized void takeOver(long examplesSoFar, ExampleCounts earlier, long millis, long ownMillis) {
    examplesOfAll = examplesSoFar;
    before = earlier;
    millisBefore = Math.max(millisBefore, millis - ownMillis);
  }

  /**
   * Hands over one push under the next number.
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

  /** Continues at a later clock, agreed upon by all ranks. */
  public synchronized void resumeAt(long later) {
    clock = Math.max(clock, later);
  }

  /**
   * Resumes the run of a snapshot, each count from its own; the first of the replicas does it for all. A newcomer to an elastic job
   * that has been given more keeps that.
   *
   * @param clockOfShards that the shards begin with
   * @param own progress of this rank
   * @param ofRun examples that all ranks have trained; those that the snapshot contains in part are trained again
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
      exchanges = own.exchanges();
      examples = own.examples();
      for (int replica = 0; replica < own.replicas().size(); replica++) {
        made.put(replica, own.replicas().get(replica));
      }
    }
  }

  /** Pushes that a step of this rank is. */
  public synchronized int pushesPerStep() {
    return pushesPerStep;
  }

  /** Notes how far ahead a pull found this rank. */
  public synchronized void pulled(long clockLead) {
    clockLeadMax = Math.max(clockLeadMax, clockLead);
  }

  /** Notes what the shards answered to a push. */
  public synchronized void acknowledged(long staleness, boolean skippedPush) {
    stalenessMax = Math.max(stalenessMax, staleness);
    skippedPushes += skippedPush ? 1 : 0;
  }
}
