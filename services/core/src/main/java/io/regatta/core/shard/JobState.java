package io.regatta.core.shard;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.table.SparseTable;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.LongSupplier;

/**
 * One job on one shard: its tables, the life of each rank, clocks, open rounds and parked pulls. Owned by the shard's
 * thread. Every request is checked as a whole before anything changes; callbacks go through {@link Completions}.
 */
final class JobState {

  /** A pull that waits. */
  private record Parked(Pull pull, TrainerState trainer, long sinceMillis, BiConsumer<Pulled, Throwable> done) {}

  final JobSpec spec;
  final JobTables tables;
  private final String where;
  private final ParameterShard.Limits limits;
  private final LongSupplier clockMillis;
  private final Completions completions;
  private final PushCheck check;
  private final Map<Integer, TrainerState> trainers = new TreeMap<>();
  private final SyncRounds rounds = new SyncRounds();
  private final List<Parked> parked = new ArrayList<>();
  private final Map<Integer, Long> roundWaitMillis = new TreeMap<>();
  private long version;
  private long stalenessMax;
  private long stalenessSum;
  private long clockGapMax;
  private long pushes;
  private long skipped;
  private long repeated;

  JobState(JobSpec spec, int shard, ParameterShard.Limits limits, LongSupplier clockMillis, Completions completions) {
    this.spec = spec;
    this.limits = limits;
    this.clockMillis = clockMillis;
    this.completions = completions;
    where = "shard " + shard + " of job " + spec.job();
    tables = new JobTables(spec, shard, where);
    check = new PushCheck(tables, shard, spec.shards(), where);
  }

  // ---- who takes part

  /** Registers a life of a rank; the caller has compared the job. */
  void register(TrainerId id) {
    TrainerState old = trainers.get(id.rank());
    if (old != null && old.active() && old.incarnation != id.incarnation()) {
      throw new Conflict("rank " + id.rank() + " is held by incarnation " + old.incarnation + " at " + where
          + "; incarnation " + id.incarnation() + " must wait until that one has left or is declared lost");
    }
    if (old != null && !old.active() && id.incarnation() <= old.incarnation) {
      throw new StaleGeneration("incarnation " + id.incarnation() + " of trainer " + id.rank() + " has "
          + (old.phase == TrainerState.Phase.LEFT ? "left " : "been declared lost at ") + where
          + "; join the group again for a newer incarnation");
    }
    if (old == null || !old.active()) {
      TrainerState t = new TrainerState(id.rank(), id.incarnation());
      t.nextStep = old == null ? rounds.next() : Math.max(rounds.next(), old.nextStep);
      t.clock = old == null ? 0 : Math.max(old.clock, minClock(0));
      trainers.put(id.rank(), t);
    }
    trainers.get(id.rank()).lastSeenMillis = clockMillis.getAsLong();
    settle();
  }

  void initialize(TrainerId id, float[] dense) {
    String who = "initialisation by trainer " + id.rank();
    live(id.rank(), id.incarnation(), who);
    if (id.rank() != 0) {
      throw new InvalidInput(who + " at " + where + " refused: only rank 0 initialises");
    }
    check.denseLength(dense, who);
    int bad = NonFinite.find(dense);
    if (bad >= 0) {
      throw new InvalidInput(who + " at " + where + " has " + dense[bad] + " at element " + bad);
    }
    if (!tables.initialized()) {
      tables.initialize(dense);
    }
    settle();
  }

  /** Ends a life; see {@link ParameterShard#leave} and {@link ParameterShard#lost}. */
  void end(TrainerId id, TrainerState.Phase how) {
    TrainerState t = trainers.get(id.rank());
    if (t == null && how == TrainerState.Phase.LOST && id.rank() >= 0 && id.rank() < spec.trainers()) {
      t = new TrainerState(id.rank(), id.incarnation());
      trainers.put(id.rank(), t);
    }
    if (t == null || t.incarnation != id.incarnation() || !t.active()) {
      return;
    }
    t.end(how);
    for (Iterator<Parked> it = parked.iterator(); it.hasNext(); ) {
      Parked p = it.next();
      if (p.trainer() == t) {
        it.remove();
        String what = "pull of step " + p.pull().minStep() + " of " + t.name() + " at " + where + " given up: ";
        completions.error(p.done(), how == TrainerState.Phase.LEFT
            ? new Cancelled(what + "the trainer has left")
            : new PeerLost(what + "the trainer was declared lost"));
      }
    }
    settle();
  }

