package io.regatta.core.shard.internal.rounds;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.Wait;
import io.regatta.core.reduce.RowRoom;
import io.regatta.core.shard.internal.job.JobContext;
import io.regatta.core.shard.internal.job.SlicedWork;
import io.regatta.core.shard.internal.parameters.JobTables;
import io.regatta.core.shard.internal.parameters.RowLimit;
import io.regatta.core.shard.internal.push.PushApplication;
import io.regatta.core.shard.internal.push.PushCheck;
import io.regatta.core.shard.internal.push.RowCheck;
import io.regatta.core.shard.internal.push.ShardStrategy;
import io.regatta.core.shard.internal.push.TrainerState;
import io.regatta.core.shard.internal.push.Trainers;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * The strategy of a shard with rounds: a push is kept in the round of its step. A round closes when all its pushes are
 * there, over several time slices if it is large. While a round is being applied, its values can be neither seen nor
 * changed. No round begins to close while a pull is being answered. Owned by the shard's thread.
 */
public final class RoundStrategy implements ShardStrategy {

  /** The condition, beside the pushes, under which a complete round may be applied. */
  public interface Gate {

    /** Returns true if a pull is being answered, whose values must not change. */
    boolean answersPulls();

    /** Returns true if a snapshot is to be taken before the next round. */
    boolean snapshotIsDue();

    /** Lets pulls be answered from the values of a round that has been applied. */
    void roundApplied();
  }

  private final SyncRounds rounds = new SyncRounds();
  private final JobContext job;
  private final JobTables tables;
  private final Trainers trainers;
  private final PushCheck check;
  private final RowLimit limit;
  private final int openRounds;
  private final Gate gate;
  private final Map<Integer, Long> waitMillis = new TreeMap<>();
  /** Room to sum the rows of each table in, for the round that is being closed. */
  private final Map<String, RowRoom> rooms = new HashMap<>();

  /** @param openRounds rounds open at a time */
  public RoundStrategy(JobContext job, JobTables tables, Trainers trainers, PushCheck check, RowLimit limit, int openRounds,
      Gate gate) {
    this.job = job;
    this.tables = tables;
    this.trainers = trainers;
    this.check = check;
    this.limit = limit;
    this.openRounds = openRounds;
    this.gate = gate;
  }

  @Override
  public long step() {
    return rounds.next();
  }

  @Override
  public boolean isAt(long step) {
    return rounds.next() >= step && !isApplying();
  }

  @Override
  public void resumeAt(long step) {
    rounds.skipTo(step);
  }

  @Override
  public long firstStep() {
    return rounds.next() + (isApplying() ? 1 : 0);
  }

  @Override
  public long awaitedFrom(TrainerState trainer) {
    return trainer.nextStep();
  }

  @Override
  public Predicate<Pull> answerable(long slowest) {
    boolean applying = isApplying();
    return pull -> !applying && rounds.next() >= pull.minStep();
  }

  @Override
  public Predicate<TrainerState> isBehind(Pull pull) {
    return t -> t.nextStep() < pull.minStep();
  }

  /** Returns false: a pull for a step waits for the round of its trainer's push. */
  @Override
  public boolean waitsForOwnPushes() {
    return false;
  }

  @Override
  public void checkHold() {
    throw new InvalidInput(job.where + " has rounds, whose steps say what a snapshot contains; its pushes cannot be held. Save at a "
        + "step, without a hold");
  }

  @Override
  public long births() {
    return rounds.births();
  }

  @Override
  public Map<Integer, Long> waitMillis() {
    return Map.copyOf(waitMillis);
  }

  @Override
  public RowCheck check(Push push, List<TrainerState> from, String who) {
    fits(push, from, who);
    check.shapes(push, who);
    return new RowCheck(tables, check, limit, push, push.sparse(), who);
  }

  private void fits(Push push, List<TrainerState> from, String who) {
    check.takePart(from, who);
    isNext(push, from, who);
    check.order(push, who);
  }

  /** Requires that a push is the next of each of its trainers, and not too far ahead of the slowest. */
  private void isNext(Push push, List<TrainerState> from, String who) {
    for (TrainerState t : from) {
      if (push.step() < t.nextStep()) {
        throw new InvalidInput(who + " refused at " + job.where + ": trainer " + t.rank() + " has pushed step " + push.step()
            + " before, or its round has closed; its next step is " + t.nextStep());
      }
      if (push.step() > t.nextStep()) {
        throw new InvalidInput(who + " refused at " + job.where + ": trainer " + t.rank() + " has skipped step " + t.nextStep()
            + ", for which the round would wait for ever; push every step, empty ones too");
      }
    }
    if (push.step() >= rounds.next() + openRounds) {
      throw new Overloaded(who + " is too far ahead at " + job.where + ": round " + rounds.next()
          + " is open and at most " + openRounds + " may be; wait for acknowledgements");
    }
  }

