package io.regatta.core.shard;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.table.SparseTable;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Pulls of one job on one shard: answered when the mode allows, parked until then. A pull of many rows is answered over
 * several turns, where there is an executor for them: smaller ones overtake it. No round closes meanwhile, so that its
 * values are of one moment; outside of rounds other pushes may come between its rows. Owned by the shard's thread.
 */
final class PullQueue {

  private record Parked(Pull pull, TrainerState trainer, long sinceMillis, BiConsumer<Pulled, Throwable> done) {}

  /** A pull whose rows are being gathered; {@code pulled} is whole but for them. */
  private record Answering(Parked pull, Pulled pulled, Gathering rows) {}

  /** Without an aggregator a push comes before the pull of the next step. */
  private static final String OWN_PUSH = "its own push (the gradient aggregator may hold it, and say for whom)";

  private final JobState job;
  private final int limit;
  private final Completions completions;
  private final Executor later;
  private final List<Parked> parked = new ArrayList<>();
  private final ArrayDeque<Answering> answering = new ArrayDeque<>();
  private boolean turnDue;
  private long clockLeadMax;

  /** @param later runs a task in a later turn; null to answer every pull in one */
  PullQueue(JobState job, int limit, Executor later, Completions completions) {
    this.later = later;
    this.job = job;
    this.limit = limit;
    this.completions = completions;
  }

  void add(Pull pull, TrainerState trainer, long nowMillis, BiConsumer<Pulled, Throwable> done) {
    String who = name(pull);
    if (pull.changed() && job.spec.mode() != Mode.GEO) {
      throw new InvalidInput(who + " asks " + job.where + " for changed rows, which only geo mode keeps, not "
          + job.spec.mode());
    }
    if (pull.changed() && pull.readOnly()) {
      throw new InvalidInput(who + " asks " + job.where + " read-only for changed rows, which are forgotten once told; "
          + "ask for them in a pull of a step");
    }
    job.check.wish(pull.sparse(), who);
    Parked p = new Parked(pull, trainer, nowMillis, done);
    boolean released = released(pull);
    if ((released ? answering : parked).size() >= limit) {
      throw new Overloaded(who + " refused: " + limit + " pulls wait at " + job.where
          + " already, its limit; wait for answers before asking again");
    }
    if (released) {
      answer(p);
    } else {
      parked.add(p);
    }
  }

  /** Answers what need not wait any longer. */
  void release() {
    for (Iterator<Parked> it = parked.iterator(); it.hasNext(); ) {
      Parked p = it.next();
      if (released(p.pull)) {
        it.remove();
        try {
          answer(p);
        } catch (RuntimeException | Error e) {
          completions.error(p.done, e);
        }
      }
    }
  }

  /** Whether the values of an open answer must not change. */
  boolean gathering() {
    return !answering.isEmpty();
  }

  /** Rows that open answers are still to bear, at most. */
  long births() {
    return answering.stream().mapToLong(a -> a.rows.births()).sum();
  }

  /** Fails the open pulls of one trainer, or of all if null. */
  void fail(TrainerState trainer, Function<String, RegattaException> why) {
    for (Iterator<Answering> it = answering.iterator(); it.hasNext(); ) {
      Answering a = it.next();
      if (trainer == null || a.pull.trainer == trainer) {
        it.remove();
        a.pulled.release();
        completions.error(a.pull.done, why.apply(name(a.pull.pull) + " at " + job.where + " given up"));
      }
    }
    for (Iterator<Parked> it = parked.iterator(); it.hasNext(); ) {
      Parked p = it.next();
      if (trainer == null || p.trainer == trainer) {
        it.remove();
        completions.error(p.done, why.apply(name(p.pull) + " at " + job.where + " given up"));
      }
    }
  }

  /** Forgets an open pull: nobody is there to take the answer. */
  void withdraw(BiConsumer<Pulled, Throwable> done) {
    parked.removeIf(p -> p.done == done);
    answering.removeIf(a -> {
      if (a.pull.done == done) {
        a.pulled.release();
      }
      return a.pull.done == done;
    });
  }

  /** Highest clock lead of a trainer, seen when a pull of a step was answered. */
  long clockLeadMax() {
    return clockLeadMax;
  }

