package io.regatta.parameterserver;

import static io.regatta.node.testing.Conditions.awaitTrue;
import static io.regatta.parameterserver.RunningServers.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.config.MeterFilter;
import io.micrometer.core.instrument.config.MeterFilterReply;
import io.regatta.core.client.ParameterClient;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.NotOwner;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.memory.ShardMemory;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.node.directory.Directory;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.node.testing.FreePorts;
import io.regatta.node.testing.LeftoverThreads;
import io.regatta.protocol.message.JobSpecs;
import io.regatta.protocol.parameterserver.JobStatus;
import io.regatta.protocol.parameterserver.Shard;
import io.regatta.protocol.shard.GrpcShardLink;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.Transport;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.tensor.Contributor;
import io.regatta.protocol.tensor.Push;
import io.regatta.protocol.tensor.Register;
import io.regatta.protocol.tensor.TensorMessage;
import io.regatta.protocol.testing.Messages;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Real verticles on any free ports, real links; the oracle is the same job in one process. */
@ExtendWith(BlockedLoopGuard.class)
class ParameterServerVerticleTest {

  private static final int STEPS = 4;

  @ParameterizedTest
  @EnumSource(Transport.class)
  void twoServersOfTwoShardsTrainLikeOneProcessAndFreeTheJobAfterTheLastLeave(Transport transport) throws Exception {
    LeftoverThreads threads = LeftoverThreads.snapshot();
    try (RunningServers servers = RunningServers.start(2, 2).over(transport)) {
      JobSpec job = Jobs.spec("train", Mode.SYNC, 2, 4);
      List<ParameterClient> clients = List.of(servers.client(job, 0, 1), servers.client(job, 1, 1));
      clients.forEach(c -> get(c.register()));
      get(clients.get(0).initialize(Jobs.ramp(Jobs.NUMEL, 1)));
      for (long step = 0; step < STEPS; step++) {
        List<CompletableFuture<?>> acks = new ArrayList<>();
        for (int rank = 1; rank >= 0; rank--) {
          var values = get(clients.get(rank).pull(step, true, List.of(new SparseIds("emb", Jobs.IDS)), false));
          acks.add(clients.get(rank).push(step, 8 + rank, values.versions(), Jobs.dense(rank, step),
              Jobs.rows(rank, step)));
        }
        acks.forEach(RunningServers::get);
      }
      assertThat(get(clients.get(1).digest())).isEqualTo(Jobs.reference(job, STEPS));
      assertThat(exported(clients.get(0))).hasSize(Jobs.IDS.length);

      JobStatus status = servers.status(1).getShards(1).getJobs(0);
      assertThat(servers.status(1).getShards(1).getShard()).isEqualTo(3);
      assertThat(status.getJob()).isEqualTo("train");
      assertThat(status.getMode()).isEqualTo("sync");
      assertThat(status.getVersion()).isEqualTo(STEPS);
      assertThat(status.getTrainersList()).hasSize(2).allMatch(t -> t.getLastStep() == STEPS - 1);

      get(clients.get(0).leave(true));
      assertThat(servers.status(0).getShards(0).getJobs(0).getTrainers(0).getState()).isEqualTo("left");
      get(clients.get(1).leave(true));
      for (int server = 0; server < 2; server++) {
        assertThat(servers.status(server).getShardsList()).hasSize(2).allMatch(s -> s.getJobsCount() == 0);
      }
    }
    threads.assertNone();
  }

  @Test
  void aSlowConsumerOfAnExportBlocksNoLoop() throws Exception {
    try (RunningServers servers = RunningServers.start(1, 2)) {
      JobSpec job = Jobs.spec("slow", Mode.ASYNC, 1, 2);
      ParameterClient client = servers.client(job, 0, 1);
      get(client.register());
      get(client.initialize(Jobs.ramp(Jobs.NUMEL, 1)));
      get(client.pull(0, false, List.of(new SparseIds("emb", Jobs.IDS)), false));
      List<Integer> slices = new ArrayList<>();
      Set<Long> ids = new HashSet<>();
      get(client.export("emb", rows -> {
        slices.add(rows.ids().length);
        for (long id : rows.ids()) {
          ids.add(id);
        }
        Executor later = CompletableFuture.delayedExecutor(slices.size() == 1 ? 3500 : 10, TimeUnit.MILLISECONDS);
        return CompletableFuture.runAsync(() -> {}, later); // longer than the guard allows a loop
      }));
      assertThat(ids).hasSize(Jobs.IDS.length);
      get(client.leave(true));
    }
  }

  private static Set<Long> exported(ParameterClient client) {
    Set<Long> ids = new HashSet<>();
    get(client.export("emb", rows -> {
      for (long id : rows.ids()) {
        assertThat(ids.add(id)).isTrue();
      }
      return CompletableFuture.completedFuture(null);
    }));
    return ids;
  }

