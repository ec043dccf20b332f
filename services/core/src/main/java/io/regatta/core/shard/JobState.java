package io.regatta.core.shard;

import io.regatta.core.dense.BlockPool;
import io.regatta.core.dense.DenseSink;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.LongSupplier;

/**
 * One job on one shard: takes pushes in, applies them as the mode says, and lets go what each change releases. Owned by
 * the shard's thread. Every request is checked as a whole before anything changes, a push that is applied while
 * it comes as far as it has come; callbacks go through {@link Completions}.
 *
 * <p>An empty push is an update of nothing: it counts in {@link #version()}, so that all shards number updates alike.
 */
final class JobState {

  final JobSpec spec;
  final String where;
  final JobTables tables;
  final Trainers trainers;
  final SyncRounds rounds = new SyncRounds();
  final PushCheck check;
  final RowLimit rowLimit;
  private final PullQueue pulls;
  private final LongSupplier clockMillis;
  private final Completions completions;
  /** Runs a task in a later turn; null to do all in one. */
  private final Executor later;
  private final Map<Integer, Long> roundWaitMillis = new TreeMap<>();
  private long version;
  private long stalenessMax;
  private long stalenessSum;
  private long pushes;
  private long skippedPushes;
  private long repeatedPushes;
  /** The first open round, while it is being applied; null if none is. */
  private RoundClosing closing;
  /** What broke this job here, or null. */
  private PeerLost broken;

  JobState(JobSpec spec, int shard, ParameterShard.Limits limits, BlockPool pool, LongSupplier clockMillis,
      Executor later, Completions completions) {
    this.spec = spec;
    this.clockMillis = clockMillis;
    this.completions = completions;
    this.later = later;
    where = "shard " + shard + " of job " + spec.job();
    tables = new JobTables(spec, shard, pool, where);
    trainers = new Trainers(spec.trainers(), where);
    check = new PushCheck(this, shard, limits.openRounds());
    pulls = new PullQueue(this, limits.parkedPulls(), later, completions);
    rowLimit = new RowLimit(tables, () -> rounds.births() + pulls.births(), spec.mode(), limits.rows(), where);
  }

  /** Updates applied. */
  long version() {
    return version;
  }

  /** Registers a life of a rank; the caller has compared the job. See {@link ShardLink#register}. */
  long register(TrainerId id, long step) {
    TrainerState t = trainers.register(id, Math.max(step, rounds.next() + (closing() ? 1 : 0)), step, clockMillis.getAsLong());
    settle();
    return spec.mode() == Mode.SYNC ? t.nextStep : t.clock;
  }

  /** Sees that this life is active; changes nothing. See {@link ParameterShard#registerAgain}. */
  void registerAgain(TrainerId id) {
    seen(trainers.known(id, "repeated registration of trainer " + id.rank()));
  }

  void initialize(TrainerId id, DenseValues dense) {
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
    settle();
  }

  /** Ends a life; see {@link ParameterShard#leave} and {@link ParameterShard#lost}. */
  void end(TrainerId id, TrainerState.Phase how) {
    TrainerState t = trainers.end(id, how);
    if (t != null) {
      pulls.fail(t, how == TrainerState.Phase.LEFT
          ? what -> new Cancelled(what + ": the trainer has left")
          : what -> new PeerLost(what + ": the trainer was declared lost"));
    }
    settle();
  }

  /** Fails whatever is still owed; the job is being freed. A round that is being applied was complete. */
  void abandon() {
    if (closing != null) {
      acknowledge(closing.round);
    }
    String why = "the last trainer has left and the job has been freed";
    giveUp(what -> new Cancelled(what + ": " + why));
  }

  private void giveUp(Function<String, RegattaException> why) {
    pulls.fail(null, why);
    for (SyncRounds.Round r : rounds.all()) {
      RegattaException reason = why.apply("push of step " + r.step + " at " + where + " given up");
      r.owed.forEach(o -> completions.error(o.done(), reason));
      r.pushes.forEach(Push::release);
    }
    rounds.clear();
    closing = null;
  }

