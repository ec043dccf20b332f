package io.regatta.training.run;

import com.google.protobuf.Message;
import io.regatta.core.client.ParameterClient;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.reduce.Elementwise;
import io.regatta.data.Layout;
import io.regatta.data.Parcel;
import io.regatta.protocol.gather.ElectionResult;
import io.regatta.protocol.gather.ResumeStep;
import io.regatta.protocol.tensor.ShrinkAck;
import io.regatta.training.config.JobConfig;
import io.regatta.training.replica.ReplicaGroup;
import io.regatta.training.session.RankCalls;
import io.regatta.training.session.RankOperations;
import io.regatta.training.session.TrainerSession;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.LongFunction;
import java.util.function.Supplier;

/**
 * The operations that the ranks of a job do together outside of steps. One per rank; called by the leader of the
 * replicas' meeting, one at a time, in the order of the meetings.
 *
 * <p>While a rank is here it sits out. If steps wait for each other (sync and ssp mode, and half-async with an
 * aggregator), it tells the shards so, and no step waits for it. In collective mode it takes part in the others' steps
 * without examples. Otherwise a rank with fewer steps would wait here for one that waits for its pushes.
 *
 * <p>When all have arrived, they continue from the highest step among them and the shards. The shards may be ahead: a
 * rank that was lost or left meanwhile may have made steps alone, and not on every shard.
 */
final class RankCollectives {

  private final TrainerSession session;
  private final ReplicaGroup group;
  private final RankCalls calls;
  private long number;
  private long shrinks;

  RankCollectives(TrainerSession session, ReplicaGroup group) {
    this.session = session;
    this.group = group;
    calls = session.calls();
  }

  /**
   * Reduces all active ranks' values in rank order to one array of the same length; the whole array is of the same
   * ranks.
   */
  double[] reduce(String operation, Elementwise how, double[] values) {
    joinOthersSteps(operation);
    String key = operation + "-" + number++;
    if (!sitsOut()) {
      return calls.reduce(operation, key, how, values);
    }
    ParameterClient client = session.client().orElseThrow();
    session.await(operation, client.sitOut());
    double[] all = calls.reduce(operation, key, how, values);
    String back = "return from " + operation;
    long open = session.await(back, client.register());
    ResumeStep mine = ResumeStep.newBuilder().setStep(Math.max(open, group.steps().made())).build();
    long resume = calls.gather(back, key + "/resume", mine).stream().mapToLong(ResumeStep::getStep).max().orElseThrow();
    session.await(back, client.takePartFrom(resume));
    group.steps().resumeAt(resume);
    return all;
  }

  /**
   * Takes part in the others' steps first. In an elastic job a call in the middle of a pass is refused. Ranks that
   * join, or have fewer batches than others, would not reach the same call. A pass that ended for all with the first
   * one's call would leave examples untrained.
   */
  private void joinOthersSteps(String operation) {
    session.ranks().ifPresent(ranks -> refuseWithinPass(operation, ranks));
    group.joinOthersSteps();
  }

  private void refuseWithinPass(String operation, RankOperations ranks) {
    JobConfig job = session.job();
    boolean enough = job.maxSteps() > 0 && group.steps().steps() >= job.maxSteps();
    if (!enough && !ranks.passes().next().isEmpty()) {
      throw new InvalidInput("job " + job.job() + " is elastic, and the program of trainer " + ranks.peers().rank()
          + " calls " + operation + " in the middle of a pass, with " + ranks.passes().left() + " of its examples not "
          + "trained; call it after the pass, once its iterator has no more batches, and end passes early by max_steps");
    }
  }

  /**
   * Sends every rank its batches and returns those of all; see {@link TrainerSession#exchange}. It begins when all
   * ranks have arrived; until then the steps of the others do not wait for this one.
   */
  List<List<Parcel>> exchange(String operation, Layout layout, List<List<Parcel>> outgoing) {
    if (session.isElastic()) {
      throw new InvalidInput("job " + session.job().job() + " is elastic: its trainers join and leave, and cannot keep examples that they "
          + "have exchanged; remove data.global_shuffle, or " + session.job().elasticBy());
    }
    reduce("start of " + operation, Reduction.elementwise(ReduceOp.SUM), new double[0]);
    return session.await(operation, session.exchange(operation + "-" + number++, layout, outgoing));
  }

  /**
   * Runs an operation on the lowest rank for all, as {@link RankCalls#byTheLowest}. All come from another call, so no
   * rank trains meanwhile.
   */
  Optional<ElectionResult> byTheLowest(String operation, Supplier<ElectionResult> deed) {
    return byTheLowest(operation, true, deed);
  }

  /**
   * Runs an operation on the lowest of the ranks that can.
   *
   * @param able true if this rank can
   * @return empty if no rank can
   */
  Optional<ElectionResult> byTheLowest(String operation, boolean able, Supplier<ElectionResult> deed) {
    return calls.byTheLowest(operation, operation + "-" + number++, able, deed);
  }

  /**
   * Requests the job's next shrink on the lowest rank; a rank that replaces a lost one repeats the same request.
   *
   * @param done true if the run has done it before it resumed, so that it is not requested again
   */
  Shrunk shrink(BooleanSupplier done, LongFunction<Shrunk> ask) {
    Optional<ShrinkAck> result = byTheLowest("shrink", () -> {
      Shrunk s = done.getAsBoolean() ? null : ask.apply(shrinks + 1);
      return s == null ? ElectionResult.getDefaultInstance() : ElectionResult.newBuilder().setShrunk(ShrinkAck.newBuilder()
          .setByScore(s.byScore()).setUnseen(s.unseen()).setExpired(s.expired()).setLeft(s.left())).build();
    }).filter(ElectionResult::hasShrunk).map(ElectionResult::getShrunk);
    if (result.isEmpty()) {
      return Shrunk.NONE;
    }
    shrinks++;
    ShrinkAck all = result.get();
    return new Shrunk(all.getByScore(), all.getUnseen(), all.getExpired(), all.getLeft());
  }

  /** Gathers all active ranks' messages in rank order, as the last call: the rank does not return to training. */
  <M extends Message> List<M> gatherLast(String operation, M mine) {
    joinOthersSteps(operation);
    if (sitsOut()) {
      session.await(operation, session.client().orElseThrow().sitOut());
    }
    return calls.gather(operation, operation, mine);
  }

  private boolean sitsOut() {
    return session.worldSize() > 1 && !session.isCollective()
        && session.client().filter(c -> c.job().mode().waitsForOthers(session.job().aggregator())).isPresent();
  }
}