  @Test
  void aPullSaysInWhyForWhomItWaitsAndMetricsShowTheJob() throws Exception {
    try (RunningServers servers = RunningServers.start(1, 1)) {
      JobSpec job = Jobs.spec("why", Mode.SYNC, 2, 1);
      ParameterClient first = servers.client(job, 0, 1);
      ParameterClient second = servers.client(job, 1, 1);
      get(first.register());
      get(second.register());
      get(first.initialize(Jobs.ramp(Jobs.NUMEL, 1)));
      first.push(0, 8, null, Jobs.dense(0, 0), List.of());
      var waiting = first.pull(1, true, List.of(), false);
      awaitTrue(() -> servers.status(0).getShards(0).getWaitsCount() == 2);
      assertThat(servers.status(0).getShards(0).getWaitsList())
          .allMatch(s -> s.contains("trainer 0 waits at shard 0 of job why for trainer 1"));
      assertThat(servers.status(0).getShards(0).getParkedList())
          .extracting(call -> call.getJob() + ", " + call.getWho() + ", " + call.getOperation() + ", "
              + call.getWaitsFor(0).getName() + ", " + call.getWaitsFor(0).getLastStep())
          .containsExactlyInAnyOrder("why, trainer 0, pull of step 1, trainer 1, -1",
              "why, trainer 0, push of step 0, trainer 1, -1");
      assertThat(first.unanswered().keySet()).containsExactly(0);
      assertThat(first.unanswered().get(0)).startsWith("shard 0 at 127.0.0.1:");
      assertThat(second.unanswered()).isEmpty();
      assertThat(get(servers.node.waits().list())).anyMatch(w -> w.operation().equals("pull of step 1"));
      get(second.push(0, 8, null, Jobs.dense(1, 0), List.of()));
      get(waiting);
      assertThat(first.unanswered()).isEmpty();
      assertThat(servers.node.metrics().get("regatta.shard.pushes").tag("shard", "0").counter().count()).isEqualTo(2);
      assertThat(servers.node.metrics().get("regatta.shard.received").counter().count())
          .isEqualTo(3 * 4.0 * Jobs.NUMEL);
      awaitTrue(() -> servers.node.metrics().find("regatta.job.round.wait").tag("rank", "1")
          .tag("job", "why").functionCounter() != null);
      get(first.leave(true));
      get(second.leave(true));
      awaitTrue(() -> servers.node.metrics().find("regatta.job.version").gauge() == null
          && servers.node.metrics().find("regatta.job.round.wait").meters().isEmpty());
    }
  }

  /** As a registry does that is full, or closed for a moment. */
  @Test
  void metricsAreShownAgain_afterALookAtThemHasFailed() throws Exception {
    try (RunningServers servers = RunningServers.start(1, 1)) {
      AtomicInteger failures = new AtomicInteger(2);
      servers.node.metrics().config().meterFilter(new MeterFilter() {
        @Override
        public MeterFilterReply accept(Meter.Id id) {
          if (id.getName().equals("regatta.job.version") && failures.getAndDecrement() > 0) {
            throw new IllegalStateException("no meter can be registered now");
          }
          return MeterFilterReply.NEUTRAL;
        }
      });
      ParameterClient client = servers.client(Jobs.spec("seen", Mode.ASYNC, 1, 1), 0, 1);
      get(client.register());
      awaitTrue(() -> servers.node.metrics().find("regatta.job.version").tag("job", "seen").gauge() != null);
      assertThat(failures.get()).isNegative();
      get(client.leave(true));
    }
  }

  @ParameterizedTest
  @EnumSource(Transport.class)
  void aRefusedTrainerReadsWhyAndTheOthersTrainOn(Transport transport) throws Exception {
    try (RunningServers servers = RunningServers.start(1, 2).over(transport)) {
      JobSpec job = Jobs.spec("refusals", Mode.ASYNC, 2, 2);
      ParameterClient good = servers.client(job, 0, 1);
      get(good.register());
      get(good.initialize(Jobs.ramp(Jobs.NUMEL, 1)));
      JobSpec otherModel = new JobSpec(job.job(), job.mode(), 2, 2, NanPolicy.FAIL, 2, 256, new ModelSpec(7,
          job.model().dense(), OptimizerSpec.of("adam", 0.01),
          List.of(new SparseTableSpec("emb", 5, InitializerSpec.uniform(-1, 1), OptimizerSpec.of("adagrad", 0.1)))));
      assertThatThrownBy(() -> get(servers.client(otherModel, 1, 1).register())).isInstanceOf(Conflict.class)
          .hasMessageContaining("row dimension of sparse table 'emb' is 3 on the shard and 5 in trainer 1");
      assertThatThrownBy(() -> get(servers.client(job, 0, 2).register())).isInstanceOf(Conflict.class)
          .hasMessageContaining("rank 0 is held by incarnation 1");
      assertThatThrownBy(() -> get(servers.client(job, 2, 1).register())).isInstanceOf(InvalidInput.class)
          .hasMessageContaining("rank 2 is outside job 'refusals'");
      get(good.push(0, 8, null, Jobs.dense(0, 0), Jobs.rows(0, 0)));
    }
  }

