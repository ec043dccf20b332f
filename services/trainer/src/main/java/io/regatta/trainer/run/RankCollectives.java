package io.regatta.trainer.run;

import com.google.protobuf.Message;
import io.regatta.core.client.ParameterClient;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.reduce.Elementwise;
import io.regatta.protocol.gather.ElectionResult;
import io.regatta.protocol.gather.ResumeStep;
import io.regatta.protocol.tensor.ShrinkAck;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.data.Layout;
import io.regatta.trainer.data.Parcel;
import io.regatta.trainer.replica.ReplicaGroup;
import io.regatta.trainer.session.RankCalls;
import io.regatta.trainer.session.RankOperations;
import io.regatta.trainer.session.TrainerSession;
import java.util.List;
import java.util.Optional;
import java.util.function.BooleanSupplier;
import java.util.function.LongFunction;
import java.util.function.Supplier;

/**
 * What the ranks of a job do together outside of steps. While a rank is in here it sits out: where steps wait for each
 * other (sync and ssp mode, and half-async behind an aggregator) it tells the shards so, and nobody's step waits for
 * it (in collective mode it takes part in them without examples); otherwise a rank with fewer steps would wait here for one that waits for its pushes. When all have come,
 * everybody goes on from the highest step among them and the shards, which may be further: a rank that has died or left
 * meanwhile may have made steps alone, and not at every shard. One per rank; called by the leader of the replicas'
 * meeting, one at a time, which the meeting orders.
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

  /** All active ranks' values, reduced in rank order to one array of the same length; all of it from the same ranks. */
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
   * The others' steps come first. In an elastic job a call in the middle of a pass is refused: of ranks that come, or
   * have fewer batches than others, the programs do not get to the same place, and a pass that ended for all with the
   * first one's call would leave examples untrained.
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
          + "trained; call it behind the pass, once its iterator has no more batches, and end passes early by max_steps");
    }
  }

  /**
   * Gives every rank its parcels and gets those of all; see {@link TrainerSession#exchange}. It begins when all ranks have
   * come, and until then the steps of the others do not wait for this one.
   */
  List<List<Parcel>> exchange(String operation, Layout layout, List<List<Parcel>> outgoing) {
    if (session.isElastic()) {
      throw new InvalidInput("job " + session.job().job() + " is elastic: its trainers come and go, and cannot keep examples that they "
          + "have exchanged; take data.global_shuffle out, or " + session.job().elasticBy());
    }
    reduce("start of " + operation, Reduction.elementwise(ReduceOp.SUM), new double[0]);
    return session.await(operation, session.exchange(operation + "-" + number++, layout, outgoing));
  }

  /**
   * Has the lowest rank do something for all, as {@link RankCalls#byTheLowest}. All come from another call: nobody
   * trains meanwhile.
   */
  Optional<ElectionResult> byTheLowest(String operation, Supplier<ElectionResult> deed) {
    return byTheLowest(operation, true, deed);
  }

  /**
   * The same by the lowest of those that can.
   *
   * @param able whether this rank can
   * @return nothing if no rank can
   */
  Optional<ElectionResult> byTheLowest(String operation, boolean able, Supplier<ElectionResult> deed) {
    return calls.byTheLowest(operation, operation + "-" + number++, able, deed);
  }

  /**
   * Has the lowest rank ask for the job's next shrink; whoever makes up for a lost one asks for the same again.
   *
   * @param done whether it is one that the run has behind it, which is not asked for again
   */
  Shrunk shrink(BooleanSupplier done, LongFunction<Shrunk> ask) {
    Optional<ShrinkAck> told = byTheLowest("shrink", () -> {
      Shrunk s = done.getAsBoolean() ? null : ask.apply(shrinks + 1);
      return s == null ? ElectionResult.getDefaultInstance() : ElectionResult.newBuilder().setShrunk(ShrinkAck.newBuilder()
          .setByScore(s.byScore()).setUnseen(s.unseen()).setExpired(s.expired()).setLeft(s.left())).build();
    }).filter(ElectionResult::hasShrunk).map(ElectionResult::getShrunk);
    if (told.isEmpty()) {
      return Shrunk.NONE;
    }
    shrinks++;
    ShrinkAck all = told.get();
    return new Shrunk(all.getByScore(), all.getUnseen(), all.getExpired(), all.getLeft());
  }

  /** All active ranks' messages in rank order, as the last thing: the rank does not come back to training. */
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
