package io.regatta.heterworker;

import static io.regatta.node.testing.Conditions.awaitTrue;
import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.exchange.Wait;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.heterworker.RunningWorkers.Member;
import io.regatta.heterworker.RunningWorkers.Trainer;
import io.regatta.node.directory.Directory;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.node.testing.LeftoverThreads;
import io.regatta.node.testing.LogLines;
import io.regatta.protocol.client.HealthClient;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.heterworker.HeterWorkerGrpcService;
import io.regatta.protocol.stream.Transport;
import io.regatta.protocol.tensor.WorkerLoad;
import io.vertx.core.Future;
import io.vertx.core.net.NetServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Heter workers with real streams; the oracle of a batch is the part that computes its input times 2. */
@ExtendWith(BlockedLoopGuard.class)
class HeterWorkerVerticleTest {

  private static final TrainerId ZERO = new TrainerId(0, 1);
  private static final TrainerId ONE = new TrainerId(1, 1);
  private static final int MANY = 1_000_000;

  @ParameterizedTest
  @EnumSource(Transport.class)
  void computesBatchesOfTwoTrainers(Transport transport) {
    LeftoverThreads threads = LeftoverThreads.snapshot();
    try (RunningWorkers workers = new RunningWorkers(transport, 60_000)) {
      PartStandIn part = new PartStandIn(MANY, null);
      HeterWorkerVerticle worker = workers.started(part);
      List<Trainer> trainers = List.of(workers.opened(worker, ZERO), workers.opened(worker, ONE));
      for (long number = 1; number <= 5; number++) {
        List<Future<ComputedBatch>> results = new ArrayList<>();
        for (Trainer trainer : trainers) {
          results.add(trainer.compute(number, 1 + 300 * (int) number)); // chunks smaller than the tensors
        }
        for (Future<ComputedBatch> result : results) {
          assertThat(TestBatches.output(get(result))).isEqualTo(2f * number);
          assertThat(result.result().head().getLoad().getTrainers()).isEqualTo(2);
        }
      }
      assertThat(part.computed()).isEqualTo(10);
    }
    threads.assertNone();
  }

  /** As many as wait are gathered, up to the job's max_batch of 100 examples. */
  @Test
  void gathersWaitingBatchesOfSeveralTrainers() throws Exception {
    try (RunningWorkers workers = new RunningWorkers()) {
      PartStandIn part = new PartStandIn(0, null);
      HeterWorkerVerticle worker = workers.started(part);
      Trainer zero = workers.opened(worker, ZERO);
      Trainer one = workers.opened(worker, ONE);
      Future<ComputedBatch> first = zero.compute(TestBatches.batch(ZERO, 0, 1, 10, 3));
      awaitTrue(() -> waiting(workers) == 0 && !first.isComplete() && part.permits.hasQueuedThreads());
      get(zero.open(RunningWorkers.cut().setReplica(1).build()));
      Future<ComputedBatch> second = zero.compute(TestBatches.batch(ZERO, 1, 2, 40, 3));
      Future<ComputedBatch> third = one.compute(TestBatches.batch(ONE, 0, 5, 60, 3));
      awaitTrue(() -> waiting(workers) == 2);
      part.permits.release(2);
      assertThat(TestBatches.output(get(second))).isEqualTo(4);
      assertThat(TestBatches.output(get(third))).isEqualTo(10);
      assertThat(get(first).head().getWaitedNs()).isLessThan(get(second).head().getWaitedNs());
      assertThat(part.sizes).containsExactly(1, 2);
      assertThat(workers.node.metrics().get("regatta.heter.gathered").functionCounter().count()).isEqualTo(2);
      assertThat(workers.node.metrics().get("regatta.heter.examples").tags("job", "pair", "index", "0").functionCounter().count())
          .isEqualTo(110);
    }
  }

  private static double waiting(RunningWorkers workers) {
    return workers.node.metrics().get("regatta.heter.waiting").gauge().value();
  }