  @Test
  void aMessageForAnotherShardOrAnotherLifeOfItIsRefused() throws Exception {
    try (RunningServers servers = RunningServers.start(1, 1)) {
      Shard shard = servers.shards().get(0);
      JobSpec job = Jobs.spec("addressed", Mode.ASYNC, 1, 1);
      assertThatThrownBy(() -> get(link(servers, shard, 5, shard.getIncarnation()).register(job, new TrainerId(0, 1), 0)))
          .isInstanceOf(NotOwner.class).hasMessageContaining("for shard 5 came to shard 0");
      assertThatThrownBy(() -> get(link(servers, shard, 0, 17).register(job, new TrainerId(0, 1), 0)))
          .isInstanceOf(StaleGeneration.class).hasMessageContaining("incarnation 17");
      assertThat(servers.status(0).getShards(0).getJobsCount()).isZero();
    }
  }

  private static GrpcShardLink link(RunningServers servers, Shard shard, int index, long incarnation) {
    TensorStream stream = servers.stream(shard);
    return get(servers.on(() -> Future.succeededFuture(new GrpcShardLink(stream, "the shard", index, incarnation,
        () -> 1, j -> Future.succeededFuture(0L), RunningServers.OPTIONS))));
  }

  @ParameterizedTest
  @EnumSource(Transport.class)
  void aStreamCutInTheMiddleOfAPushHarmsNothing(Transport transport) throws Exception {
    try (RunningServers servers = RunningServers.start(1, 1).over(transport)) {
      JobSpec job = Jobs.spec("cut", Mode.ASYNC, 2, 1);
      ParameterClient survivor = servers.client(job, 0, 1);
      get(survivor.register());
      get(survivor.initialize(Jobs.ramp(Jobs.NUMEL, 1)));
      long before = get(survivor.digest());

      TensorStream stream = servers.stream(servers.shards().get(0));
      TensorMessage.Builder common = TensorMessage.newBuilder().setJob("cut").setRank(1).setIncarnation(9);
      Promise<Void> registered = Promise.promise();
      get(servers.on(() -> {
        stream.exceptionHandler(registered::tryFail);
        stream.endHandler(v -> registered.tryFail("ended"));
        stream.handler(frame -> registered.tryComplete());
        return stream.send(TensorFrame.of(common.clone().setRequest(1)
            .setRegister(Register.newBuilder().setTrainer(JobSpecs.toProto(job))).build()));
      }));
      get(registered.future());
      ByteBuffer half = ByteBuffer.allocate(4 * Jobs.NUMEL / 2);
      get(servers.on(() -> stream.send(new TensorFrame(common.clone().setRequest(2).setChunkIndex(0)
          .setChunkCount(2).setDense(Messages.dense(0, Jobs.NUMEL)).setPush(Push.newBuilder().addContributors(Contributor.newBuilder()
              .setRank(1).setIncarnation(9).setSequence(1).setWeight(8))).build(), half))));
      get(servers.on(() -> stream.fail(new PeerLost("cut"))));

      ParameterClient again = servers.client(job, 1, 9);
      get(again.register());
      assertThat(get(survivor.digest())).isEqualTo(before);
      assertThat(servers.status(0).getShards(0).getJobs(0).getTrainers(1).getState()).isEqualTo("active");
      get(again.push(0, 8, null, Jobs.dense(1, 0), List.of()));
      get(survivor.push(0, 8, null, Jobs.dense(0, 0), List.of()));
      assertThat(servers.status(0).getShards(0).getJobs(0).getPushes()).isEqualTo(2);
    }
  }

  @ParameterizedTest
  @EnumSource(Transport.class)
  void aStreamThatIsGoneLeavesNoParkedPullBehind(Transport transport) throws Exception {
    try (RunningServers servers = RunningServers.start(1, 1).over(transport)) {
      JobSpec job = Jobs.spec("parked", Mode.SYNC, 2, 1);
      ParameterClient client = servers.client(job, 0, 1);
      get(client.register());
      client.pull(0, true, List.of(), false);
      awaitTrue(() -> servers.status(0).getShards(0).getWaitsCount() == 1);
      get(client.close());
      awaitTrue(() -> servers.status(0).getShards(0).getWaitsCount() == 0);
      assertThat(servers.status(0).getShards(0).getJobs(0).getTrainers(0).getState()).isEqualTo("active");
    }
  }