  /**
   * A change of the tables has failed in its middle (no memory, a defect): nothing here is to be trusted any more. Fails
   * what is owed now; {@link #checkWhole} refuses what comes later. Trainers can still leave, which frees the job.
   */
  PeerLost breakDown(String during, Throwable cause) {
    broken = new PeerLost("job " + spec.job() + " is broken on " + where + " since " + during + " failed there: " + cause
        + ". End the job and start it again; if memory ran out, with a larger heap for the servers or more shards",
        cause);
    giveUp(what -> broken);
    return broken;
  }

  void checkWhole() {
    if (broken != null) {
      throw broken;
    }
  }

  // ---- push

  void push(Push push, BiConsumer<PushAck, Throwable> done) {
    checkWhole();
    String who = PushCheck.name(push);
    List<TrainerState> from = contributors(push, who);
    if (check.repeated(push, from, who)) {
      repeat(push, from, done);
    } else if (push.sitsOut()) {
      check.empty(push, who);
      sitOut(push, from, done);
    } else if (spec.mode() == Mode.SYNC) {
      join(push, from, who, done);
    } else {
      apply(push, from, who, done);
    }
  }

  /** See {@link ParameterShard#begin}. */
  DenseSink begin(Push known, int denseSize) {
    checkWhole();
    String who = PushCheck.name(known);
    List<TrainerState> from = contributors(known, who);
    if (spec.mode() == Mode.SYNC || known.sitsOut() || check.repeated(known, from, who)) {
      return null;
    }
    Application begun = check.begun(known, from, who);
    if (begun == null && from.stream().anyMatch(t -> t.application != null)) {
      return null; // there is another one under way, whose place is to be remembered
    }
    check.denseLength(denseSize, who);
    begun = begun == null ? checked(known, from, who) : checkedOn(begun, known, who);
    for (TrainerState t : from) {
      t.application = t.active() ? begun : null;
      seen(t);
    }
    applied(begun, known, who);
    return begun.sink(denseSize);
  }

  /** Whose gradients are inside: trainers that live, but in a push that has begun also those lost meanwhile. */
  private List<TrainerState> contributors(Push push, String who) {
    Application begun = trainers.underWay(push);
    return begun == null ? check.contributors(push, who) : begun.from();
  }

  /** Outside of rounds: applies what has not been applied while it came. */
  private void apply(Push push, List<TrainerState> from, String who, BiConsumer<PushAck, Throwable> done) {
    Application begun = check.begun(push, from, who);
    begun = begun == null ? checked(push, from, who) : checkedOn(begun, push, who);
    if (push.dense() == null && !begun.complete()) {
      throw new InvalidInput(who + " lacks dense elements at " + where + "; repeat what was sent, unchanged");
    }
    applied(begun, push, who);
    push.release();
    begun.end();
    takenIn(push, from);
    if (begun.skipped()) {
      skippedPushes++;
    }
    if (begun.update > 0) {
      pushes++;
      stalenessMax = Math.max(stalenessMax, begun.staleness);
      stalenessSum += begun.staleness;
    }
    completions.value(done, new PushAck(version, begun.staleness, false, begun.skipped()));
    settle();
  }

  /** Checks all that has come of a new push, and counts it as an update unless it is dropped. */
  private Application checked(Push push, List<TrainerState> from, String who) {
    check.takePart(from, who);
    check.order(push, who);
    check.shapes(push, who);
    String bad = check.nonFinite(push);
    if (bad != null) {
      check.nanPolicy(who, bad);
      return new Application(this, push, from, who, 0, 0);
    }
    rowLimit.check(rowLimit.births(push), who);
    long own = 0;
    for (TrainerState t : from) {
      own = Math.max(own, t.ownUpdatesSince(push.version()));
    }
    long staleness = version - push.version() - own;
    version++;
    from.forEach(t -> t.ownUpdate(version));
    return new Application(this, push, from, who, version, staleness);
  }

