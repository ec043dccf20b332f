package io.regatta.core.shard;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.Wait;
import io.regatta.core.memory.HeapBudget;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * Pulls of one job on one shard: answered when the mode allows, parked until then. A pull of many rows, and pulls that are
 * released together, are answered over several turns; small ones that come now overtake them ({@link Turns}).
 * No round closes meanwhile, so that values are of one moment, and while a complete one waits for that no other pull is
 * begun. Outside of rounds a pull keeps behind its trainer's own push, and others' pushes may come between the rows of an
 * answer. Owned by the shard's thread.
 */
final class PullQueue {

  /** Without an aggregator a push comes before the pull of the next step. */
  private static final String OWN_PUSH = "its own push (the gradient aggregator may hold it, and say for whom)";

  private static final String OTHER_ANSWERS = "other pulls, whose answers take all the memory that answers may";

  /**
   * A pull that waits, or is being answered.
   *
   * @param behind number of the last push that was in the queue when it came: it waits for its trainer's up to there
   * @param bytes that the rows of its answer take; what geo's changed rows take is known when they have been collected
   */
  private record Parked(Pull pull, TrainerState trainer, long behind, long bytes, long sinceMillis,
      BiConsumer<Pulled, Throwable> done) {}

  /**
   * What releases pulls.
   *
   * @param slowest lowest clock of the trainers that take part; the highest number if there are none
   * @param closing whether a round is being applied
   */
  private record Moment(long slowest, boolean closing) {}

  /** A pull whose rows are being gathered; {@code pulled} is whole but for them. */
  private final class Answering implements Work {
    private final Parked pull;
    private final Pulled pulled;
    private final Gathering rows;
    /** Rows that it is still to bear, as counted in {@link #openBirths}. */
    private long births;
    /** Taken of the budget. */
    private long bytes;
    /** Whether it waits for room for the rows that have changed. */
    private boolean stalled;
    private boolean closed;

    /** Begins an answer for whose rows the bytes of its pull have been taken. */
    Answering(Parked pull, Pulled pulled, Gathering rows) {
      this.pull = pull;
      this.pulled = pulled;
      this.rows = rows;
      bytes = pull.bytes;
      openAnswers++;
      countBirths();
    }

    @Override
    public long advance(long floats) {
      try {
        long left = rows.advance(floats);
        if (left >= 0 && rows.waitsForRoom()) {
          takeRoom();
          if (stalled) {
            return left;
          }
          left = rows.advance(left);
        }
        countBirths();
        if (left >= 0) {
          if (pull.pull.changed()) {
            job.told(pull.trainer, rows.changesUpTo());
          }
          long held = bytes;
          bytes = 0;
          close();
          completions.value(untilTaken(held), pulled);
        }
        return left;
      } catch (RuntimeException | Error e) {
        close();
        pulled.release();
        completions.error(pull.done, e);
        return 0;
      }
    }

    /** Has the rows count until whoever sends them has taken them, and counts them itself. */
    private BiConsumer<Pulled, Throwable> untilTaken(long held) {
      return (values, error) -> {
        try {
          pull.done.accept(values, error);
        } finally {
          answers.giveBack(held);
        }
      };
    }

    private void countBirths() {
      openBirths += rows.births() - births;
      births = rows.births();
    }

    /**
     * Takes room for all rows at once, those that have changed included: an answer that held some while it waited for more could
     * wait for another one that does the same.
     */
    void takeRoom() {
      long all = pull.bytes + rows.changedBytes();
      if (all > answers.most() || rows.tooLong()) {
        throw noRoom(pull.pull, all);
      }
      giveBack();
      stalled = !take(all);
      if (stalled) {
        stalledAnswers.add(this);
      } else {
        bytes = all;
        rows.hasRoom();
      }
    }

    private void giveBack() {
      long given = bytes;
      bytes = 0;
      answers.giveBack(given);
    }

    /** Takes it out of what is counted of open answers. */
    private void close() {
      if (!closed) {
        closed = true;
        stalledAnswers.remove(this);
        openAnswers--;
        openBirths -= births;
        giveBack();
      }
    }

    /** Nobody is to get it. */
    void drop() {
      turns.drop(this);
      close();
      pulled.release();
    }

    @Override
    public void waits(List<Wait> out) {
      out.add(waiting(pull, List.of(Wait.Peer.named("its rows, which are being gathered"))));
    }