  @Test
  void dropsAndNamesTheBatchesOfATrainerThatIsCutOff_andServesTheOther() throws Exception {
    try (RunningWorkers workers = new RunningWorkers(Transport.GRPC, 60_000); LogLines lines = LogLines.of("io.regatta.heterworker")) {
      PartStandIn part = new PartStandIn(0, null);
      HeterWorkerVerticle worker = workers.started(part);
      Trainer zero = workers.opened(worker, ZERO);
      Trainer one = workers.opened(worker, ONE);
      for (int replica = 1; replica <= 2; replica++) {
        get(one.open(RunningWorkers.cut().setReplica(replica).build()));
      }
      Future<ComputedBatch> first = zero.compute(1, 4);
      awaitTrue(part.permits::hasQueuedThreads);
      one.compute(TestBatches.batch(ONE, 1, 18, 4, 0));
      one.compute(TestBatches.batch(ONE, 2, 19, 4, 0));
      awaitTrue(() -> waiting(workers) == 2);
      one.die();
      lines.await(1);
      assertThat(lines.lines()).contains("trainer 1 of job pair is lost: 2 batches of steps 17, 18 dropped");
      part.permits.release(MANY);
      get(first);
      assertThat(TestBatches.output(get(zero.compute(2, 4)))).isEqualTo(4);
      assertThat(part.computed()).isEqualTo(2);
      assertThat(workers.node.metrics().get("regatta.heter.dropped").functionCounter().count()).isEqualTo(2);
      awaitTrue(() -> zero.loads.get(zero.loads.size() - 1).equals(
          WorkerLoad.newBuilder().setTrainers(1).setHighestRank(0).build()));
      Trainer nextLife = workers.opened(worker, new TrainerId(1, 2));
      assertThat(TestBatches.output(get(nextLife.compute(1, 4)))).isEqualTo(2);
    }
  }

  /** Its pushes would go through the worker in the name of a life that the shard no longer knows. */
  @Test
  void refusesAFormerLifeThatRegistersAShard_andKeepsTheLaterOne() {
    try (RunningWorkers workers = new RunningWorkers()) {
      HeterWorkerVerticle worker = workers.started(new PartStandIn(0, null));
      NetServer silent = get(workers.vertx.createNetServer().connectHandler(socket -> { }).listen(0, "127.0.0.1"));
      get(workers.directory.register(new Directory.Instance(Directory.PARAMETER_SERVER, "silent", 0, "127.0.0.1", silent.actualPort(), 0,
          Map.of())));
      JobSpec spec = new JobSpec("pair", Mode.ASYNC, 2, 0, NanPolicy.FAIL, 1, 4, new ModelSpec(7,
          List.of(new DenseVariable("a", List.of(3))), OptimizerSpec.sgd(0.5), List.of()));
      Future<Long> later = workers.register(worker, new TrainerId(1, 5), spec);
      assertThatThrownBy(() -> get(workers.register(worker, new TrainerId(1, 4), spec))).isInstanceOf(StaleGeneration.class)
          .hasMessageContaining("trainer 1 of job pair has been replaced by a later life");
      assertThat(later.isComplete()).as("it waits for its shard").isFalse();
    }
  }

  @Test
  void endsTheStreamOfAFormerLife() {
    try (RunningWorkers workers = new RunningWorkers()) {
      HeterWorkerVerticle worker = workers.started(new PartStandIn(0, null));
      Trainer former = workers.opened(worker, new TrainerId(1, 4));
      Future<ComputedBatch> waiting = former.compute(1, 4);
      Trainer next = workers.opened(worker, new TrainerId(1, 5));
      assertThatThrownBy(() -> get(waiting)).isInstanceOf(StaleGeneration.class)
          .hasMessageContaining("trainer 1 of job pair has opened another stream");
      Trainer late = workers.trainer(worker, new TrainerId(1, 4));
      assertThatThrownBy(() -> get(late.open(RunningWorkers.cut().build()))).isInstanceOf(StaleGeneration.class);
      Trainer repeated = workers.opened(worker, new TrainerId(1, 5));
      assertThatThrownBy(() -> get(next.compute(1, 4))).isInstanceOf(StaleGeneration.class);
      assertThat(repeated.compute(1, 4).failed()).isFalse();
    }
  }