  /** Checks what a push has beyond that of which it has been checked and applied. */
  private Application checkedOn(Application begun, Push push, String who) {
    check.shapes(push, who);
    Push open = new Push(push.contributors(), push.step(), push.version(), push.dense(), begun.open(push.sparse()));
    String bad = check.nonFinite(open);
    if (bad == null) {
      rowLimit.check(rowLimit.births(open), who);
    } else {
      check.nanPolicy(who, bad);
      begun.drop();
    }
    return begun;
  }

  private void applied(Application begun, Push known, String who) {
    try {
      begun.apply(known);
    } catch (RuntimeException | Error e) {
      throw breakDown(who, e);
    }
  }

  /** Applies rows of a push outside of rounds. */
  void apply(SparseRows rows, long step, long update) {
    if (spec.mode() == Mode.GEO) {
      tables.add(rows);
      trainers.active().forEach(t -> t.markChanged(rows.table(), rows.ids()));
    } else {
      tables.update(rows, step, update);
    }
  }

  /** Applies a block of the dense vector of a push outside of rounds. */
  void apply(int block, float[] gradient, long step, long update) {
    if (spec.mode() == Mode.GEO) {
      tables.add(block, gradient);
    } else {
      tables.update(block, gradient, step, update);
    }
  }

  /** Sync: takes a push into the round of its step. */
  private void join(Push push, List<TrainerState> from, String who, BiConsumer<PushAck, Throwable> done) {
    check.takePart(from, who);
    check.round(push, from, who);
    check.order(push, who);
    check.shapes(push, who);
    String bad = check.nonFinite(push);
    boolean skip = bad != null;
    long births = 0;
    if (skip) {
      check.nanPolicy(who, bad);
      push.release();
      skippedPushes++;
    } else {
      births = rowLimit.births(push);
      rowLimit.check(births, who);
    }
    long now = clockMillis.getAsLong();
    takenIn(push, from);
    SyncRounds.Round r = rounds.at(push.step());
    r.pushes.add(skip ? weightless(push) : push);
    r.births += births;
    from.forEach(t -> r.arrivals.add(new long[] {t.rank, now}));
    r.owed.add(new SyncRounds.Owed(push.contributors(), false, skip, now, done));
    settle();
  }

  private void sitOut(Push push, List<TrainerState> from, BiConsumer<PushAck, Throwable> done) {
    for (int i = 0; i < from.size(); i++) {
      TrainerState t = from.get(i);
      t.lastSequence = push.contributors().get(i).sequence();
      t.sitsOut = true;
      seen(t);
    }
    completions.value(done, new PushAck(version, 0, false, false));
    settle();
  }

  private void repeat(Push push, List<TrainerState> from, BiConsumer<PushAck, Throwable> done) {
    push.release();
    repeatedPushes++;
    from.forEach(this::seen);
    SyncRounds.Round open = spec.mode() == Mode.SYNC ? rounds.find(push.step()) : null;
    if (open != null) {
      open.owed.add(new SyncRounds.Owed(push.contributors(), true, false, clockMillis.getAsLong(), done));
    } else {
      completions.value(done, new PushAck(version, 0, true, false));
    }
  }

  /** Counts a push as made by its trainers. */
  private void takenIn(Push push, List<TrainerState> from) {
    for (int i = 0; i < from.size(); i++) {
      TrainerState t = from.get(i);
      t.lastSequence = push.contributors().get(i).sequence();
      t.application = null;
      t.clock++;
      t.lastStep = push.step();
      t.nextStep = push.step() + 1;
      seen(t);
    }
  }

  /** A dropped push in a sync round: the others' mean goes without it. */
  private static Push weightless(Push push) {
    List<Contributor> none = push.contributors().stream()
        .map(c -> new Contributor(c.rank(), c.incarnation(), c.sequence(), 0)).toList();
    return new Push(none, push.step(), push.version(), null, List.of());
  }

  private void seen(TrainerState t) {
    if (t.active()) {
      t.lastSeenMillis = clockMillis.getAsLong();
    }
  }

  // ---- pull

  void pull(Pull pull, BiConsumer<Pulled, Throwable> done) {
    checkWhole();
    TrainerState t = trainers.live(pull.rank(), PullQueue.name(pull));
    pulls.add(pull, t, clockMillis.getAsLong(), done);
    seen(t);
  }

