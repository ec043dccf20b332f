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
 * Pulls of one job on one shard: answered when the mode allows, parked until then. Where there is an executor for later
 * turns, one turn copies a bounded number of rows: a pull of more, and pulls that are released together, are answered
 * over several turns, first come, first served, but no more than a turn's rows of each at a time; smaller ones that come
 * now overtake them.
 * No round closes meanwhile, so that values are of one moment, and while a complete one waits for that no other pull is
 * begun. Outside of rounds other pushes may come between the rows of an answer. Owned by the shard's thread.
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
    if (parked.size() + answering.size() >= limit) {
      throw new Overloaded(who + " refused: " + limit + " pulls wait at " + job.where
          + " already, its limit; wait for answers before asking again");
    }
    if (released(pull) && !job.roundWaits()) {
      Answering a = begin(p);
      if (advance(a, turnRows()) < 0) {
        answering.add(a);
        goOnLater();
      }
    } else {
      parked.add(p);
    }
  }

  /** Answers what need not wait any longer, or begins to. */
  void release() {
    for (Iterator<Parked> it = parked.iterator(); it.hasNext(); ) {
      Parked p = it.next();
      if (released(p.pull)) {
        it.remove();
        try {
          answering.add(begin(p));
        } catch (RuntimeException | Error e) {
          completions.error(p.done, e);
        }
      }
    }
    if (!turnDue) {
      turn();
      goOnLater();
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

  /** An answer without its rows. What has changed is told with all of them, for it is forgotten then. */
  private Answering begin(Parked p) {
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
      List<SparseRows> rows = new ArrayList<>(wish.rows());
      if (pull.changed()) {
        wish.advance(Integer.MAX_VALUE);
        addChanged(p.trainer, rows);
      }
      Pulled pulled =
          new Pulled(job.version(), pull.dense() ? job.tables.denseSnapshot() : null, rows, clockLead);
      if (pull.changed()) {
        p.trainer.forgetChanged();
      }
      return new Answering(p, pulled, wish);
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

  /**
   * Copies so many more rows of an answer, and gives it when it has all.
   *
   * @return how many it did not need, or -1 if it lacks some
   */
  private int advance(Answering a, int most) {
    try {
      int left = a.rows.advance(most);
      if (left >= 0) {
        completions.value(a.pull.done, a.pulled);
      }
      return left;
    } catch (RuntimeException | Error e) {
      a.pulled.release();
      completions.error(a.pull.done, e instanceof OutOfMemoryError ? noRoom(a.pull.pull) : e);
      return 0;
    }
  }

  /** Goes on with the open answers by as many rows as one turn may copy; only one that had all of them goes to the end. */
  private void turn() {
    int left = turnRows();
    while (left > 0 && !answering.isEmpty()) {
      Answering a = answering.poll();
      boolean whole = left == turnRows();
      left = advance(a, left);
      if (left < 0 && whole) {
        answering.addLast(a);
      } else if (left < 0) {
        answering.addFirst(a);
      }
    }
  }

  private int turnRows() {
    return later == null ? Integer.MAX_VALUE : Gathering.TURN_ROWS;
  }

  private void goOnLater() {
    if (!turnDue && !answering.isEmpty()) {
      turnDue = true;
      later.execute(this::laterTurn);
    }
  }

  private void laterTurn() {
    turn();
    job.settle(); // what this releases waits for the next turn
    turnDue = false;
    goOnLater();
    completions.drain();
  }

  private Overloaded noRoom(Pull pull) {
    return new Overloaded(name(pull) + " refused: no room for its answer at " + job.where
        + "; give the server a larger heap, use more shards, or pull less at a time");
  }
}
