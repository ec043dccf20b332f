package io.regatta.parameterserver;

import io.regatta.core.exchange.RegisteredTrainer;
import io.regatta.core.exchange.Wait;
import io.regatta.core.shard.ParameterShard;
import io.regatta.protocol.parameterserver.JobStatus;
import io.regatta.protocol.parameterserver.ParkedCall;
import io.regatta.protocol.parameterserver.ShardStatus;
import io.regatta.protocol.parameterserver.TableCounts;
import io.regatta.protocol.parameterserver.TrainerStatus;
import io.regatta.protocol.parameterserver.WaitedFor;

/**
 * A converter of a shard's state to the message that {@code regatta status} asks for. Used on the shard's event loop.
 */
final class StatusMessages {

  private StatusMessages() {}

  /**
   * Returns the state of a shard.
   *
   * @param job name, or empty for all
   */
  static ShardStatus of(int index, ParameterShard shard, String job, long nowMillis) {
    ShardStatus.Builder status = ShardStatus.newBuilder().setShard(index);
    for (String name : shard.jobs()) {
      if (job.isEmpty() || job.equals(name)) {
        status.addJobs(of(shard.status(name)));
        for (Wait wait : shard.waits(name)) {
          status.addWaits(wait.sentence(nowMillis)).addParked(parked(name, wait));
        }
      }
    }
    return status.build();
  }

  private static ParkedCall parked(String job, Wait wait) {
    ParkedCall.Builder parked = ParkedCall.newBuilder().setJob(job).setWho(wait.who()).setOperation(wait.operation());
    for (Wait.Peer peer : wait.waitsFor()) {
      parked.addWaitsFor(WaitedFor.newBuilder().setName(peer.name()).setLastStep(peer.lastStep())
          .setLastSeenMs(peer.lastSeenMillis()));
    }
    return parked.build();
  }

  private static JobStatus of(ParameterShard.JobStatus s) {
    JobStatus.Builder status = JobStatus.newBuilder().setJob(s.job()).setMode(s.mode().id())
        .setVersion(s.version()).setDenseSize(s.denseSize()).putAllRows(s.rows()).setStalenessMax(s.stalenessMax())
        .setStalenessSum(s.stalenessSum()).setClockLeadMax(s.clockLeadMax()).setPushes(s.pushes())
        .setSkippedPushes(s.skippedPushes()).setRepeatedPushes(s.repeatedPushes()).putAllRoundWaitMs(s.roundWaitMillis());
    status.setRefused(s.refused());
    s.counts().forEach((table, c) -> status.putTables(table, TableCounts.newBuilder().setBirths(c.births())
        .setNotAdmittedPulls(c.notAdmittedPulls()).setDroppedGradients(c.droppedGradients())
        .setShrunkByScore(c.shrunkByScore()).setShrunkUnseen(c.shrunkUnseen()).setExpired(c.expired())
        .setEvicted(c.evicted()).setAdmitted(c.admitted()).setShrinks(c.shrinks()).setAged(c.aged())
        .setRestored(c.restored()).setRefused(c.refused()).build()));
    for (RegisteredTrainer t : s.trainers()) {
      status.addTrainers(TrainerStatus.newBuilder().setRank(t.rank()).setIncarnation(t.incarnation())
          .setState(t.state()).setLastStep(t.lastStep()).setLastSeenMs(t.lastSeenMillis()));
    }
    return status.build();
  }
}