  @Test
  void refusesWhatIsNotAsAgreed_andServesTheOthers() {
    try (RunningWorkers workers = new RunningWorkers()) {
      HeterWorkerVerticle worker = workers.started(new PartStandIn(MANY, null));
      Trainer zero = workers.opened(worker, ZERO);
      assertThatThrownBy(() -> get(workers.trainer(worker, ONE).open(RunningWorkers.cut().setSeed(8).build())))
          .isInstanceOf(InvalidInput.class).hasMessageContaining("job pair: trainer 1 has seed 8, but its heter worker 7");
      assertThatThrownBy(() -> get(workers.trainer(worker, ONE).open(RunningWorkers.cut()
          .setSignature(TestBatches.DOUBLES).build())))
          .isInstanceOf(InvalidInput.class)
              .hasMessageContaining("job pair: input 0 of the part after the cut is float64 [*, 3] "
              + "at trainer 1, but float32 [*, 3] at its heter worker");
      assertThat(TestBatches.output(get(zero.compute(1, 4)))).isEqualTo(2);
      assertThatThrownBy(() -> get(workers.trainer(worker, new TrainerId(2, 1)).open(RunningWorkers.cut().build())))
          .isInstanceOf(InvalidInput.class).hasMessageContaining("trainer 2 is none of the 2 trainers of job pair");
      Trainer one = workers.opened(worker, ONE);
      assertThatThrownBy(() -> get(one.compute(TestBatches.batch(ONE, 5, 1, 4, 0)))).isInstanceOf(InvalidInput.class);
      Trainer wide = workers.opened(worker, ONE);
      assertThatThrownBy(() -> get(wide.compute(TestBatches.inputOnly(ONE)))).isInstanceOf(InvalidInput.class)
          .hasMessageContaining("trainer 1 sends no label across the cut, but the first batch of the job has label 0 float32 [*]");
      assertThat(TestBatches.output(get(zero.compute(2, 4)))).isEqualTo(4);
    }
  }

  @Test
  void refusesOneTrainerMoreThanTheLimit() {
    try (RunningWorkers workers = new RunningWorkers()) {
      HeterWorkerVerticle worker = workers.worker(workers.config(0).withLimits(
          HeterWorkerConfig.Limits.defaults().withTrainers(1)), new PartStandIn(MANY, null));
      get(workers.vertx.deployVerticle(worker));
      Trainer zero = workers.opened(worker, ZERO);
      assertThatThrownBy(() -> get(workers.trainer(worker, ONE).open(RunningWorkers.cut().build())))
          .isInstanceOf(Overloaded.class).hasMessageContaining("heter_worker.limits.trainers");
      get(zero.close(true));
      workers.opened(worker, ONE);
    }
  }