  void withdraw(BiConsumer<Pulled, Throwable> done) {
    pulls.withdraw(done);
  }

  // ---- what a change releases

  /** Closes the rounds that are complete, then answers the pulls that need wait no longer. */
  void settle() {
    if (spec.mode() == Mode.SYNC) {
      closeRounds();
    }
    if (!roundWaits()) {
      pulls.release();
    }
  }

  /** Whether a round is complete and waits only for pulls that were begun before: no other is to be begun meanwhile. */
  boolean roundWaits() {
    return pulls.gathering() && closing == null && complete();
  }

  /** Whether all pushes of the next round are there. */
  private boolean complete() {
    return spec.mode() == Mode.SYNC && rounds.first() != null && trainers.noneMissing(t -> t.nextStep <= rounds.next());
  }

  private void closeRounds() {
    while (closing == null && broken == null && !pulls.gathering() && complete()) {
      SyncRounds.Round round = rounds.first();
      version++;
      try {
        closing = new RoundClosing(round, tables, version);
      } catch (RuntimeException | Error e) {
        breakDown("the round of step " + round.step, e);
        return;
      }
      goOn(later == null ? Long.MAX_VALUE : RoundClosing.TURN_FLOATS);
    }
    if (closing == null && rounds.first() == null) {
      version += rounds.skipTo(trainers.minNextStep(rounds.next()));
    }
  }

  /** Applies a part of the round that is being closed, and leaves the rest, if any, to a later turn. */
  private void goOn(long floats) {
    try {
      if (closing.advance(floats)) {
        later.execute(this::laterTurn);
        return;
      }
      acknowledge(closing.round);
    } catch (RuntimeException | Error e) {
      breakDown("the round of step " + closing.round.step, e);
      return;
    }
    closing.round.pushes.forEach(Push::release);
    closing = null;
    rounds.close();
    pulls.release(); // also if the next round is complete: none of them waits for more than one
  }

  private void laterTurn() {
    if (closing != null) { // otherwise given up, or finished, meanwhile
      goOn(RoundClosing.TURN_FLOATS);
      settle();
      completions.drain();
    }
  }

  /** Whether a round has closed in part: what has been pushed for it can be neither seen nor changed. */
  boolean closing() {
    return closing != null;
  }

  /** Closes in this turn what is being closed. */
  void finish() {
    while (closing != null) {
      goOn(Long.MAX_VALUE);
      settle();
    }
  }

  private void acknowledge(SyncRounds.Round round) {
    for (long[] a : round.arrivals) {
      roundWaitMillis.merge((int) a[0], a[1] - round.firstMillis(), Long::sum);
    }
    round.owed.sort(Comparator.comparingInt(o -> o.contributors().get(0).rank()));
    for (Iterator<SyncRounds.Owed> it = round.owed.iterator(); it.hasNext(); it.remove()) {
      SyncRounds.Owed o = it.next();
      if (!o.repeatedPush() && !o.skippedPush()) {
        pushes++;
      }
      completions.value(o.done(), new PushAck(version, 0, o.repeatedPush(), o.skippedPush()));
    }
  }

  // ---- what can be asked

  void waits(List<Wait> out) {
    pulls.waits(out);
    for (SyncRounds.Round r : rounds.all()) {
      List<Wait.Peer> peers = trainers.missing(t -> t.nextStep <= r.step);
      for (SyncRounds.Owed o : r.owed) {
        for (Contributor c : o.contributors()) {
          out.add(new Wait("trainer " + c.rank(), "push of step " + r.step, where, o.sinceMillis(), peers));
        }
      }
    }
  }

  ParameterShard.JobStatus status() {
    return new ParameterShard.JobStatus(spec.job(), spec.mode(), version, tables.denseSize(), tables.rowsByTable(),
        stalenessMax, stalenessSum, pulls.clockLeadMax(), pushes, skippedPushes, repeatedPushes, Map.copyOf(roundWaitMillis),
        trainers.status());
  }
}