  @ParameterizedTest
  @EnumSource(Transport.class)
  void aServerThatStopsTellsItsClients(Transport transport) throws Exception {
    try (RunningServers servers = RunningServers.start(1, 1).over(transport)) {
      ParameterClient client = servers.client(Jobs.spec("stop", Mode.SYNC, 2, 1), 0, 1);
      get(client.register());
      var waiting = client.pull(0, true, List.of(), false);
      awaitTrue(() -> servers.status(0).getShards(0).getWaitsCount() == 1);
      get(servers.vertx.undeploy(servers.deployments.get(0)));
      assertThatThrownBy(() -> get(waiting)).isInstanceOf(PeerLost.class)
          .hasMessageContaining("shard 0 at 127.0.0.1 is shutting down");
      assertThat(get(servers.directory.list(Directory.PARAMETER_SERVER))).isEmpty();
      assertThat(servers.node.metrics().getMeters()).noneMatch(m -> m.getId().getName().startsWith("regatta.shard")
          || m.getId().getName().startsWith("regatta.job"));
      assertThat(get(servers.node.waits().list())).isEmpty();
    }
  }

  @Test
  void aPortInUseIsNamedAndNothingStaysBehind() throws Exception {
    try (RunningServers servers = new RunningServers()) {
      int port = FreePorts.first(2);
      ParameterServerConfig defaults = ParameterServerConfig.defaults();
      ParameterServerConfig config = defaults.at(0, 1, 2).withPort(port);
      try (ServerSocket other = new ServerSocket(port + 1, 1, InetAddress.getByName("127.0.0.1"))) {
        assertThatThrownBy(() -> servers.deploy(config)).isInstanceOf(InvalidInput.class)
            .hasMessageContaining("shard 1 cannot listen on 127.0.0.1:" + other.getLocalPort())
            .hasMessageContaining("parameter_server.port");
      }
      servers.deploy(config);
      assertThat(servers.shards()).extracting(Shard::getPort).containsExactly(port, port + 1);
      assertThatThrownBy(() -> servers.deploy(config)).isInstanceOf(InvalidInput.class)
          .hasMessageContaining("the parameter server cannot listen on 127.0.0.1:" + port + ": it is held by");
      assertThat(get(servers.directory.list(Directory.PARAMETER_SERVER))).hasSize(1);
    }
  }

  @Test
  void configurationIsChecked() {
    ParameterServerConfig defaults = ParameterServerConfig.defaults();
    assertThat(defaults.index()).isEqualTo(-1);
    ShardLimits core = ShardLimits.defaults();
    assertThat(defaults.limits().core()).isEqualTo(new ShardLimits(core.jobs(), core.openRounds(), core.parkedPulls(),
        core.rows(), core.sparseBytes(), core.evict(), ShardMemory.ofProcess()));
    assertThatThrownBy(() -> defaults.at(2, 2, 1)).isInstanceOf(InvalidInput.class).hasMessageContaining("index");
    assertThatThrownBy(() -> defaults.at(0, 1, 0)).isInstanceOf(InvalidInput.class).hasMessageContaining("shards");
    assertThatThrownBy(() -> defaults.at(0, 1, 4).withPort(65_533))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("port");
    assertThatThrownBy(() -> defaults.at(0, 1, 2).withSparseShards(2)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("sparse_shards must be 0, or less than shards = 2");
  }

  /** A model without dense variables needs no initialisation; a table of many rows is digested and exported in turns. */
  @Test
  void aLargeTableIsDigestedAndExportedInTurns() throws Exception {
    try (RunningServers servers = RunningServers.start(1, 1)) {
      JobSpec job = new JobSpec("large", Mode.ASYNC, 1, 0, NanPolicy.FAIL, 1, 8192, new ModelSpec(1,
          List.<DenseVariable>of(), OptimizerSpec.sgd(1),
          List.of(new SparseTableSpec("emb", 8, InitializerSpec.normal(0, 1), OptimizerSpec.of("adagrad", 1)))));
      ParameterClient client = servers.client(job, 0, 1);
      get(client.register());
      long[] ids = new long[20_000];
      for (int batch = 0; batch < 5; batch++) {
        for (int i = 0; i < ids.length; i++) {
          ids[i] = (long) batch * ids.length + i;
        }
        get(client.pull(0, false, List.of(new SparseIds("emb", ids)), false));
      }
      assertThat(exported(client)).hasSize(100_000);
      assertThat(get(client.digest())).isEqualTo(get(client.digest()));
      assertThat(servers.status(0).getShards(0).getJobs(0).getRowsMap()).containsEntry("emb", 100_000L);
      assertThat(servers.status(0).getShards(0).getJobs(0).getTablesMap().get("emb").getBirths()).isEqualTo(100_000);
    }
  }
}