  /** Whether nobody is left to train. */
  boolean deserted() {
    return trainers.values().stream().noneMatch(TrainerState::active);
  }

  /** Fails whatever is still owed; the job is being freed. */
  void abandon() {
    Cancelled why = new Cancelled("the last trainer has left " + where + "; the job has been freed");
    parked.forEach(p -> completions.error(p.done(), why));
    parked.clear();
    rounds.all().forEach(r -> r.owed.forEach(o -> completions.error(o.done(), why)));
  }

  private TrainerState live(int rank, long incarnation, String who) {
    TrainerState t = trainers.get(rank);
    if (t == null) {
      throw new InvalidInput(who + " refused: trainer " + rank + " is not registered at " + where + "; register first");
    }
    if (t.incarnation != incarnation) {
      throw new StaleGeneration(who + " refused: it comes from incarnation " + incarnation + ", but " + where
          + " knows trainer " + rank + " as incarnation " + t.incarnation);
    }
    return alive(t, who);
  }

  private TrainerState alive(TrainerState t, String who) {
    if (!t.active()) {
      throw new StaleGeneration(who + " refused: trainer " + t.rank
          + (t.phase == TrainerState.Phase.LEFT ? " has left " : " was declared lost at ") + where
          + "; join the group again for a newer incarnation");
    }
    return t;
  }

  // ---- push

  void push(Push push, BiConsumer<PushAck, Throwable> done) {
    String who = pushName(push);
    List<TrainerState> from = contributors(push, who);
    boolean known = knownAlready(push, from, who);
    if (known) {
      repeat(push, from, done);
      return;
    }
    if (spec.mode() == Mode.SYNC) {
      checkRound(push, from, who);
    }
    if (push.step() < 0 || push.version() < 0 || push.version() > version) {
      throw new InvalidInput(who + " has step " + push.step() + " and version " + push.version() + " at " + where
          + ", which is at version " + version);
    }
    if (!tables.initialized()) {
      throw new InvalidInput(who + " came before the dense vector was initialised at " + where
          + "; rank 0 initialises, then everybody pulls, then pushes");
    }
    check.shapes(push, who);
    String bad = check.nonFinite(push);
    if (bad != null && spec.nanPolicy() == NanPolicy.FAIL) {
      throw new InvalidInput(who + " refused at " + where + ": " + bad
          + "; lower the learning rate, clip gradients, or set the NaN policy to skip");
    }
    long births = bad != null ? 0 : births(push);
    if (births > 0 && tables.rows() + rounds.births() + births > limits.rows()) {
      throw new Overloaded(rowLimit(who, births));
    }
    accept(push, from, bad != null, births, done);
    settle();
  }

  private static String pushName(Push push) {
    StringBuilder b = new StringBuilder("push of step ").append(push.step()).append(" of trainer ");
    for (int i = 0; i < push.contributors().size(); i++) {
      b.append(i == 0 ? "" : ", ").append(push.contributors().get(i).rank());
    }
    return b.toString();
  }

  private List<TrainerState> contributors(Push push, String who) {
    if (push.contributors().isEmpty()) {
      throw new InvalidInput("push of step " + push.step() + " at " + where + " names no contributor");
    }
    List<TrainerState> from = new ArrayList<>(push.contributors().size());
    int previous = -1;
    for (Contributor c : push.contributors()) {
      TrainerState t = live(c.rank(), c.incarnation(), who);
      if (c.rank() <= previous) {
        throw new InvalidInput(who + " at " + where + ": contributors must be in ascending rank order");
      }
      if (c.sequence() < 1 || !(c.weight() >= 0) || Double.isInfinite(c.weight())) {
        throw new InvalidInput(who + " at " + where + " has sequence " + c.sequence() + " and weight " + c.weight()
            + "; sequences count from 1, weights are finite and not negative");
      }
      previous = c.rank();
      from.add(t);
    }
    return from;
  }