    /** Goes on, if there is room now. */
    void resume() {
      try {
        takeRoom();
        if (!stalled) {
          turns.start(this);
        }
      } catch (RuntimeException | Error e) {
        close();
        pulled.release();
        completions.error(pull.done, e);
      }
    }
  }

  private final JobState job;
  private final int limit;
  private final HeapBudget answers;
  private final Runnable wake;
  private final Completions completions;
  private final Turns turns;
  private final List<Parked> parked = new ArrayList<>();
  /** Answers that wait for room for rows that have changed; none of their rows has been copied. */
  private final List<Answering> stalledAnswers = new ArrayList<>();
  /** Open answers, and rows that they are still to bear, at most. */
  private int openAnswers;
  private long openBirths;
  /** Whether one that nothing else keeps waits for room: those behind it do not take what becomes free, or it might never fit. */
  private boolean crowded;
  private long clockLeadMax;

  /** @param answers budget of rows while they are gathered; whoever sends an answer counts it from then on */
  PullQueue(JobState job, int limit, HeapBudget answers) {
    this.job = job;
    this.limit = limit;
    this.answers = answers;
    turns = job.turns;
    wake = turns::wake;
    completions = job.completions;
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
    Parked p = new Parked(pull, trainer, job.pushes.last(), bytes(pull), nowMillis, done);
    if (p.bytes > answers.most()) {
      throw noRoom(pull, p.bytes);
    }
    if (parked.size() + openAnswers >= limit) {
      throw new Overloaded(who + " refused: " + limit + " pulls wait at " + job.where
          + " already, its limit; wait for answers before asking again");
    }
    Moment now = now();
    boolean released = released(p, now) && !job.inRounds.waitsForPulls();
    if (released && takeRoom(p)) {
      turns.start(begin(p, now));
    } else {
      crowded |= released;
      parked.add(p);
    }
  }

  /** Answers what need not wait any longer, or begins to. */
  void release() {
    crowded = false;
    if (parked.isEmpty() && stalledAnswers.isEmpty()) {
      return;
    }
    List<Answering> stalled = List.copyOf(stalledAnswers);
    stalledAnswers.clear();
    stalled.forEach(Answering::resume);
    crowded = !stalledAnswers.isEmpty();
    Moment now = now(); // once for all: nothing of it changes while answers begin
    for (Iterator<Parked> it = parked.iterator(); it.hasNext(); ) {
      Parked p = it.next();
      if (!released(p, now)) {
        continue;
      }
      try {
        if (p.bytes > answers.most()) {
          it.remove();
          throw noRoom(p.pull, p.bytes); // parameters have taken what it waited for
        }
        if (!takeRoom(p)) {
          crowded = true;
        } else {
          it.remove();
          turns.start(begin(p, now));
        }
      } catch (RuntimeException | Error e) {
        completions.error(p.done, e);
      }
    }
  }

  /** Whether a pull waits for something to change. */
  boolean anyParked() {
    return !parked.isEmpty();
  }

  private long bytes(Pull pull) {
    long bytes = 0;
    for (SparseIds s : pull.sparse()) {
      long floats = Gathering.floats(job.tables, s);
      if (Gathering.isTooLong(floats)) {
        throw new Overloaded(name(pull) + " refused at " + job.where + ": " + s.ids().length + " rows of table '" + s.table()
            + "' have " + floats + " floats, more than one answer can hold; pull less at a time");
      }
      bytes += Float.BYTES * floats;
    }
    return bytes;
  }

  /** Takes room for the rows of one more answer beside those of the open ones; a pull without rows needs none. */
  private boolean takeRoom(Parked p) {
    return p.bytes == 0 || !crowded && take(p.bytes);
  }

  private boolean take(long bytes) {
    if (answers.takeInTurn(bytes)) {
      return true;
    }
    answers.whenFree(wake);
    return answers.takeInTurn(bytes); // some may have been given back just before
  }

  private List<Answering> answering() {
    List<Answering> all = new ArrayList<>(turns.open(Answering.class));
    all.addAll(stalledAnswers);
    return all;
  }

  /** Whether the values of an open answer must not change. */
  boolean gathering() {
    return openAnswers > 0;
  }

  /** Rows that open answers are still to bear, at most. */
  long births() {
    return openBirths;
  }

