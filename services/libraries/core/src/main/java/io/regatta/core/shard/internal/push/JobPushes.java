package io.regatta.core.shard.internal.push;

import io.regatta.core.dense.DenseSink;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.shard.ParameterShard;
import io.regatta.core.shard.internal.job.JobContext;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/**
 * The pushes of one job on one shard, from their arrival to their acknowledgement. Repetitions and announcements are
 * answered here; everything else is handed to the strategy of the job's mode. Owned by the shard's thread.
 */
public final class JobPushes {

  final JobContext job;
  final ShardStrategy strategy;
  private final Trainers trainers;
  private final PushCheck check;
  private final PushQueue queue;
  private final PushHold hold;

  /**
   * Creates the handling of a job's pushes.
   *
   * @param queue the pushes that did not fit their time slice
   * @param hold the pushes that wait for a snapshot
   */
  public JobPushes(JobContext job, ShardStrategy strategy, Trainers trainers, PushCheck check, PushQueue queue, PushHold hold) {
    this.job = job;
    this.strategy = strategy;
    this.trainers = trainers;
    this.check = check;
    this.queue = queue;
    this.hold = hold;
  }

  /**
   * Takes a push in, or refuses it; see {@link ParameterShard#push}.
   *
   * @return false if it waits for a snapshot, so that nothing has changed
   */
  public boolean push(Push push, CompletableFuture<PushAck> done) {
    if (hold.keeps(push)) {
      hold.keep(push, done);
      return false;
    }
    boolean behind = queue.holdsAnyOf(push) || strategy.appliesOneAtATime() && !queue.isEmpty();
    queue.checkRoom(push);
    queue.add(new PushUnderWay(this, push, done), behind);
    return true;
  }

  /** Begins a push that has come in part; see {@link ParameterShard#begin}. */
  public DenseSink begin(Push known, int denseSize) {
    String who = PushCheck.name(known);
    List<TrainerState> from = contributors(known, who);
    if (!strategy.mayBegin(known) || known.sitsOut() || hold.keeps(known)
        || queue.holdsAnyOf(known) || check.repeated(known, from, who)) {
      return null;
    }
    PushApplication begun = strategy.begin(known, from, who, denseSize);
    if (begun == null) {
      return null;
    }
    queue.add(new PushUnderWay(this, known, begun), false);
    job.checkWhole(); // or it has failed in its middle
    return begun.sink(denseSize);
  }

  /**
   * Returns the trainers whose gradients are in a push: live ones, but in a push that has begun also those lost
   * meanwhile.
   */
  List<TrainerState> contributors(Push push, String who) {
    PushApplication begun = trainers.underWay(push);
    return begun == null ? check.contributors(push, who) : begun.from();
  }

  /** See {@link ParameterShard#isRepeated}. */
  public boolean isRepeated(Push push) {
    return !push.contributors().isEmpty() && push.contributors().stream().allMatch(c -> {
      TrainerState t = trainers.find(c.rank(), c.incarnation());
      return t != null && t.active() && c.sequence() <= t.lastSequence();
    });
  }

  /**
   * Answers a push that holds nothing to be taken in: a repetition, or an announcement that its trainers sit out.
   *
   * @return whether it was answered
   */
  boolean answered(Push push, List<TrainerState> from, String who, CompletableFuture<PushAck> done) {
    if (check.repeated(push, from, who)) {
      push.release();
      job.counts.repeat();
      from.forEach(t -> t.seen(job.nowMillis()));
      if (!strategy.owe(push, done)) {
        job.completions.value(done, new PushAck(job.version(), 0, true, false));
      }
      return true;
    }
    if (!push.sitsOut()) {
      return false;
    }
    check.empty(push, who);
    trainers.sitOut(push, from, job.nowMillis());
    job.completions.value(done, new PushAck(job.version(), 0, false, false));
    return true;
  }

  /** Acknowledges a push outside of rounds, all of which has been applied. */
  void applied(PushApplication a, Push push, List<TrainerState> from, CompletableFuture<PushAck> done) {
    trainers.count(from);
    trainers.contains(push);
    if (a.skipped()) {
      job.counts.skip();
    }
    if (a.isUpdate()) {
      job.counts.apply(a.staleness());
    }
    job.completions.value(done, new PushAck(job.version(), a.staleness(), false, a.skipped()));
  }
}