  private boolean knownAlready(Push push, List<TrainerState> from, String who) {
    int known = 0;
    for (int i = 0; i < from.size(); i++) {
      if (push.contributors().get(i).sequence() <= from.get(i).lastSequence) {
        known++;
      }
    }
    if (known > 0 && known < from.size()) {
      throw new InvalidInput(who + " mixes gradients that " + where
          + " has already taken in with new ones; repeat what was sent, unchanged");
    }
    return known > 0;
  }

  private void repeat(Push push, List<TrainerState> from, BiConsumer<PushAck, Throwable> done) {
    repeated++;
    from.forEach(this::seen);
    SyncRounds.Round open = spec.mode() == Mode.SYNC ? rounds.find(push.step()) : null;
    if (open != null) {
      open.owed.add(new SyncRounds.Owed(push.contributors(), true, false, clockMillis.getAsLong(), done));
    } else {
      completions.value(done, new PushAck(version, 0, true, false));
    }
  }

  private void checkRound(Push push, List<TrainerState> from, String who) {
    if (push.step() >= rounds.next() + limits.openRounds()) {
      throw new Overloaded(who + " is too far ahead at " + where + ": round " + rounds.next() + " is open and at most "
          + limits.openRounds() + " may be; wait for acknowledgements");
    }
    for (TrainerState t : from) {
      if (push.step() < t.nextStep) {
        throw new InvalidInput(who + " refused at " + where + ": trainer " + t.rank + " has pushed step " + push.step()
            + " before, or its round has closed; its next step is " + t.nextStep);
      }
      if (push.step() > t.nextStep) {
        throw new InvalidInput(who + " refused at " + where + ": trainer " + t.rank + " has skipped step " + t.nextStep
            + ", for which the round would wait for ever; push every step, empty ones too");
      }
    }
  }

  private long births(Push push) {
    long n = 0;
    for (SparseRows r : push.sparse()) {
      n += tables.table(r.table()).missing(r.ids());
    }
    return n;
  }

  private String rowLimit(String who, long births) {
    return who + " refused: " + births + " new sparse rows at " + where + " on top of " + tables.rows()
        + " would pass the limit of " + limits.rows() + " rows; raise the server's row limit or use more shards";
  }

  private void accept(Push push, List<TrainerState> from, boolean skip, long births,
      BiConsumer<PushAck, Throwable> done) {
    long now = clockMillis.getAsLong();
    for (int i = 0; i < from.size(); i++) {
      TrainerState t = from.get(i);
      t.lastSequence = push.contributors().get(i).sequence();
      t.clock++;
      t.lastStep = push.step();
      t.nextStep = push.step() + 1;
      seen(t);
    }
    if (skip) {
      skipped++;
    }
    if (spec.mode() == Mode.SYNC) {
      SyncRounds.Round r = rounds.at(push.step());
      r.pushes.add(skip ? weightless(push) : push);
      r.owed.add(new SyncRounds.Owed(push.contributors(), false, skip, now, done));
      r.births += births;
      from.forEach(t -> r.arrivals.add(new long[] {t.rank, now}));
    } else if (skip) {
      completions.value(done, new PushAck(version, 0, false, true));
    } else {
      applyNow(push, from, done);
    }
  }

  /** A dropped push in a sync round: the others' mean goes without it. */
  private static Push weightless(Push push) {
    List<Contributor> none = push.contributors().stream()
        .map(c -> new Contributor(c.rank(), c.incarnation(), c.sequence(), 0)).toList();
    return new Push(none, push.step(), push.version(), null, List.of());
  }