  /** Fails the open pulls of one trainer, or of all if null. */
  void fail(TrainerState trainer, Function<String, RegattaException> why) {
    for (Answering a : answering()) {
      if (trainer == null || a.pull.trainer == trainer) {
        a.drop();
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
    for (Answering a : answering()) {
      if (a.pull.done == done) {
        a.drop();
      }
    }
  }

  /** Highest clock lead of a trainer, seen when a pull of a step was answered. */
  long clockLeadMax() {
    return clockLeadMax;
  }

  void waits(List<Wait> out) {
    for (Parked p : parked) {
      out.add(waiting(p, waitsFor(p)));
    }
    for (Answering a : stalledAnswers) {
      out.add(waiting(a.pull, List.of(Wait.Peer.named(OTHER_ANSWERS))));
    }
  }

  private Wait waiting(Parked p, List<Wait.Peer> peers) {
    return new Wait(p.trainer.name(), "pull of step " + p.pull.minStep(), job.where, p.sinceMillis, peers);
  }

  static String name(Pull pull) {
    return "pull of step " + pull.minStep() + " of trainer " + pull.rank();
  }

  private Moment now() {
    return new Moment(job.trainers.minClock(Long.MAX_VALUE), job.inRounds.closing());
  }

  private boolean released(Parked p, Moment now) {
    Pull pull = p.pull;
    if (!job.tables.initialized()) {
      return false;
    }
    return switch (job.spec.mode()) {
      case SYNC -> job.inRounds.next() >= pull.minStep() && !now.closing;
      case SSP -> now.slowest >= pull.minStep() - job.spec.stalenessBound()
          && !job.pushes.holds(pull.rank(), p.behind);
      case HALF_ASYNC, ASYNC, GEO, COLLECTIVE -> !job.pushes.holds(pull.rank(), p.behind);
    };
  }

  /** Nobody waits for himself: his own push is under way, as far as this shard can tell. */
  private List<Wait.Peer> waitsFor(Parked p) {
    Pull pull = p.pull;
    if (!job.tables.initialized()) {
      return List.of(job.trainers.peer(0));
    }
    if (job.inRounds.closing()) {
      return List.of(Wait.Peer.named("a round, which is being applied"));
    }
    if (job.pushes.holds(pull.rank(), p.behind)) {
      return List.of(Wait.Peer.named("its own push, which is being applied"));
    }
    if (p.bytes > 0 && (crowded || p.bytes > answers.free())) {
      return List.of(Wait.Peer.named(OTHER_ANSWERS));
    }
    Predicate<TrainerState> behind = job.spec.mode() == Mode.SYNC ? t -> t.nextStep < pull.minStep()
        : t -> t.clock < pull.minStep() - job.spec.stalenessBound();
    List<Wait.Peer> peers = new ArrayList<>(job.trainers.missing(behind));
    if (peers.removeIf(peer -> peer.name().equals(p.trainer.name()))) {
      peers.add(Wait.Peer.named(OWN_PUSH));
    }
    return peers;
  }

  /** Begins an answer, without its rows, for which room has been taken. */
  private Answering begin(Parked p, Moment now) {
    Pull pull = p.pull;
    try {
      long clockLead = clock(p) - (now.slowest == Long.MAX_VALUE ? p.trainer.clock : now.slowest);
      long births = 0;
      if (!pull.readOnly()) {
        births = job.rowLimit.births(pull.sparse());
        job.rowLimit.check(births, name(pull), pull.sparse(), SparseIds::table);
        clockLeadMax = Math.max(clockLeadMax, clockLead);
      }
      Gathering rows = new Gathering(job.tables, pull, births, p.trainer.counted,
          pull.changed() ? job.changes.after(p.trainer.told) : null);
      Pulled pulled =
          new Pulled(job.version(), pull.dense() ? job.tables.denseSnapshot() : null, rows.rows(), clockLead);
      return new Answering(p, pulled, rows);
    } catch (RuntimeException | Error e) {
      answers.giveBack(p.bytes);
      throw e;
    }
  }

  /** The asker's clock; in ssp that of when he asked, which the bound is for: another replica may have pushed meanwhile. */
  private long clock(Parked p) {
    return job.spec.mode() == Mode.SSP ? Math.min(p.trainer.clock, p.pull.minStep()) : p.trainer.clock;
  }

  private Overloaded noRoom(Pull pull, long bytes) {
    return new Overloaded(name(pull) + " refused: no room for the " + bytes + " bytes of rows of its answer at " + job.where
        + ", where all answers together may take " + answers.most() + ": " + HeapBudget.inWords()
        + ". Give the server a larger heap (-Xmx), use more shards, or pull less at a time");
  }
}