  @Override
  public PushApplication take(Push push, List<TrainerState> from, String who, RowCheck checked, long sinceMillis,
      CompletableFuture<PushAck> done) {
    fits(push, from, who);
    boolean skip = checked.bad() != null;
    if (skip) {
      check.nanPolicy(who, checked.bad());
      push.release();
      job.counts.skip();
    } else {
      limit.check(checked.births(), who, push.sparse(), SparseRows::table);
    }
    trainers.takenIn(push, from, job.nowMillis());
    trainers.count(from);
    SyncRounds.Round r = rounds.at(push.step());
    r.pushes.add(skip ? weightless(push) : push);
    r.births += skip ? 0 : checked.births();
    from.forEach(t -> r.arrivals.add(new long[] {t.rank(), sinceMillis}));
    r.owed.add(new SyncRounds.Owed(push.contributors(), false, skip, sinceMillis, done));
    return null;
  }

  /** Answers a repeated push together with its round, if that is open. */
  @Override
  public boolean owe(Push repeated, CompletableFuture<PushAck> done) {
    SyncRounds.Round open = rounds.find(repeated.step());
    if (open != null) {
      open.owed.add(new SyncRounds.Owed(repeated.contributors(), true, false, job.nowMillis(), done));
    }
    return open != null;
  }

  /**
   * Returns the push of weight 0 that stands for a dropped one in a sync round: the others' mean is taken without it.
   */
  private static Push weightless(Push push) {
    List<Contributor> none = push.contributors().stream()
        .map(c -> new Contributor(c.rank(), c.incarnation(), c.sequence(), 0, c.progress())).toList();
    return new Push(none, push.step(), push.version(), null, List.of());
  }

  /** Begins to apply the rounds that are complete, unless a pull is being answered. */
  @Override
  public void settle() {
    while (!isApplying() && !job.isBroken() && !gate.answersPulls() && !gate.snapshotIsDue() && complete()) {
      try {
        job.turns.start(new Closing(rounds.first(), job.nextUpdate()));
      } catch (RuntimeException | Error e) {
        job.breakDown(during(rounds.first()), e);
      }
    }
    if (!isApplying() && rounds.first() == null) {
      job.skipUpdates(rounds.skipTo(trainers.minNextStep(rounds.next())));
    }
  }

  @Override
  public boolean isApplying() {
    return job.turns.any(Closing.class);
  }

  @Override
  public boolean waitsForPulls() {
    return gate.answersPulls() && !isApplying() && complete();
  }

  /** Returns true if all pushes of the next round are there. */
  private boolean complete() {
    return rounds.first() != null && trainers.noneMissing(t -> t.nextStep() <= rounds.next());
  }

  private static String during(SyncRounds.Round round) {
    return "the round of step " + round.step;
  }

  /** The closing of a round, as work that is spread over time slices. */
  private final class Closing implements SlicedWork {
    private final RoundClosing closing;
    private boolean whole;

    Closing(SyncRounds.Round round, long update) {
      closing = new RoundClosing(round, tables, update, table -> rooms.computeIfAbsent(table, t -> new RowRoom()));
    }

    @Override
    public long advance(long floats) {
      try {
        long left = closing.advance(floats);
        whole = left >= 0;
        return left;
      } catch (RuntimeException | Error e) {
        job.breakDown(during(closing.round), e);
        return 0;
      }
    }

    @Override
    public void over() {
      if (whole) {
        acknowledge(closing.round);
        closing.round.pushes.forEach(trainers::contains);
        closing.round.pushes.forEach(Push::release);
        rooms.values().forEach(RowRoom::done);
        rounds.close();
        gate.roundApplied();
      }
    }
  }

  private void acknowledge(SyncRounds.Round round) {
    for (long[] a : round.arrivals) {
      waitMillis.merge((int) a[0], a[1] - round.firstMillis(), Long::sum);
    }
    round.owed.sort(Comparator.comparingInt(o -> o.contributors().get(0).rank()));
    for (Iterator<SyncRounds.Owed> it = round.owed.iterator(); it.hasNext(); it.remove()) {
      SyncRounds.Owed o = it.next();
      if (!o.repeatedPush() && !o.skippedPush()) {
        job.counts.apply(0);
      }
      job.completions.value(o.done(), new PushAck(job.version(), 0, o.repeatedPush(), o.skippedPush()));
    }
  }

  @Override
  public void acknowledgeApplied() {
    if (isApplying()) {
      acknowledge(rounds.first());
    }
  }

  @Override
  public void giveUp(Function<String, RegattaException> why) {
    for (SyncRounds.Round r : rounds.all()) {
      RegattaException reason = why.apply("push of step " + r.step + " at " + job.where + " given up");
      r.owed.forEach(o -> job.completions.error(o.done(), reason));
      r.pushes.forEach(Push::release);
    }
    rounds.clear();
    rooms.clear();
  }

  @Override
  public void waits(List<Wait> out) {
    for (SyncRounds.Round r : rounds.all()) {
      List<Wait.Peer> peers = trainers.missing(t -> t.nextStep() <= r.step);
      if (peers.isEmpty()) {
        peers = List.of(Wait.Peer.named(r == rounds.first() && isApplying() ? "the round, which is being applied"
            : "pulls that are being answered, or the round before"));
      }
      for (SyncRounds.Owed o : r.owed) {
        for (Contributor c : o.contributors()) {
          out.add(new Wait("trainer " + c.rank(), "push of step " + r.step, job.where, o.sinceMillis(), peers));
        }
      }
    }
  }
}
