package io.regatta.core.shard;

import io.regatta.core.dense.BlockPool;
import io.regatta.core.dense.DenseSink;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.PushMark;
import io.regatta.core.exchange.ResumePoint;
import io.regatta.core.exchange.ShardLink;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.exchange.Wait;
import io.regatta.core.loop.Clock;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.shard.internal.job.Completions;
import io.regatta.core.shard.internal.job.JobContext;
import io.regatta.core.shard.internal.parameters.JobTables;
import io.regatta.core.shard.internal.parameters.RowLimit;
import io.regatta.core.shard.internal.parameters.Shrinks;
import io.regatta.core.shard.internal.push.JobPushes;
import io.regatta.core.shard.internal.push.PushCheck;
import io.regatta.core.shard.internal.push.PushHold;
import io.regatta.core.shard.internal.push.PushQueue;
import io.regatta.core.shard.internal.push.ShardStrategy;
import io.regatta.core.shard.internal.push.TrainerState;
import io.regatta.core.shard.internal.push.Trainers;
import io.regatta.core.shard.internal.rounds.RoundStrategy;
import io.regatta.core.table.TableCounts;
import io.regatta.core.table.TableSnapshot;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.function.Function;

/**
 * The state of one job on one shard: its parts, put together, and what concerns several of them. Every request is
 * checked as a whole before anything changes; a push that is applied while it arrives is checked as far as it has
 * arrived. Callbacks go through {@link Completions}. Owned by the shard's thread.
 *
 * <p>An empty push is an update of nothing: it counts in {@link JobContext#version()}, so that all shards number updates
 * alike.
 */
final class JobState {

  final JobSpec spec;
  final JobContext context;
  final JobTables tables;
  final Trainers trainers;
  final PushCheck check;
  final RowLimit rowLimit;
  final ShardStrategy strategy;
  final PushQueue queue;
  final Shrinks shrinks;
  private final JobPushes pushes;
  private final PushHold hold;
  private final PullQueue pulls;
  final JobSnapshots snapshots;
  /** True once it has its first values. */
  private boolean begun;

  JobState(JobSpec spec, int shard, ShardLimits limits, BlockPool pool, Clock clock,
      Executor later, Completions completions) {
    this.spec = spec;
    context = new JobContext(spec, shard, clock, later, completions, this::settle, this::giveUp);
    tables = new JobTables(spec, shard, pool, context.where, limits, clock);
    trainers = new Trainers(spec.trainers(), context.where);
    check = new PushCheck(context, tables, trainers, shard);
    queue = new PushQueue(context.turns, limits.openRounds(), context.where, this::anyPullWaits);
    rowLimit = new RowLimit(tables, this::unborn, spec.mode(), context.where);
    strategy = ShardStrategies.of(context, tables, trainers, check, rowLimit, limits.openRounds(), new Gate());
    hold = new PushHold(context, trainers, queue, this::push, limits.openRounds());
    pushes = new JobPushes(context, strategy, trainers, check, queue, hold);
    pulls = new PullQueue(context, tables, trainers, check, rowLimit, queue, strategy, limits.parkedPulls(),
        limits.memory().answers());
    shrinks = new Shrinks(context, tables);
    snapshots = new JobSnapshots(context, tables, strategy, shrinks, hold,
        (scope, keptMax, over) -> new JobSnapshot(this, shard, scope, keptMax, over));
  }

  /** The conditions that pulls and snapshots place on a complete round. */
  private final class Gate implements RoundStrategy.Gate {

    @Override
    public boolean answersPulls() {
      return pulls.gathering();
    }

    @Override
    public boolean snapshotIsDue() {
      return snapshots.isDue();
    }

    @Override
    public void roundApplied() {
      pulls.release(); // also if the next round is complete: none of them waits for more than one
    }
  }

  private boolean anyPullWaits() {
    return pulls.anyParked();
  }

  /** Returns an upper bound of the rows that requests which have passed their check will still create. */
  private long unborn() {
    return strategy.births() + pulls.births() + queue.births();
  }

  /** Registers a life of a rank; the caller has compared the job. See {@link ShardLink#register}. */
  long register(TrainerId id, long step) {
    context.turns.begin();
    TrainerState t = trainers.register(id, Math.max(step, strategy.firstStep()), step, context.nowMillis());
    strategy.registered(t);
    settle();
    return strategy.awaitedFrom(t);
  }

  /** Checks that this incarnation is active; changes nothing. See {@link ParameterShard#registerAgain}. */
  void registerAgain(TrainerId id) {
    seen(trainers.known(id, "repeated registration of trainer " + id.rank()));
  }

  void initialize(TrainerId id, DenseValues dense) {
    context.turns.begin();
    checkWhole();
    String who = "initialisation by trainer " + id.rank();
    TrainerState t = trainers.live(id.rank(), id.incarnation(), who);
    check.denseLength(dense.size(), who);
    int bad = dense.nonFinite();
    if (bad >= 0) {
      throw new InvalidInput(who + " at " + context.where + " has " + dense.at(bad) + " at element " + bad);
    }
    seen(t);
    if (!tables.initialized()) {
      tables.initialize(dense);
    }
    begun = true;
    settle();
  }

  /** Ends a life; see {@link ParameterShard#leave} and {@link ParameterShard#lost}. */
  void end(TrainerId id, TrainerState.Phase how) {
    context.turns.begin();
    if (how == TrainerState.Phase.LEFT) {
      hold.letIn(id.rank());
      queue.finish(id.rank());
    }
    TrainerState t = trainers.end(id, how);
    if (t != null) {
      strategy.ended();
      pulls.fail(t, how == TrainerState.Phase.LEFT
          ? what -> new Cancelled(what + ": the trainer has left")
          : what -> new PeerLost(what + ": the trainer was declared lost"));
    }
    settle();
  }

