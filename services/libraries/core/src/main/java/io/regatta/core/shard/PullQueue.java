package io.regatta.core.shard;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.Wait;
import io.regatta.core.memory.HeapBudget;
import io.regatta.core.shard.internal.job.Completions;
import io.regatta.core.shard.internal.job.JobContext;
import io.regatta.core.shard.internal.job.SlicedWork;
import io.regatta.core.shard.internal.job.TimeSlices;
import io.regatta.core.shard.internal.parameters.JobTables;
import io.regatta.core.shard.internal.parameters.RowLimit;
import io.regatta.core.shard.internal.push.PushCheck;
import io.regatta.core.shard.internal.push.PushQueue;
import io.regatta.core.shard.internal.push.ShardStrategy;
import io.regatta.core.shard.internal.push.TrainerState;
import io.regatta.core.shard.internal.push.Trainers;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The pulls of one job on one shard, answered when the mode allows and parked until then. Owned by the shard's thread.
 * A pull of many rows, and pulls that are released together, are answered over several time slices. Small pulls that
 * arrive meanwhile overtake them ({@link TimeSlices}).
 *
 * <p>No round closes while a pull is being answered, so that its values are of one moment. While a complete round waits
 * for that, no other pull is begun. Outside of rounds a pull is answered after its trainer's own push; others' pushes
 * may be applied between the rows of an answer.
 */
final class PullQueue {

  /** Without an aggregator a push comes before the pull of the next step. */
  private static final String OWN_PUSH = "its own push (the gradient aggregator may hold it, and say for whom)";

  private static final String OTHER_ANSWERS = "other pulls, whose answers take all the memory that answers may";

  /**
   * A pull that waits, or is being answered.
   *
   * @param behind number of the last push that was in the queue when it arrived: it waits for its trainer's pushes up
   *     to that one
   * @param bytes of the rows of its answer, without rows that have changed, which are known once they have been collected
   */
  private record Parked(Pull pull, TrainerState trainer, long behind, long bytes, long sinceMillis,
      CompletableFuture<Pulled> done) {}

  /**
   * The state of the job that decides which pulls are released.
   *
   * @param slowest lowest clock of the trainers that take part; the highest number if there are none
   * @param answerable which pulls the mode allows to be answered
   */
  private record Moment(long slowest, Predicate<Pull> answerable) {}