  private void applyNow(Push push, List<TrainerState> from, BiConsumer<PushAck, Throwable> done) {
    long own = 0;
    for (TrainerState t : from) {
      own = Math.max(own, t.ownUpdatesSince(push.version()));
    }
    long staleness = version - push.version() - own;
    version++;
    if (spec.mode() == Mode.GEO) {
      tables.add(push);
      trainers.values().stream().filter(TrainerState::active).forEach(t -> markChanged(t, push));
    } else {
      tables.update(push, push.step(), version);
    }
    from.forEach(t -> t.ownUpdate(version));
    pushes++;
    stalenessMax = Math.max(stalenessMax, staleness);
    stalenessSum += staleness;
    completions.value(done, new PushAck(version, staleness, false, false));
  }

  private static void markChanged(TrainerState t, Push push) {
    for (SparseRows r : push.sparse()) {
      LongOpenHashSet changed = t.changed(r.table());
      for (long id : r.ids()) {
        changed.add(id);
      }
    }
  }

  private void seen(TrainerState t) {
    t.lastSeenMillis = clockMillis.getAsLong();
  }

  // ---- pull

  void pull(Pull pull, BiConsumer<Pulled, Throwable> done) {
    String who = "pull of step " + pull.minStep() + " of trainer " + pull.rank();
    TrainerState t = trainers.get(pull.rank());
    if (t == null) {
      throw new InvalidInput(who + " refused: that rank is not registered at " + where + "; register first");
    }
    alive(t, who);
    if (pull.changed() && spec.mode() != Mode.GEO) {
      throw new InvalidInput(who + " asks " + where + " for changed rows, which only geo mode keeps, not "
          + spec.mode());
    }
    check.wish(pull.sparse(), who);
    if (released(pull)) {
      answer(pull, t, done);
      return;
    }
    if (parked.size() >= limits.parkedPulls()) {
      throw new Overloaded(who + " refused: " + parked.size() + " pulls wait at " + where
          + " already, which is the limit; wait for answers before asking again");
    }
    seen(t);
    parked.add(new Parked(pull, t, clockMillis.getAsLong(), done));
  }

  private boolean released(Pull pull) {
    if (!tables.initialized()) {
      return false;
    }
    return switch (spec.mode()) {
      case SYNC -> rounds.next() >= pull.minStep();
      case SSP -> minClock(pull.minStep()) >= pull.minStep() - spec.stalenessBound();
      case HALF_ASYNC, ASYNC, GEO -> true;
    };
  }

  /** Lowest clock of the active trainers and of those still to come; {@code none} if there are none. */
  private long minClock(long none) {
    if (trainers.size() < spec.trainers()) {
      return 0;
    }
    return trainers.values().stream().filter(TrainerState::active).mapToLong(t -> t.clock).min().orElse(none);
  }

  private void answer(Pull pull, TrainerState t, BiConsumer<Pulled, Throwable> done) {
    long births = 0;
    for (SparseIds s : pull.sparse()) {
      births += tables.table(s.table()).missing(s.ids());
    }
    if (births > 0 && tables.rows() + rounds.births() + births > limits.rows()) {
      throw new Overloaded(rowLimit("pull of step " + pull.minStep() + " of " + t.name(), births));
    }
    seen(t);
    clockGapMax = Math.max(clockGapMax, t.clock - minClock(t.clock));
    List<SparseRows> rows = new ArrayList<>(pull.sparse().size());
    for (SparseIds s : pull.sparse()) {
      rows.add(new SparseRows(s.table(), s.ids(), tables.table(s.table()).pull(s.ids())));
    }
    if (pull.changed()) {
      for (SparseTable table : tables.sparseTables()) {
        LongOpenHashSet changed = t.changed(table.spec().name());
        if (!changed.isEmpty()) {
          long[] ids = changed.toLongArray();
          rows.add(new SparseRows(table.spec().name(), ids, table.pull(ids)));
          t.forgetChanged(table.spec().name());
        }
      }
    }
    completions.value(done, new Pulled(version, pull.dense() ? tables.denseCopy() : null, rows));
  }