  void waits(List<Wait> out) {
    for (Parked p : parked) {
      out.add(new Wait(p.trainer.name(), "pull of step " + p.pull.minStep(), job.where, p.sinceMillis,
          waitsFor(p)));
    }
  }

  static String name(Pull pull) {
    return "pull of step " + pull.minStep() + " of trainer " + pull.rank();
  }

  private boolean released(Pull pull) {
    if (!job.tables.initialized()) {
      return false;
    }
    return switch (job.spec.mode()) {
      case SYNC -> job.rounds.next() >= pull.minStep() && !job.closing();
      case SSP -> job.trainers.minClock(pull.minStep()) >= pull.minStep() - job.spec.stalenessBound();
      case HALF_ASYNC, ASYNC, GEO -> true;
    };
  }

  /** Nobody waits for himself: his own push is under way, as far as this shard can tell. */
  private List<Wait.Peer> waitsFor(Parked p) {
    Pull pull = p.pull;
    if (!job.tables.initialized()) {
      return List.of(job.trainers.peer(0));
    }
    Predicate<TrainerState> behind = job.spec.mode() == Mode.SYNC ? t -> t.nextStep < pull.minStep()
        : t -> t.clock < pull.minStep() - job.spec.stalenessBound();
    List<Wait.Peer> peers = new ArrayList<>(job.trainers.missing(behind));
    if (peers.removeIf(peer -> peer.name().equals(p.trainer.name()))) {
      peers.add(Wait.Peer.named(OWN_PUSH));
    }
    return peers;
  }

  /** Answers in this turn, or begins to. What has changed is told in one, for it is forgotten then. */
  private void answer(Parked p) {
    Pull pull = p.pull;
    try {
      long clockLead = p.trainer.clock - job.trainers.minClock(p.trainer.clock);
      long births = 0;
      if (!pull.readOnly()) {
        births = job.rowLimit.births(pull.sparse());
        job.rowLimit.check(births, name(pull));
        clockLeadMax = Math.max(clockLeadMax, clockLead);
      }
      Gathering wish = new Gathering(job.tables, pull, births);
      boolean more = wish.advance(later == null || pull.changed() ? Integer.MAX_VALUE : Gathering.TURN_ROWS);
      List<SparseRows> rows = new ArrayList<>(wish.rows());
      if (pull.changed()) {
        addChanged(p.trainer, rows);
      }
      Pulled pulled =
          new Pulled(job.version(), pull.dense() ? job.tables.denseSnapshot() : null, rows, clockLead);
      if (pull.changed()) {
        p.trainer.forgetChanged();
      }
      if (more) {
        answering.add(new Answering(p, pulled, wish));
        goOnLater();
      } else {
        completions.value(p.done, pulled);
      }
    } catch (OutOfMemoryError | ArithmeticException e) { // too little heap, or more than an array can hold
      throw noRoom(pull);
    }
  }

  private void addChanged(TrainerState trainer, List<SparseRows> rows) {
    for (SparseTable table : job.tables.sparseTables()) {
      long[] ids = trainer.changed(table.spec().name());
      if (ids.length > 0) {
        rows.add(new SparseRows(table.spec().name(), ids, table.pull(ids)));
      }
    }
  }

  private void goOnLater() {
    if (!turnDue && !answering.isEmpty()) {
      turnDue = true;
      later.execute(this::laterTurn);
    }
  }

  /** Goes on with one of the open answers: they take turns. */
  private void laterTurn() {
    turnDue = false;
    Answering a = answering.poll();
    if (a != null) { // otherwise given up, or taken back
      try {
        if (a.rows.advance(Gathering.TURN_ROWS)) {
          answering.add(a);
        } else {
          completions.value(a.pull.done, a.pulled);
        }
      } catch (RuntimeException | Error e) {
        a.pulled.release();
        completions.error(a.pull.done, e instanceof OutOfMemoryError ? noRoom(a.pull.pull) : e);
      }
    }
    goOnLater();
    job.settle();
    completions.drain();
  }

  private Overloaded noRoom(Pull pull) {
    return new Overloaded(name(pull) + " refused: no room for its answer at " + job.where
        + "; give the server a larger heap, use more shards, or pull less at a time");
  }
}
