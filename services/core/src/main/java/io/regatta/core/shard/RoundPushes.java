package io.regatta.core.shard;

import io.regatta.core.error.RegattaException;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.Wait;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * The pushes of one job on one shard in sync mode, kept in the round of their step. A round closes when all its pushes
 * are there, over several time slices if it is large. While a round is being closed, its values can be neither seen nor
 * changed. No round begins to close while a pull is being answered. Owned by the shard's thread.
 */
final class RoundPushes implements PushHandler {

  private final SyncRounds rounds = new SyncRounds();
  private final JobState job;
  private final PushCheck check;
  private final Map<Integer, Long> waitMillis = new TreeMap<>();
  /** Room to sum the rows of each table in, for the round that is being closed. */
  private final Map<String, RowRoom> rooms = new HashMap<>();

  RoundPushes(JobState job) {
    this.job = job;
    check = job.check;
  }

  /** Returns the step of the first round that has not closed. */
  long next() {
    return rounds.next();
  }

  /** Makes the round of this step the first one: those before it are in the values that the job has been given. */
  void resumeAt(long step) {
    rounds.skipTo(step);
  }

  /** Returns the first round that a new trainer can take part in. */
  long firstToJoin() {
    return rounds.next() + (closing() ? 1 : 0);
  }

  /** Returns an upper bound of the rows that open rounds may still create. */
  long births() {
    return rounds.births();
  }

  /** Returns the total time, by rank, that closed rounds waited for it after their first push. */
  Map<Integer, Long> waitMillis() {
    return Map.copyOf(waitMillis);
  }

  @Override
  public RowCheck check(Push push, List<TrainerState> from, String who) {
    fits(push, from, who);
    check.shapes(push, who);
    return new RowCheck(job.tables, check, job.rowLimit, push, push.sparse(), who);
  }

  private void fits(Push push, List<TrainerState> from, String who) {
    check.takePart(from, who);
    check.round(push, from, who);
    check.order(push, who);
  }

  @Override
  public PushApplication take(Push push, List<TrainerState> from, String who, RowCheck checked, long sinceMillis,
      BiConsumer<PushAck, Throwable> done) {
    fits(push, from, who);
    boolean skip = checked.bad() != null;
    if (skip) {
      check.nanPolicy(who, checked.bad());
      push.release();
      job.counts.skipped++;
    } else {
      job.rowLimit.check(checked.births(), who, push.sparse(), SparseRows::table);
    }
    job.takenIn(push, from);
    from.forEach(t -> t.clock++);
    SyncRounds.Round r = rounds.at(push.step());
    r.pushes.add(skip ? weightless(push) : push);
    r.births += skip ? 0 : checked.births();
    from.forEach(t -> r.arrivals.add(new long[] {t.rank, sinceMillis}));
    r.owed.add(new SyncRounds.Owed(push.contributors(), false, skip, sinceMillis, done));
    return null;
  }

  /** Answers a repeated push together with its round; returns false if that round is not open. */
  boolean owe(Push repeated, BiConsumer<PushAck, Throwable> done) {
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

  /** Closes the rounds that are complete, unless a pull is being answered. */
  void close() {
    while (!closing() && !job.broken() && !job.pulls.gathering() && !job.snapshots.isDue() && complete()) {
      try {
        job.turns.start(new Closing(rounds.first(), job.nextUpdate()));
      } catch (RuntimeException | Error e) {
        job.breakDown(during(rounds.first()), e);
      }
    }
    if (!closing() && rounds.first() == null) {
      job.skipUpdates(rounds.skipTo(job.trainers.minNextStep(rounds.next())));
    }
  }

  /** Returns true if a round is being closed: values and its pushes can be neither seen nor changed. */
  boolean closing() {
    return job.turns.any(Closing.class);
  }

  /**
   * Returns true if a round is complete and waits only for pulls that were begun before; no other pull may begin
   * meanwhile.
   */
  boolean waitsForPulls() {
    return job.pulls.gathering() && !closing() && complete();
  }

  /** Returns true if all pushes of the next round are there. */
  private boolean complete() {
    return rounds.first() != null && job.trainers.noneMissing(t -> t.nextStep <= rounds.next());
  }

  private static String during(SyncRounds.Round round) {
    return "the round of step " + round.step;
  }

  /** The closing of a round, as work that is spread over time slices. */
  private final class Closing implements SlicedWork {
    private final RoundClosing closing;
    private boolean whole;

    Closing(SyncRounds.Round round, long update) {
      closing = new RoundClosing(round, job.tables, update, table -> rooms.computeIfAbsent(table, t -> new RowRoom()));
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
        closing.round.pushes.forEach(job::contains);
        closing.round.pushes.forEach(Push::release);
        rooms.values().forEach(RowRoom::done);
        rounds.close();
        job.pulls.release(); // also if the next round is complete: none of them waits for more than one
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
        job.counts.pushes++;
      }
      job.completions.value(o.done(), new PushAck(job.version(), 0, o.repeatedPush(), o.skippedPush()));
    }
  }

  /** Acknowledges the round that is being closed, because the job is being freed: the round was complete. */
  void acknowledgeClosing() {
    if (closing()) {
      acknowledge(rounds.first());
    }
  }

  /** Fails the acknowledgements that are owed. */
  void giveUp(Function<String, RegattaException> why) {
    for (SyncRounds.Round r : rounds.all()) {
      RegattaException reason = why.apply("push of step " + r.step + " at " + job.where + " given up");
      r.owed.forEach(o -> job.completions.error(o.done(), reason));
      r.pushes.forEach(Push::release);
    }
    rounds.clear();
    rooms.clear();
  }

  void waits(List<Wait> out) {
    for (SyncRounds.Round r : rounds.all()) {
      List<Wait.Peer> peers = job.trainers.missing(t -> t.nextStep <= r.step);
      if (peers.isEmpty()) {
        peers = List.of(Wait.Peer.named(r == rounds.first() && closing() ? "the round, which is being applied"
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