  // ---- what a change releases

  /** Closes the rounds that are complete, then answers the pulls that need wait no longer. */
  private void settle() {
    if (spec.mode() == Mode.SYNC) {
      while (rounds.first() != null && missing(rounds.next()).isEmpty()) {
        close(rounds.close());
      }
    }
    List<Parked> ready = new ArrayList<>();
    for (Iterator<Parked> it = parked.iterator(); it.hasNext(); ) {
      Parked p = it.next();
      if (released(p.pull())) {
        it.remove();
        ready.add(p);
      }
    }
    for (Parked p : ready) {
      try {
        answer(p.pull(), p.trainer(), p.done());
      } catch (RegattaException e) {
        completions.error(p.done(), e);
      }
    }
  }

  private void close(SyncRounds.Round round) {
    Push merged = RoundReducer.merge(round.pushes);
    version++;
    tables.update(merged, round.step, version);
    for (long[] a : round.arrivals) {
      roundWaitMillis.merge((int) a[0], a[1] - round.firstMillis(), Long::sum);
    }
    round.owed.sort(Comparator.comparingInt(o -> o.contributors().get(0).rank()));
    for (SyncRounds.Owed o : round.owed) {
      if (!o.repeated() && !o.skipped()) {
        pushes++;
      }
      completions.value(o.done(), new PushAck(version, 0, o.repeated(), o.skipped()));
    }
  }

  /** Whom a sync round waits for: trainers that have not pushed it, and ranks that have never registered. */
  private List<Wait.Peer> missing(long step) {
    List<Wait.Peer> peers = new ArrayList<>();
    for (int rank = 0; rank < spec.trainers(); rank++) {
      TrainerState t = trainers.get(rank);
      if (t == null) {
        peers.add(new Wait.Peer("trainer " + rank, -1, 0));
      } else if (t.active() && t.nextStep <= step) {
        peers.add(t.peer());
      }
    }
    return peers;
  }

  // ---- what can be asked

  void waits(List<Wait> out) {
    for (Parked p : parked) {
      out.add(new Wait(p.trainer().name(), "pull of step " + p.pull().minStep(), where, p.sinceMillis(), waitsFor(p)));
    }
    for (SyncRounds.Round r : rounds.all()) {
      List<Wait.Peer> peers = missing(r.step);
      for (SyncRounds.Owed o : r.owed) {
        for (Contributor c : o.contributors()) {
          out.add(new Wait("trainer " + c.rank(), "push of step " + r.step, where, o.sinceMillis(), peers));
        }
      }
    }
  }

  private List<Wait.Peer> waitsFor(Parked p) {
    if (!tables.initialized()) {
      TrainerState first = trainers.get(0);
      return List.of(first == null ? new Wait.Peer("trainer 0", -1, 0) : first.peer());
    }
    if (spec.mode() == Mode.SYNC) {
      return missing(p.pull().minStep() - 1);
    }
    List<Wait.Peer> peers = new ArrayList<>();
    for (int rank = 0; rank < spec.trainers(); rank++) {
      TrainerState t = trainers.get(rank);
      if (t == null) {
        peers.add(new Wait.Peer("trainer " + rank, -1, 0));
      } else if (t.active() && t.clock < p.pull().minStep() - spec.stalenessBound()) {
        peers.add(t.peer());
      }
    }
    return peers;
  }

  ParameterShard.JobStatus status() {
    List<ParameterShard.TrainerStatus> all = new ArrayList<>();
    for (TrainerState t : trainers.values()) {
      all.add(new ParameterShard.TrainerStatus(t.rank, t.incarnation, t.phase.name().toLowerCase(java.util.Locale.ROOT),
          t.lastStep, t.lastSeenMillis));
    }
    return new ParameterShard.JobStatus(spec.job(), spec.mode(), version, tables.denseSize(), tables.rowsByTable(),
        stalenessMax, stalenessSum, clockGapMax, pushes, skipped, repeated, Map.copyOf(roundWaitMillis), all);
  }
}
