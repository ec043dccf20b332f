package io.regatta.trainer.service;

import io.regatta.collective.Membership;
import io.regatta.core.error.RegattaException;
import io.regatta.core.exchange.Wait.Peer;
import io.regatta.node.Node;
import io.regatta.node.address.HostPort;
import io.regatta.node.admin.Waits;
import io.regatta.trainer.config.GpuAssignment;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.session.Awaiting;
import io.regatta.trainer.session.ElasticRankSession;
import io.regatta.trainer.trace.StepTrace;
import io.vertx.core.Future;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/** One trainer of an elastic job, over its {@link RankMesh}. */
final class ElasticSession extends ElasticRankSession implements OwnedSession {

  private final Node node;
  private final long stepDelayMillis;
  private final RankMesh mesh;
  private final Map<String, Long> processIds;
  private final Awaiting awaiting = new Awaiting();
  private volatile long step;

  ElasticSession(Node node, JobConfig job, long stepDelayMillis, RankMesh mesh, Map<String, Long> processIds) {
    super(job, mesh, StepTrace.of(mesh.clock(), job.trace(), mesh.rank(), job.trainers()));
    this.node = node;
    this.stepDelayMillis = stepDelayMillis;
    this.mesh = mesh;
    this.processIds = processIds;
  }

  @Override
  public int localRank() {
    Membership place = mesh.place();
    return GpuAssignment.localRank(place.endpoints().stream().map(of -> HostPort.parse(of, "endpoint").host()).toList(),
        place.rank());
  }

  @Override
  public List<String> workerEndpoints() {
    return mesh.place().endpoints();
  }

  @Override
  public <T> T await(String operation, CompletionStage<T> stage) {
    try (Waits.Handle wait = node.waits().begin("trainer " + mesh.rank(), operation, "job " + job().job(),
        () -> Future.succeededFuture(List.of(Peer.named("the other trainers"))))) {
      return awaiting.await(operation + " of trainer " + mesh.rank() + " of job " + job().job(), stage);
    }
  }

  @Override
  public void stepped(long made) {
    step = made;
    if (stepDelayMillis > 0) { // on a model thread
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(stepDelayMillis));
    }
  }

  @Override
  public long step() {
    return step;
  }

  @Override
  public void ending() {
    mesh.ending();
  }

  @Override
  public Map<String, Long> serviceProcessIds() {
    return processIds;
  }

  @Override
  public void end(RegattaException reason) {
    awaiting.end(reason);
  }
}