  /** The answer to one pull, whose rows are being gathered; {@code pulled} is complete except for them. */
  private final class Answering implements SlicedWork {
    private final Parked pull;
    private final Pulled pulled;
    private final Gathering rows;
    /** Rows that it will still create, as counted in {@link #openBirths}. */
    private long births;
    /** Bytes taken of the budget. */
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
            strategy.received(pull.trainer, rows.changesUpTo());
          }
          long held = bytes;
          bytes = 0;
          close();
          completions.value(pull.done, pulled, () -> answers.giveBack(held)); // counted until its receiver counts it
        }
        return left;
      } catch (RuntimeException | Error e) {
        close();
        pulled.release();
        completions.error(pull.done, e);
        return 0;
      }
    }

    private void countBirths() {
      openBirths += rows.births() - births;
      births = rows.births();
    }

    /**
     * Takes room for all rows at once, including those that have changed. Answers that held some room while they waited
     * for more could wait for each other.
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

    /** Removes this from the open answers, and returns what they count of it. */
    private void close() {
      if (!closed) {
        closed = true;
        stalledAnswers.remove(this);
        openAnswers--;
        openBirths -= births;
        giveBack();
      }
    }

    /** Drops the answer, because nobody is there to receive it. */
    void drop() {
      turns.drop(this);
      close();
      pulled.release();
    }

    @Override
    public void waits(List<Wait> out) {
      out.add(waiting(pull, List.of(Wait.Peer.named("its rows, which are being gathered"))));
    }

    /** Resumes the answer, if there is room now. */
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

  private final JobContext job;
  private final JobTables tables;
  private final Trainers trainers;
  private final PushCheck check;
  private final RowLimit rowLimit;
  private final PushQueue pushes;
  private final ShardStrategy strategy;
  private final int limit;
  private final HeapBudget answers;
  private final Runnable wake;
  private final Completions completions;
  private final TimeSlices turns;
  private final List<Parked> parked = new ArrayList<>();
  /** Answers that wait for room for rows that have changed; none of their rows has been copied. */
  private final List<Answering> stalledAnswers = new ArrayList<>();
  /** Number of open answers. {@link #openBirths} is an upper bound of the rows that they will still create. */
  private int openAnswers;
  private long openBirths;
  /**
   * True if a pull that could be answered waits for room only. Later pulls then do not take what becomes free, or it
   * might never fit.
   */
  private boolean crowded;
  private long clockLeadMax;

  /**
   * Creates an empty queue.
   *
   * @param pushes the pushes that are being processed
   * @param limit pulls that wait or are being answered at a time
   * @param answers budget of rows while they are gathered; the sender of an answer counts them from then on
   */
  PullQueue(JobContext job, JobTables tables, Trainers trainers, PushCheck check, RowLimit rowLimit, PushQueue pushes,
      ShardStrategy strategy, int limit, HeapBudget answers) {
    this.job = job;
    this.tables = tables;
    this.trainers = trainers;
    this.check = check;
    this.rowLimit = rowLimit;
    this.pushes = pushes;
    this.strategy = strategy;
    this.limit = limit;
    this.answers = answers;
    turns = job.turns;
    wake = turns::wake;
    completions = job.completions;
  }

  void add(Pull pull, TrainerState trainer, long nowMillis, CompletableFuture<Pulled> done) {
    String who = name(pull);
    if (pull.changed()) {
      strategy.checkChanged(job, pull, who);
    }
    check.wish(pull.sparse(), who);
    Parked p = new Parked(pull, trainer, pushes.last(), bytes(pull), nowMillis, done);
    if (p.bytes > answers.most()) {
      throw noRoom(pull, p.bytes);
    }
    if (parked.size() + openAnswers >= limit) {
      throw new Overloaded(who + " refused: " + limit + " pulls wait at " + job.where
          + " already, its limit; wait for answers before asking again");
    }
    Moment now = now();
    boolean released = released(p, now) && !strategy.waitsForPulls();
    if (released && takeRoom(p)) {
      turns.start(begin(p, now));
    } else {
      crowded |= released;
      parked.add(p);
    }
  }

  /** Begins to answer the pulls that need not wait any longer. */
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
      long floats = Gathering.floats(tables, s);
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

  /** Returns an upper bound of the rows that open answers will still create. */
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

  /** Withdraws an open pull, because nobody is there to receive the answer. */
  void withdraw(CompletionStage<Pulled> done) {
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
    long slowest = trainers.minClock(Long.MAX_VALUE);
    return new Moment(slowest, strategy.answerable(slowest));
  }

  private boolean released(Parked p, Moment now) {
    Pull pull = p.pull;
    return tables.initialized() && now.answerable.test(pull)
        && !(strategy.waitsForOwnPushes() && pushes.holds(pull.rank(), p.behind));
  }

  /**
   * Returns the peers that a pull waits for. A trainer does not wait for itself: its own push is on its way, as far as
   * this shard knows.
   */
  private List<Wait.Peer> waitsFor(Parked p) {
    Pull pull = p.pull;
    if (!tables.initialized()) {
      return List.of(trainers.peer(0));
    }
    if (strategy.isApplying()) {
      return List.of(Wait.Peer.named("a round, which is being applied"));
    }
    if (pushes.holds(pull.rank(), p.behind)) {
      return List.of(Wait.Peer.named("its own push, which is being applied"));
    }
    if (p.bytes > 0 && (crowded || p.bytes > answers.free())) {
      return List.of(Wait.Peer.named(OTHER_ANSWERS));
    }
    List<Wait.Peer> peers = new ArrayList<>(trainers.missing(strategy.isBehind(pull)));
    if (peers.removeIf(peer -> peer.name().equals(p.trainer.name()))) {
      peers.add(Wait.Peer.named(OWN_PUSH));
    }
    return peers;
  }

  /** Begins an answer without its rows, for which room has been taken. */
  private Answering begin(Parked p, Moment now) {
    Pull pull = p.pull;
    try {
      long clockLead = strategy.clock(p.trainer, pull) - (now.slowest == Long.MAX_VALUE ? p.trainer.clock() : now.slowest);
      long births = 0;
      if (!pull.readOnly()) {
        births = rowLimit.births(pull.sparse());
        rowLimit.check(births, name(pull), pull.sparse(), SparseIds::table);
        clockLeadMax = Math.max(clockLeadMax, clockLead);
      }
      Gathering rows = new Gathering(tables, pull, births, p.trainer.counted(),
          pull.changed() ? strategy.changesFor(p.trainer) : null);
      Pulled pulled =
          new Pulled(job.version(), pull.dense() ? tables.denseSnapshot() : null, rows.rows(), clockLead);
      return new Answering(p, pulled, rows);
    } catch (RuntimeException | Error e) {
      answers.giveBack(p.bytes);
      throw e;
    }
  }

  private Overloaded noRoom(Pull pull, long bytes) {
    return new Overloaded(name(pull) + " refused: no room for the " + bytes + " bytes of rows of its answer at " + job.where
        + ", where all answers together may take " + answers.most() + ": " + HeapBudget.inWords()
        + ". Give the server a larger heap (-Xmx), use more shards, or pull less at a time");
  }
}