  /** Without the limit, the batches that wait would be gathered. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void holdsBatchesBeyondALimitAtTheirTrainers_andRefusesNone(boolean ofBytes) throws Exception {
    try (RunningWorkers workers = new RunningWorkers()) {
      HeterWorkerConfig.Limits limits = HeterWorkerConfig.Limits.defaults();
      PartStandIn part = new PartStandIn(0, null);
      HeterWorkerVerticle worker = workers.worker(workers.config(0).withLimits(ofBytes ? limits.withBytes(1)
          : limits.withBatches(1)), part);
      get(workers.vertx.deployVerticle(worker));
      Trainer zero = workers.opened(worker, ZERO);
      get(zero.open(RunningWorkers.cut().setReplica(1).build()));
      get(zero.open(RunningWorkers.cut().setReplica(2).build()));
      List<Future<ComputedBatch>> results = new ArrayList<>();
      for (int replica = 0; replica < 3; replica++) {
        results.add(zero.compute(TestBatches.batch(ZERO, replica, replica + 1, 30, 3)));
      }
      awaitTrue(part.permits::hasQueuedThreads);
      part.permits.release(MANY);
      for (int replica = 0; replica < 3; replica++) {
        assertThat(TestBatches.output(get(results.get(replica)))).isEqualTo(2f * (replica + 1));
      }
      assertThat(part.sizes).containsExactly(1, 1, 1);
    }
  }

  @Test
  void endsWithItsJob() {
    try (RunningWorkers workers = new RunningWorkers()) {
      HeterWorkerVerticle worker = workers.started(new PartStandIn(MANY, null));
      List<Member> members = workers.members();
      List<Trainer> trainers = members.stream().map(member -> workers.opened(worker, member.id)).toList();
      get(trainers.get(0).compute(1, 4));
      for (int rank = 0; rank < 2; rank++) {
        assertThat(worker.finished().isComplete()).isFalse();
        get(trainers.get(rank).close(true));
        members.get(rank).leave(true);
      }
      assertThat(get(worker.finished())).isEqualTo("heter worker 0 ends: the trainers of job pair have ended "
          + "(heter_worker.lifetime=endless keeps it)");
    }
  }

  @Test
  void failsWithItsJob_whenNoTrainerSucceeds() {
    try (RunningWorkers workers = new RunningWorkers()) {
      HeterWorkerVerticle worker = workers.started(new PartStandIn(0, null));
      List<Member> members = workers.members();
      assertThatThrownBy(() -> get(workers.trainer(worker, members.get(0).id).open(RunningWorkers.cut().setSeed(8).build())))
          .as("one that was refused counts as well").isInstanceOf(InvalidInput.class);
      awaitGroupSeen(workers, worker, members.get(1)); // else it would ask half a minute for a group that is gone
      members.forEach(member -> member.leave(false));
      assertThatThrownBy(() -> get(worker.finished())).isInstanceOf(PeerLost.class)
          .hasMessage("heter worker 0 ends: no trainer of job pair has ended its run with success "
              + "(heter_worker.lifetime=endless keeps it)");
    }
  }

  /** The members here send no heartbeats, as frozen trainers do not. */
  @Test
  void endsTheStreamsOfTrainersThatTheRendezvousDeclaresLost() {
    try (RunningWorkers workers = new RunningWorkers(Transport.AUTO, 1500)) {
      HeterWorkerVerticle worker = workers.started(new PartStandIn(0, null));
      List<Member> members = workers.members();
      Trainer zero = workers.trainer(worker, members.get(0).id);
      Future<?> answer = zero.open(RunningWorkers.cut().build()).compose(opened -> zero.compute(1, 4));
      assertThatThrownBy(() -> get(answer)).isInstanceOfAny(StaleGeneration.class, PeerLost.class);
      assertThatThrownBy(() -> get(worker.finished())).isInstanceOf(PeerLost.class);
    }
  }

  @Test
  void doesNotNameATrainerAsLost_ifItHasLeftItsGroup() throws Exception {
    try (RunningWorkers workers = new RunningWorkers(); LogLines lines = LogLines.of("io.regatta.heterworker")) {
      List<Member> members = workers.members();
      members.get(1).leave(true);
      HeterWorkerVerticle worker = workers.started(new PartStandIn(0, null));
      Trainer one = workers.opened(worker, members.get(1).id);
      awaitGroupSeen(workers, worker, members.get(0));
      Trainer next = workers.opened(worker, members.get(0).id);
      one.die();
      awaitTrue(() -> !next.loads.isEmpty() && next.loads.get(next.loads.size() - 1).getTrainers() == 1);
      assertThat(lines.lines()).anyMatch(line -> line.startsWith("trainer 0 of job pair is lost: "))
          .noneMatch(line -> line.contains("trainer 1"));
    }
  }