  /**
   * Fails all requests that are open, because the job is being freed. A round that is being applied was complete, and
   * is acknowledged.
   */
  void abandon() {
    strategy.acknowledgeApplied();
    giveUp(what -> new Cancelled(what + ": the last trainer has left and the job has been freed"));
  }

  private void giveUp(Function<String, RegattaException> why) {
    pulls.fail(null, why);
    hold.giveUp(why);
    queue.giveUp(why);
    strategy.giveUp(why);
    shrinks.giveUp(why);
    snapshots.giveUp(why);
    context.turns.clear();
  }

  void checkWhole() {
    context.checkWhole();
  }

  /** See {@link ParameterShard#push}. */
  void push(Push push, CompletableFuture<PushAck> done) {
    context.turns.begin();
    checkWhole();
    if (pushes.push(push, done)) {
      settle();
    }
  }

  /** See {@link ParameterShard#begin}. */
  DenseSink begin(Push known, int denseSize) {
    context.turns.begin();
    checkWhole();
    return pushes.begin(known, denseSize);
  }

  /** See {@link ParameterShard#isRepeated}. */
  boolean isRepeated(Push push) {
    return pushes.isRepeated(push);
  }

  private void seen(TrainerState t) {
    t.seen(context.nowMillis());
  }

  void pull(Pull pull, CompletableFuture<Pulled> done) {
    context.turns.begin();
    checkWhole();
    TrainerState t = trainers.live(pull.rank(), PullQueue.name(pull));
    pulls.add(pull, t, context.nowMillis(), done);
    seen(t);
  }

  void withdraw(CompletionStage<Pulled> done) {
    context.turns.begin();
    pulls.withdraw(done);
    settle(); // others may have waited for its room
  }

  /** See {@link ParameterShard#shrink}. */
  void shrink(TrainerId id, long number, boolean endOfDay, CompletableFuture<Shrunk> done) {
    context.turns.begin();
    checkWhole();
    String who = "shrink " + number + " of trainer " + id.rank();
    seen(trainers.live(id.rank(), id.incarnation(), who));
    shrinks.shrink(number, endOfDay, who, done);
  }

  /** Does what a change has made possible, then answers the pulls that need wait no longer. */
  void settle() {
    strategy.settle();
    hold.settle();
    if (snapshots.takeIfDue()) {
      strategy.settle();
    }
    if (!strategy.waitsForPulls()) {
      pulls.release();
    }
  }

  // ---- what is saved

  /** Returns true if the job has its first values, so that no others can be restored. */
  boolean begun() {
    return begun || context.version() > 0;
  }

  /** @throws Conflict if it has begun */
  void checkNotBegun() {
    checkWhole();
    if (begun()) {
      throw new Conflict(context.where + " has begun: a snapshot can be put into it before that only. End the job first, or give the new "
          + "one another name");
    }
  }

  /** See {@link ParameterShard#snapshot}. */
  void snapshot(String holder, long step, List<PushMark> upTo, TableSnapshot.Scope scope, long keptMax,
      CompletableFuture<JobSnapshot> done) {
    context.turns.begin();
    checkWhole();
    boolean held = hold.isOf(holder); // else it has run out of time, and nobody would end a wait for these pushes
    try {
      snapshots.ask(holder, step, held && !upTo.isEmpty(), scope, keptMax, done);
    } catch (RuntimeException e) {
      if (!snapshots.isWanted(holder)) {
        hold.end(holder);
      }
      throw e;
    }
    if (held) {
      hold.upTo(holder, upTo);
    }
    settle();
  }

  /** See {@link ParameterShard#hold}. */
  void hold(String holder, CompletableFuture<List<PushMark>> done) {
    context.turns.begin();
    checkWhole();
    strategy.checkHold();
    hold.begin(holder, done);
  }

  /** See {@link ParameterShard#endHold}. */
  boolean endHold(String holder) {
    context.turns.begin();
    boolean held = hold.isOf(holder);
    snapshots.waitNoLonger(holder);
    hold.end(holder);
    settle();
    return held;
  }

  /** Resumes the job from a saved state, all of whose rows are in their places. */
  void restored(float[][] values, float[][][] slots, long savedVersion, ResumePoint at) {
    context.turns.begin();
    tables.restore(values, slots);
    context.resumeAt(savedVersion);
    begun = true;
    strategy.resumeAt(at.round());
    trainers.resumeAt(at);
    settle();
    context.completions.drain();
  }

  // ---- what can be asked

  void waits(List<Wait> out) {
    pulls.waits(out);
    context.turns.waits(out);
    hold.waits(out);
    strategy.waits(out);
  }

  ParameterShard.JobStatus status() {
    return status(tables.rowsByTable(), tables.countsByTable());
  }

  ParameterShard.JobStatus summary() {
    return status(Map.of(), Map.of());
  }

  private ParameterShard.JobStatus status(Map<String, Long> rows, Map<String, TableCounts> tableCounts) {
    return new ParameterShard.JobStatus(spec.job(), spec.mode(), context.version(), tables.denseSize(), rows, tableCounts,
        rowLimit.refused(), context.counts.stalenessMax(), context.counts.stalenessSum(), pulls.clockLeadMax(),
        context.counts.applied(), context.counts.skipped(), context.counts.repeated(), strategy.waitMillis(), trainers.status());
  }
}
