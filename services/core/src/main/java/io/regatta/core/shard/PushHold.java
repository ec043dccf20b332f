package io.regatta.core.shard;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.PushMark;
import io.regatta.core.exchange.Wait;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.function.Function;

/**
 * Pushes that wait at one shard of a job without rounds while a snapshot is taken, so that it contains the same pushes of each trainer
 * at every shard. First every shard lets those end that have begun, and tells which came last; then each lets those in that another shard
 * has, takes its moment, and lets all in. A push that cannot end, for its trainer is lost or stalled, must not hold the others: whoever
 * began the hold ends it after some time. Owned by the shard's thread.
 */
final class PushHold {

  private record Held(Push push, long sinceMillis, BiConsumer<PushAck, Throwable> done) {}

  private final JobState job;
  private final int limit;
  private boolean on;
  /** Rank that leaves, whose pushes are let in; -1: none. */
  private int leaving = -1;
  private BiConsumer<List<PushMark>, Throwable> drained;
  private List<PushMark> upTo = List.of();
  private List<Held> held = new ArrayList<>();

  /** @param limit how many pushes of one trainer may wait */
  PushHold(JobState job, int limit) {
    this.job = job;
    this.limit = limit;
  }

  /** Begins the hold, or begins it anew; answers with the last push of each trainer when no push is under way. */
  void begin(BiConsumer<List<PushMark>, Throwable> done) {
    fail("another one has begun");
    on = true;
    upTo = List.of();
    drained = done;
    settle();
  }

  /** Returns true between {@link #begin} and {@link #end}. */
  boolean isOn() {
    return on;
  }

  /** Lets in what other shards have already. */
  void upTo(List<PushMark> marks) {
    upTo = marks;
    readmit();
  }

  /** Something has changed: a push may have ended. */
  void settle() {
    if (drained != null && isQuiet()) {
      BiConsumer<List<PushMark>, Throwable> done = drained;
      drained = null;
      job.completions.value(done, job.trainers.active().stream()
          .map(t -> new PushMark(t.rank, t.incarnation, t.lastSequence)).toList());
    }
  }

  /** Returns true if no push is under way, and those up to the marks have come, as far as their trainers still live. */
  boolean isReached() {
    return isQuiet() && upTo.stream().allMatch(mark -> {
      TrainerState t = job.trainers.find(mark.rank(), mark.incarnation());
      return t == null || !t.active() || t.lastSequence >= mark.sequence();
    });
  }

  private boolean isQuiet() {
    return job.pushes.isEmpty() && !job.trainers.anyUnderWay();
  }

  /** Returns true if this push has to wait: it is new, and no other shard has it. */
  boolean keeps(Push push) {
    return on && push.contributors().stream().noneMatch(of -> of.rank() == leaving) && job.trainers.underWay(push) == null
        && !push.contributors().stream().allMatch(this::isLetIn);
  }

  private boolean isLetIn(Contributor of) {
    TrainerState t = job.trainers.find(of.rank(), of.incarnation());
    return t == null || of.sequence() <= t.lastSequence || upTo.stream().anyMatch(mark -> mark.rank() == of.rank()
        && mark.incarnation() == of.incarnation() && of.sequence() <= mark.sequence());
  }

  /** Keeps a push until the end of the hold. */
  void keep(Push push, long nowMillis, BiConsumer<PushAck, Throwable> done) {
    if (held.stream().filter(h -> sharesTrainer(h.push, push)).count() >= limit) {
      throw new Overloaded(PushCheck.name(push) + " refused: " + limit + " pushes of its trainers wait at " + job.where
          + " for a snapshot to be taken, the limit for each; wait for acknowledgements");
    }
    held.add(new Held(push, nowMillis, done));
  }

  private static boolean sharesTrainer(Push a, Push b) {
    return a.contributors().stream().anyMatch(of -> b.contributors().stream().anyMatch(other -> other.rank() == of.rank()));
  }

  /** Ends the hold: the moment has been taken, or will not be. */
  void end() {
    on = false;
    upTo = List.of();
    fail("it has been given up");
    readmit();
  }

  private void fail(String why) {
    if (drained != null) {
      job.completions.error(drained, new Overloaded("pushes under way at " + job.where + " have not come to their end for a snapshot: "
          + why));
      drained = null;
    }
  }

  private void readmit() {
    List<Held> waiting = held;
    held = new ArrayList<>();
    for (Held h : waiting) {
      try {
        job.push(h.push, h.done);
      } catch (RuntimeException | Error e) {
        h.push.release();
        job.completions.error(h.done, e);
      }
    }
  }

  /** A trainer leaves: what it has pushed came before. That may be what the moment waited for, and so end the hold. */
  void letIn(int rank) {
    leaving = rank;
    readmit();
    leaving = -1;
  }

  /** Fails all that is here. */
  void giveUp(Function<String, RegattaException> why) {
    on = false;
    fail("the job has ended here");
    held.forEach(h -> {
      h.push.release();
      job.completions.error(h.done, why.apply(PushCheck.name(h.push) + " at " + job.where + " given up"));
    });
    held.clear();
  }

  void waits(List<Wait> out) {
    for (Held h : held) {
      for (Contributor of : h.push.contributors()) {
        out.add(new Wait("trainer " + of.rank(), "push of step " + h.push.step(), job.where, h.sinceMillis,
            List.of(Wait.Peer.named("the moment of a snapshot"))));
      }
    }
  }
}