  @Test
  void tellsTrainersAndItsUserWhyThePartCannotBeBuilt() {
    try (RunningWorkers workers = new RunningWorkers()) {
      HeterWorkerVerticle worker = workers.started(new PartStandIn(0, new InvalidInput("the network has no cut")));
      assertThatThrownBy(() -> get(workers.trainer(worker, ZERO).open(RunningWorkers.cut().build())))
          .isInstanceOf(InvalidInput.class).hasMessageContaining("the network has no cut");
      assertThatThrownBy(() -> get(worker.finished())).isInstanceOf(InvalidInput.class).hasMessage("the network has no cut");
      assertThatThrownBy(() -> get(workers.trainer(worker, ONE).open(RunningWorkers.cut().build())))
          .isInstanceOf(InvalidInput.class).hasMessageContaining("the network has no cut");
    }
  }

  @Test
  void sendsTrainersAway_whenItIsStopped() {
    try (RunningWorkers workers = new RunningWorkers()) {
      HeterWorkerVerticle worker = workers.worker(workers.config(0), new PartStandIn(0, null));
      String deployment = get(workers.vertx.deployVerticle(worker));
      Trainer zero = workers.opened(worker, ZERO);
      Future<ComputedBatch> waiting = zero.compute(1, 4);
      get(workers.vertx.undeploy(deployment));
      assertThatThrownBy(() -> get(waiting)).isInstanceOf(PeerLost.class).hasMessageContaining("heter worker 0 at 127.0.0.1:")
          .hasMessageContaining("is shutting down");
      assertThat(get(workers.directory.list(Directory.HETER_WORKER))).isEmpty();
    }
  }

  @Test
  void takesTheLowestFreeIndex_andNoneThatALivingOneHas() {
    try (RunningWorkers workers = new RunningWorkers()) {
      List<Integer> indexes = new ArrayList<>();
      for (int i = 0; i < 3; i++) {
        indexes.add(workers.started(new PartStandIn(0, null)).index());
      }
      assertThat(indexes).containsExactly(0, 1, 2);
      assertThatThrownBy(() -> get(workers.vertx.deployVerticle(workers.worker(workers.config(1), new PartStandIn(0, null)))))
          .isInstanceOf(Conflict.class).hasMessageContaining("heter-worker 1").hasMessageContaining("heter_worker.index");
      assertThat(get(workers.directory.list(Directory.HETER_WORKER))).extracting(Directory.Instance::index)
          .containsExactly(0, 1, 2);
    }
  }

  @Test
  void saysWhatItWaitsFor_andThatItServes() {
    try (RunningWorkers workers = new RunningWorkers()) {
      HeterWorkerVerticle worker = workers.started(new PartStandIn(MANY, null));
      assertThat(sentences(workers)).containsExactly("heter worker 0 waits at the cut of job pair for the 2 trainers of the job, "
          + "first stream");
      Trainer zero = workers.opened(worker, ZERO);
      Trainer one = workers.opened(worker, ONE);
      get(one.compute(7, 4));
      get(zero.open(RunningWorkers.cut().build())); // after the model thread has asked again
      assertThat(sentences(workers)).containsExactly("heter worker 0 waits at the cut of job pair for trainer 0 (nothing seen "
          + "yet), trainer 1 (last step 6), next batch");
      HealthClient health = new HealthClient(workers.node.network(), "127.0.0.1", worker.port());
      assertThat(get(health.serves(HeterWorkerGrpcService.SERVICE_NAME))).isTrue();
      get(health.close());
    }
  }

  /**
   * Waits until a heter worker has seen the group of the job: from then on it ends streams of former lives.
   *
   * @param member of which no stream has come
   */
  private static void awaitGroupSeen(RunningWorkers workers, HeterWorkerVerticle worker, Member member) {
    Trainer former = workers.trainer(worker, new TrainerId(member.id.rank(), member.id.incarnation() - 1));
    Future<?> answer = former.open(RunningWorkers.cut().build()).compose(opened -> former.compute(1, 4));
    assertThatThrownBy(() -> get(answer)).isInstanceOf(StaleGeneration.class);
  }

  private static List<String> sentences(RunningWorkers workers) {
    return get(workers.node.waits().list()).stream().filter(wait -> wait.who().startsWith("heter worker"))
        .map((Wait wait) -> wait.sentence(0).replaceFirst(", since .*", "")).toList();
  }
}
