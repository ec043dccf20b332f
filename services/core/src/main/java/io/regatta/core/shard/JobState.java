package io.regatta.core.shard;

import io.regatta.core.dense.BlockPool;
import io.regatta.core.dense.DenseSink;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.PushMark;
import io.regatta.core.exchange.ResumePoint;
import io.regatta.core.exchange.ShardLink;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.exchange.Wait;
import io.regatta.core.loop.Clock;
import io.regatta.core.table.TableCounts;
import io.regatta.core.table.TableSnapshot;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * The state of one job on one shard. It takes in pushes, applies them as the mode requires, and completes what each
 * change releases. Every request is checked as a whole before anything changes; a push that is applied while it arrives
 * is checked as far as it has arrived. Callbacks go through {@link Completions}. Owned by the shard's thread.
 *
 * <p>An empty push is an update of nothing: it counts in {@link #version()}, so that all shards number updates alike.
 */
final class JobState {

  final JobSpec spec;
  final String where;
  final JobTables tables;
  final Trainers trainers;
  final PushCheck check;
  final RowLimit rowLimit;
  final Completions completions;
  final TimeSlices turns;
  final PushQueue pushes;
  final PullQueue pulls;
  final PushCounts counts = new PushCounts();
  final RoundPushes inRounds;
  final Shrinks shrinks;
  final JobSnapshots snapshots;
  /** Geo: the changes that trainers have to receive. */
  final ChangeLog changes = new ChangeLog();
  final PushHold hold;
  private final FreePushes free;
  private final Clock clock;
  private long version;
  /** True once it has its first values. */
  private boolean begun;
  /** The failure that broke this job here, or null. */
  private PeerLost broken;

  JobState(JobSpec spec, int shard, ParameterShard.Limits limits, BlockPool pool, Clock clock,
      Executor later, Completions completions) {
    this.spec = spec;
    this.clock = clock;
    this.completions = completions;
    where = "shard " + shard + " of job " + spec.job();
    tables = new JobTables(spec, shard, pool, where, limits, clock);
    trainers = new Trainers(spec.trainers(), where);
    turns = new TimeSlices(later, this::settle, completions);
    check = new PushCheck(this, shard, limits.openRounds());
    inRounds = new RoundPushes(this);
    shrinks = new Shrinks(this);
    free = new FreePushes(this);
    snapshots = new JobSnapshots(this, shard);
    hold = new PushHold(this, limits.openRounds());
    pulls = new PullQueue(this, limits.parkedPulls(), limits.memory().answers());
    pushes = new PushQueue(turns, limits.openRounds(), where, pulls::anyParked);
    rowLimit = new RowLimit(tables, () -> inRounds.births() + pulls.births() + pushes.births(), spec.mode(),
        where);
  }

  /** Updates applied. */
  long version() {
    return version;
  }

  /** Counts a new update and returns its number. */
  long nextUpdate() {
    return ++version;
  }

  /** Counts updates that have been made elsewhere, and of nothing here. */
  void skipUpdates(long updates) {
    version += updates;
  }

  long nowMillis() {
    return clock.epochMillis();
  }

  /** Registers a life of a rank; the caller has compared the job. See {@link ShardLink#register}. */
  long register(TrainerId id, long step) {
    turns.begin();
    TrainerState t = trainers.register(id, Math.max(step, inRounds.firstToJoin()), step, nowMillis());
    if (t.told < 0) {
      t.told = changes.version();
    }
    settle();
    return spec.mode() == Mode.SYNC ? t.nextStep : t.clock;
  }

  /** Checks that this incarnation is active; changes nothing. See {@link ParameterShard#registerAgain}. */
  void registerAgain(TrainerId id) {
    seen(trainers.known(id, "repeated registration of trainer " + id.rank()));
  }

  void initialize(TrainerId id, DenseValues dense) {
    turns.begin();
    checkWhole();
    String who = "initialisation by trainer " + id.rank();
    TrainerState t = trainers.live(id.rank(), id.incarnation(), who);
    check.denseLength(dense.size(), who);
    int bad = dense.nonFinite();
    if (bad >= 0) {
      throw new InvalidInput(who + " at " + where + " has " + dense.at(bad) + " at element " + bad);
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
    turns.begin();
    if (how == TrainerState.Phase.LEFT) {
      hold.letIn(id.rank());
      pushes.finish(id.rank());
    }
    TrainerState t = trainers.end(id, how);
    if (t != null) {
      forgetChanges();
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
    inRounds.acknowledgeClosing();
    giveUp(what -> new Cancelled(what + ": the last trainer has left and the job has been freed"));
  }

  private void giveUp(Function<String, RegattaException> why) {
    pulls.fail(null, why);
    hold.giveUp(why);
    pushes.giveUp(why);
    inRounds.giveUp(why);
    shrinks.giveUp(why);
    snapshots.giveUp(why);
    turns.clear();
  }

  /**
   * Breaks the job: a change of the tables has failed in its middle (no memory, a defect), so that no value can be
   * trusted. Fails all open requests now; {@link #checkWhole} refuses later ones. Trainers can still leave, which frees
   * the job.
   */
  PeerLost breakDown(String during, Throwable cause) {
    broken = new PeerLost("job " + spec.job() + " is broken on " + where + " since " + during + " failed there: " + cause
        + ". End the job and start it again; if memory ran out, with a larger heap for the servers or more shards",
        cause);
    giveUp(what -> broken);
    return broken;
  }

  boolean broken() {
    return broken != null;
  }

  void checkWhole() {
    if (broken != null) {
      throw broken;
    }
  }

  // ---- push

  void push(Push push, BiConsumer<PushAck, Throwable> done) {
    turns.begin();
    checkWhole();
    if (hold.keeps(push)) {
      hold.keep(push, nowMillis(), done);
      return;
    }
    boolean behind = pushes.holdsAnyOf(push);
    pushes.checkRoom(push);
    pushes.add(new PushUnderWay(this, push, nowMillis(), done), behind);
    settle();
  }

  /** See {@link ParameterShard#begin}. */
  DenseSink begin(Push known, int denseSize) {
    turns.begin();
    checkWhole();
    String who = PushCheck.name(known);
    List<TrainerState> from = contributors(known, who);
    boolean mayBeDropped = spec.nanPolicy() == NanPolicy.SKIP && !known.finite(); // whole, or not at all
    if (spec.mode() == Mode.SYNC || mayBeDropped || known.sitsOut() || hold.keeps(known)
        || pushes.holdsAnyOf(known) || check.repeated(known, from, who)) {
      return null;
    }
    return free.begin(known, from, who, denseSize);
  }

  /** Returns the handling of pushes in this job's mode. */
  PushHandler intake() {
    return spec.mode() == Mode.SYNC ? inRounds : free;
  }

  /**
   * Returns the trainers whose gradients are in a push: live ones, but in a push that has begun also those lost
   * meanwhile.
   */
  List<TrainerState> contributors(Push push, String who) {
    PushApplication begun = trainers.underWay(push);
    return begun == null ? check.contributors(push, who) : begun.from();
  }

  /** See {@link ParameterShard#isRepeated}. */
  boolean isRepeated(Push push) {
    return !push.contributors().isEmpty() && push.contributors().stream().allMatch(c -> {
      TrainerState t = trainers.find(c.rank(), c.incarnation());
      return t != null && t.active() && c.sequence() <= t.lastSequence;
    });
  }

  /**
   * Answers a push that holds nothing to be taken in: a repetition, or an announcement that its trainers sit out.
   *
   * @return whether it was answered
   */
  boolean answered(Push push, List<TrainerState> from, String who, BiConsumer<PushAck, Throwable> done) {
    if (check.repeated(push, from, who)) {
      push.release();
      counts.repeated++;
      from.forEach(this::seen);
      if (!inRounds.owe(push, done)) {
        completions.value(done, new PushAck(version, 0, true, false));
      }
      return true;
    }
    if (!push.sitsOut()) {
      return false;
    }
    check.empty(push, who);
    for (int i = 0; i < from.size(); i++) {
      TrainerState t = from.get(i);
      t.lastSequence = push.contributors().get(i).sequence();
      t.sitsOut = true;
      seen(t);
    }
    completions.value(done, new PushAck(version, 0, false, false));
    return true;
  }

  /** Notes that a push has been taken in as a whole, so that a further arrival of it is a repetition. */
  void takenIn(Push push, List<TrainerState> from) {
    for (int i = 0; i < from.size(); i++) {
      TrainerState t = from.get(i);
      t.lastSequence = push.contributors().get(i).sequence();
      t.application = null;
      t.lastStep = push.step();
      t.nextStep = push.step() + 1;
      seen(t);
    }
  }

  /** Applies rows {@code [from .. to)} of a push outside of rounds; returns the cost, in {@link TimeSlices#FLOATS}. */
  long apply(SparseRows rows, int from, int to, long step, long update) {
    if (spec.mode() != Mode.GEO) {
      return tables.update(rows, from, to, step, update);
    }
    long cost = tables.add(rows, from, to);
    changes.add(rows.table(), rows.ids(), from, to);
    return cost + (long) ChangeLog.NOTED_FLOATS * (to - from);
  }

  /** Applies a block of the dense vector of a push outside of rounds. */
  void apply(int block, float[] gradient, long step, long update) {
    if (spec.mode() == Mode.GEO) {
      tables.add(block, gradient);
    } else {
      tables.update(block, gradient, step, update);
    }
  }

  /** Acknowledges a push outside of rounds, all of which has been applied. */
  void applied(PushApplication a, Push push, List<TrainerState> from, BiConsumer<PushAck, Throwable> done) {
    from.forEach(t -> t.clock++);
    contains(push);
    counts.applied(a);
    completions.value(done, new PushAck(version, a.staleness, false, a.skipped()));
  }

  /** Geo: notes that a trainer has received all changes up to this version. */
  void told(TrainerState t, long version) {
    t.told = Math.max(t.told, version);
    forgetChanges();
  }

  private void forgetChanges() {
    if (spec.mode() == Mode.GEO) {
      changes.forget(trainers.slowestTold(changes.version()));
    }
  }

  /** Notes that a push is in the values as a whole. */
  void contains(Push push) {
    for (Contributor c : push.contributors()) {
      TrainerState t = trainers.find(c.rank(), c.incarnation());
      if (t != null && !c.progress().equals(TrainerProgress.NONE)) {
        t.progress = c.progress();
      }
    }
  }

  void seen(TrainerState t) {
    if (t.active()) {
      t.lastSeenMillis = nowMillis();
    }
  }

  // ---- pull

  void pull(Pull pull, BiConsumer<Pulled, Throwable> done) {
    turns.begin();
    checkWhole();
    TrainerState t = trainers.live(pull.rank(), PullQueue.name(pull));
    pulls.add(pull, t, nowMillis(), done);
    seen(t);
  }

  void withdraw(BiConsumer<Pulled, Throwable> done) {
    turns.begin();
    pulls.withdraw(done);
    settle(); // others may have waited for its room
  }

  /** See {@link ParameterShard#shrink}. */
  void shrink(TrainerId id, long number, boolean endOfDay, BiConsumer<Shrunk, Throwable> done) {
    turns.begin();
    checkWhole();
    String who = "shrink " + number + " of trainer " + id.rank();
    seen(trainers.live(id.rank(), id.incarnation(), who));
    shrinks.shrink(number, endOfDay, who, done);
  }

  /** Closes the rounds that are complete, then answers the pulls that need wait no longer. */
  void settle() {
    if (spec.mode() == Mode.SYNC) {
      inRounds.close();
    }
    hold.settle();
    if (snapshots.takeIfDue() && spec.mode() == Mode.SYNC) {
      inRounds.close();
    }
    if (!inRounds.waitsForPulls()) {
      pulls.release();
    }
  }

  // ---- what is saved

  /** Returns true if the job has its first values, so that no others can be restored. */
  boolean begun() {
    return begun || version > 0;
  }

  /** @throws Conflict if it has begun */
  void checkNotBegun() {
    checkWhole();
    if (begun()) {
      throw new Conflict(where + " has begun: a snapshot can be put into it before that only. End the job first, or give the new "
          + "one another name");
    }
  }

  /** See {@link ParameterShard#snapshot}. */
  void snapshot(String holder, long step, List<PushMark> upTo, TableSnapshot.Scope scope, long keptMax,
      BiConsumer<JobSnapshot, Throwable> done) {
    turns.begin();
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
  void hold(String holder, BiConsumer<List<PushMark>, Throwable> done) {
    turns.begin();
    checkWhole();
    if (spec.mode() == Mode.SYNC) {
      throw new InvalidInput(where + " has rounds, whose steps say what a snapshot contains; its pushes cannot be held. Save at a "
          + "step, without a hold");
    }
    hold.begin(holder, done);
  }

  /** See {@link ParameterShard#endHold}. */
  boolean endHold(String holder) {
    turns.begin();
    boolean held = hold.isOf(holder);
    snapshots.waitNoLonger(holder);
    hold.end(holder);
    settle();
    return held;
  }

  /** Resumes the job from a saved state, all of whose rows are in their places. */
  void restored(float[][] values, float[][][] slots, long savedVersion, ResumePoint at) {
    turns.begin();
    tables.restore(values, slots);
    version = savedVersion;
    begun = true;
    inRounds.resumeAt(at.round());
    trainers.resumeAt(at);
    settle();
    completions.drain();
  }

  // ---- what can be asked

  void waits(List<Wait> out) {
    pulls.waits(out);
    turns.waits(out);
    hold.waits(out);
    inRounds.waits(out);
  }

  ParameterShard.JobStatus status() {
    return status(tables.rowsByTable(), tables.countsByTable());
  }

  ParameterShard.JobStatus summary() {
    return status(Map.of(), Map.of());
  }

  private ParameterShard.JobStatus status(Map<String, Long> rows, Map<String, TableCounts> tableCounts) {
    return new ParameterShard.JobStatus(spec.job(), spec.mode(), version, tables.denseSize(), rows, tableCounts, rowLimit.refused(), counts.stalenessMax, counts.stalenessSum, pulls.clockLeadMax(),
        counts.pushes, counts.skipped, counts.repeated, inRounds.waitMillis(), trainers.status());
  }
}
