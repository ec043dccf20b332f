package io.regatta.core.shard.internal.push;

import io.regatta.core.error.RegattaException;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.Wait;
import io.regatta.core.shard.internal.job.JobContext;
import io.regatta.core.shard.internal.job.SlicedWork;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The processing of one push from its arrival to its end, which can be spread over time slices. The push is checked as
 * a whole, then taken in, and outside of rounds applied. Owned by the shard's thread.
 */
final class PushUnderWay implements SlicedWork {

  private final JobPushes pushes;
  private final JobContext job;
  private final Push push;
  private final String who;
  private final long sinceMillis;
  /**
   * Null if nobody waits for this: its dense elements have not arrived, and it is not taken in but applied as far as it
   * is here.
   */
  private final CompletableFuture<PushAck> done;
  private long number;
  private List<TrainerState> from;
  private RowCheck check;
  /** The application outside of rounds, once it has been taken in. */
  private PushApplication application;

  /** Creates the processing of a push of which nothing has been examined. */
  PushUnderWay(JobPushes pushes, Push push, CompletableFuture<PushAck> done) {
    this.pushes = pushes;
    job = pushes.job;
    this.push = push;
    who = PushCheck.name(push);
    sinceMillis = job.nowMillis();
    this.done = done;
  }

  /** Creates the processing of a push that has been checked as far as it has arrived, and has begun. */
  PushUnderWay(JobPushes pushes, Push known, PushApplication begun) {
    this(pushes, known, (CompletableFuture<PushAck>) null);
    application = begun;
  }

  @Override
  public long advance(long floats) {
    long left = floats;
    try {
      if (application == null) {
        if (check == null && !begin()) {
          return left;
        }
        left = check.advance(left);
        if (left < 0) {
          return -1;
        }
        if (check.outdated()) {
          check = null;
          return -1;
        }
        application = takeIn();
      }
    } catch (RuntimeException | Error e) { // a refusal, or no memory: nothing has changed
      push.release();
      completeWith(e);
      return Math.max(0, left);
    }
    return application == null ? left : apply(left);
  }

  /** Checks the contributors and whether there is anything to take in; returns true if there is. */
  private boolean begin() {
    from = pushes.contributors(push, who);
    if (pushes.answered(push, from, who, done)) {
      return false;
    }
    check = pushes.strategy.check(push, from, who);
    return true;
  }

  private PushApplication takeIn() {
    if (pushes.answered(push, from, who, done)) { // taken in over another stream meanwhile
      return null;
    }
    from = pushes.contributors(push, who);
    return pushes.strategy.take(push, from, who, check, sinceMillis, done);
  }

  private long apply(long floats) {
    try {
      long left = application.advance(push, floats);
      if (left >= 0 && done != null) {
        push.release();
        pushes.applied(application, push, from, done);
      }
      return left;
    } catch (RuntimeException | Error e) {
      push.release();
      completeWith(job.breakDown(who, e));
      return 0;
    }
  }

  private void completeWith(Throwable e) {
    if (done != null) {
      job.completions.error(done, e);
    }
  }

  /** Returns its number among those that have been queued; 0 before. */
  long number() {
    return number;
  }

  void number(long n) {
    number = n;
  }

  /** Returns true if this is a whole push, and not the beginning of one. */
  boolean isWaitedFor() {
    return done != null;
  }

  /** Returns true if one of that push's trainers has a gradient in this one. */
  boolean sharesTrainer(Push other) {
    return other.contributors().stream().anyMatch(c -> isOf(c.rank()));
  }

  /** Returns true if this holds a gradient of that rank. */
  boolean isOf(int rank) {
    return push.contributors().stream().anyMatch(c -> c.rank() == rank);
  }

  PushApplication application() {
    return application;
  }

  /** Fails the push: the job is being freed, or has broken. */
  void giveUp(RegattaException why) {
    push.release();
    completeWith(why);
  }

  String name() {
    return who;
  }

  @Override
  public void waits(List<Wait> out) {
    if (done == null) {
      return;
    }
    String what = application == null ? "the check of what it holds" : "its rows to be applied";
    for (Contributor c : push.contributors()) {
      out.add(new Wait("trainer " + c.rank(), "push of step " + push.step(), job.where, sinceMillis,
          List.of(Wait.Peer.named(what))));
    }
  }
}
