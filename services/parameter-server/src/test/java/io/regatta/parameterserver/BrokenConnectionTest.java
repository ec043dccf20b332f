package io.regatta.parameterserver;

import static io.regatta.node.testing.Conditions.awaitTrue;
import static io.regatta.parameterserver.RunningServers.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.protocol.parameterserver.Shard;
import io.regatta.protocol.shard.GrpcShardLink;
import io.regatta.protocol.shard.ReopeningShardLink;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStreamClient;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetClientOptions;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetServerOptions;
import io.vertx.core.net.NetSocket;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The connection between a trainer and a shard is cut while both live. */
class BrokenConnectionTest {

  private static final int STEPS = 30;

  /** A proxy that cuts a connection after {@code cutAfter} bytes in one direction; 0: never. */
  private static final class CuttingProxy {
    private final NetServer server;
    private final boolean answers;
    private volatile long cutAfter;
    private volatile int cuts;
    private final List<NetSocket> sockets = new CopyOnWriteArrayList<>();
    private final AtomicBoolean cutNext = new AtomicBoolean();
    /** Breaks that the trainer's links have seen. */
    private final AtomicInteger noticed = new AtomicInteger();

    /** @param answers whether bytes from the shard are counted, else those to it */
    CuttingProxy(Vertx vertx, int target, boolean answers, long cutAfter) {
      this.answers = answers;
      this.cutAfter = cutAfter;
      NetClient client = vertx.createNetClient(new NetClientOptions().setSoLinger(0)); // closes by a reset
      server = get(vertx.createNetServer(new NetServerOptions().setSoLinger(0)).connectHandler(in -> {
        in.pause();
        sockets.add(in);
        client.connect(target, "127.0.0.1").onFailure(e -> in.close()).onSuccess(out -> {
          pass(in, out, !answers);
          pass(out, in, answers);
          in.resume();
        });
      }).listen(0, "127.0.0.1"));
    }

    private void pass(NetSocket from, NetSocket to, boolean counted) {
      long[] passed = new long[1];
      from.handler((Buffer b) -> {
        passed[0] += b.length();
        if (counted && (cutAfter > 0 && passed[0] > cutAfter || cutNext.getAndSet(false))) {
          cuts++;
          from.close();
          to.close();
        } else {
          to.write(b);
        }
      });
      from.closeHandler(v -> to.close());
    }

    /** Cuts all connections of the moment: what is sent from now on does not pass. */
    void cut() {
      List<NetSocket> all = List.copyOf(sockets);
      sockets.clear();
      get(Future.all(all.stream().map(NetSocket::close).toList()));
    }
  }

  /** Client of one shard through the proxy. */
  private static ParameterClient through(RunningServers servers, CuttingProxy proxy, JobSpec job, int rank) {
    return through(servers, proxy, job, rank, RunningServers.OPTIONS, open -> open);
  }

  /** @param wrapped what the link opens streams with */
  private static ParameterClient through(RunningServers servers, CuttingProxy proxy, JobSpec job, int rank,
      StreamOptions options, UnaryOperator<Supplier<Future<GrpcShardLink>>> wrapped) {
    Shard shard = servers.shards().get(0);
    TensorStreamClient streams = new TensorStreamClient(servers.vertx, options);
    Supplier<Future<GrpcShardLink>> open = () -> streams.open("127.0.0.1", proxy.server.actualPort(),
        StreamPaths.PARAMETER_SHARD).map(stream -> new GrpcShardLink(stream, "shard 0", 0, shard.getIncarnation(), () -> 1,
            servers.control(shard.getHost(), shard.getPort())::digest, options).sayLost(why -> {
              proxy.noticed.incrementAndGet();
              return "shard 0 is lost: " + why;
            }));
    ReopeningShardLink link = get(servers.on(() ->
        ReopeningShardLink.open(VertxLoop.current(servers.vertx), wrapped.apply(open), options.maxRequests())));
    return new ParameterClient(job, new TrainerId(rank, 1), List.of(link), servers::onOwner);
  }

  /** Returns streams that cannot be opened for a while: the second and later ones, {@code times} of them. */
  private static UnaryOperator<Supplier<Future<GrpcShardLink>>> failing(int times, Supplier<Future<GrpcShardLink>> failure) {
    AtomicInteger opened = new AtomicInteger();
    return open -> () -> {
      int number = opened.getAndIncrement();
      return number > 0 && number <= times ? failure.get() : open.get();
    };
  }

  private static void begin(ParameterClient client) {
    get(client.register());
    get(client.initialize(Jobs.ramp(Jobs.NUMEL, 1)));
    get(client.push(0, 8, null, Jobs.dense(0, 0), Jobs.rows(0, 0)));
  }

  /** If the connection breaks while no request is open, the next request was never sent, and is sent once. */
  @ParameterizedTest
  @ValueSource(strings = {"leave", "changed", "export", "sit out"})
  void aBreakWhileNothingIsUnderWayIsSurvivedWhateverComesNext(String next) throws Exception {
    try (RunningServers servers = RunningServers.start(1, 1)) {
      JobSpec job = Jobs.spec("idle", next.equals("changed") ? Mode.GEO : Mode.SYNC, 1, 1);
      CuttingProxy proxy = new CuttingProxy(servers.vertx, servers.shards().get(0).getPort(), true, 0);
      ParameterClient client = through(servers, proxy, job, 0);
      begin(client);
      proxy.cut();
      awaitTrue(() -> proxy.noticed.get() == 1);
      switch (next) {
        case "changed" -> assertThat(get(client.pull(0, false, List.of(), true)).sparse().get(0).ids())
            .hasSize(Jobs.IDS.length);
        case "export" -> get(client.export("emb", rows -> CompletableFuture.completedFuture(null)));
        case "sit out" -> get(client.sitOut());
        default -> { }
      }
      get(client.leave(true));
      assertThat(servers.status(0).getShards(0).getJobsCount()).isZero();
    }
  }

  /** The other makes steps meanwhile, which would wait for one that took part again. */
  @Test
  void whoSitsOutStillDoesBehindABreakAndComesBackLater() throws Exception {
    try (RunningServers servers = RunningServers.start(1, 1)) {
      JobSpec job = Jobs.spec("sits", Mode.SYNC, 2, 1);
      CuttingProxy proxy = new CuttingProxy(servers.vertx, servers.shards().get(0).getPort(), true, 0);
      ParameterClient client = through(servers, proxy, job, 0);
      ParameterClient other = servers.client(job, 1, 1);
      get(client.register());
      get(other.register());
      get(client.initialize(Jobs.ramp(Jobs.NUMEL, 1)));
      proxy.cutNext.set(true);
      get(client.sitOut()); // told twice
      assertThat(proxy.cuts).isEqualTo(1);
      proxy.cutNext.set(true);
      get(client.pull(0, true, List.of(), false));
      assertThat(proxy.cuts).isEqualTo(2);
      get(other.push(0, 8, null, Jobs.dense(1, 0), List.of()));
      long from = get(client.register());
      assertThat(from).isEqualTo(1);
      CompletableFuture<?> waits = other.push(1, 8, null, Jobs.dense(1, 1), List.of());
      get(client.push(1, 8, null, Jobs.dense(0, 1), List.of()));
      get(waits);
    }
  }

  @Test
  void aLeaveWhoseAnswerIsLostHasHappened() throws Exception {
    try (RunningServers servers = RunningServers.start(1, 1)) {
      JobSpec job = Jobs.spec("left", Mode.ASYNC, 1, 1);
      CuttingProxy proxy = new CuttingProxy(servers.vertx, servers.shards().get(0).getPort(), true, 0);
      ParameterClient client = through(servers, proxy, job, 0);
      begin(client);
      proxy.cutNext.set(true);
      get(client.leave(true));
      assertThat(proxy.cuts).isEqualTo(1);
      assertThat(servers.status(0).getShards(0).getJobsCount()).isZero();
    }
  }

  /** All trainers were lost meanwhile, and the job was freed; perhaps a new run of the name has begun. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whoWakesBehindTheEndOfItsJobDoesNotBeginItAnew(boolean begun) throws Exception {
    try (RunningServers servers = RunningServers.start(1, 1)) {
      JobSpec job = Jobs.spec("freed", Mode.ASYNC, 2, 1);
      CuttingProxy proxy = new CuttingProxy(servers.vertx, servers.shards().get(0).getPort(), true, 0);
      ParameterClient client = through(servers, proxy, job, 0);
      begin(client);
      ParameterClient same = servers.client(job, 0, 1); // stands for the loss: the same life ends at the shard
      get(same.register());
      get(same.leave(true));
      assertThat(servers.status(0).getShards(0).getJobsCount()).isZero();
      if (begun) {
        get(servers.client(job, 1, 3).register());
      }
      proxy.cut();
      assertThatThrownBy(() -> get(client.pull(0, true, List.of(), false))).isInstanceOf(StaleGeneration.class)
          .hasMessageContaining("repeated registration of trainer 0 refused").hasMessageContaining("freed");
      assertThat(servers.status(0).getShards(0).getJobsList()).hasSize(begun ? 1 : 0)
          .allSatisfy(its -> assertThat(its.getTrainersList()).extracting(t -> t.getRank()).containsExactly(1));
    }
  }

  /**
   * Larger than the sockets' buffers: the break shows as a failed write, before the connection is seen to be dead. The shard
   * has applied a part of each push when it breaks, and applies the rest of it when it comes again.
   */
  @Test
  void aBreakInTheMiddleOfABigPushIsSurvived() throws Exception {
    int n = 4_000_000;
    try (RunningServers servers = RunningServers.start(1, 1)) {
      CuttingProxy proxy = new CuttingProxy(servers.vertx, servers.shards().get(0).getPort(), false, 0);
      JobSpec job = new JobSpec("big", Mode.ASYNC, 1, 2, NanPolicy.FAIL, 1, 256,
          new ModelSpec(7, List.of(new DenseVariable("w", List.of(n))), OptimizerSpec.sgd(0.25), List.of()));
      ParameterClient client = through(servers, proxy, job, 0, StreamOptions.defaults(), open -> open);
      get(client.register());
      get(client.initialize(new float[n]));
      float[] halves = new float[n];
      Arrays.fill(halves, 0.5f);
      DenseMemory gradient = DenseMemory.of(halves);
      for (int step = 0; step < 12; step++) {
        proxy.cutNext.set(true);
        get(client.push(step, 8, null, gradient, List.of()));
      }
      assertThat(proxy.cuts).isEqualTo(12);
      float[] expected = new float[n];
      Arrays.fill(expected, -12 * 0.125f);
      assertThat(get(client.pull(12, true, List.of(), false)).dense()).isEqualTo(expected);
      assertThat(servers.status(0).getShards(0).getJobs(0).getVersion()).isEqualTo(12);
      get(client.leave(true));
    }
  }

  @Test
  void aConnectionThatWasDeadBeforeItWasTakenIsTriedAgain() throws Exception {
    try (RunningServers servers = RunningServers.start(1, 1)) {
      CuttingProxy proxy = new CuttingProxy(servers.vertx, servers.shards().get(0).getPort(), true, 0);
      Supplier<Future<GrpcShardLink>> dead = () -> Future.failedFuture(new PeerLost("dead", new ClosedChannelException()));
      ParameterClient client = through(servers, proxy, Jobs.spec("dead", Mode.ASYNC, 1, 1), 0, RunningServers.OPTIONS,
          failing(2, dead));
      begin(client);
      proxy.cut();
      get(client.pull(0, true, List.of(), false));
      ParameterClient lost = through(servers, proxy, Jobs.spec("lost", Mode.ASYNC, 1, 1), 0, RunningServers.OPTIONS,
          failing(9, dead));
      begin(lost);
      proxy.cut();
      assertThatThrownBy(() -> get(lost.pull(0, true, List.of(), false))).isInstanceOf(PeerLost.class)
          .hasMessageContaining("shard 0 is lost").hasMessageContaining("no other connection could be opened: dead");
    }
  }

  @Test
  void anOpenerThatThrowsIsALoss() throws Exception {
    try (RunningServers servers = RunningServers.start(1, 1)) {
      CuttingProxy proxy = new CuttingProxy(servers.vertx, servers.shards().get(0).getPort(), true, 0);
      ParameterClient client = through(servers, proxy, Jobs.spec("throws", Mode.ASYNC, 1, 1), 0, RunningServers.OPTIONS,
          failing(9, () -> {
            throw new IllegalStateException("Client is closed");
          }));
      begin(client);
      proxy.cut();
      assertThatThrownBy(() -> get(client.pull(0, true, List.of(), false))).isInstanceOf(PeerLost.class)
          .hasMessageContaining("Client is closed");
    }
  }

  @Test
  void asManyRequestsAsAStreamMayHaveAreRepeated() throws Exception {
    StreamOptions four = RunningServers.OPTIONS
        .with(s -> s.maxMessageBytes(1 << 20).maxRequestBytes(1 << 24).maxRequests(4));
    try (RunningServers servers = RunningServers.start(1, 1)) {
      JobSpec job = Jobs.spec("full", Mode.ASYNC, 2, 1);
      CuttingProxy proxy = new CuttingProxy(servers.vertx, servers.shards().get(0).getPort(), true, 0);
      ParameterClient client = through(servers, proxy, job, 0, four, open -> open);
      get(client.register());
      List<CompletableFuture<?>> wait = new ArrayList<>();
      for (int i = 0; i < 4; i++) {
        wait.add(client.pull(0, true, List.of(), false));
      }
      awaitTrue(() -> servers.status(0).getShards(0).getWaitsCount() == 4);
      proxy.cut();
      ParameterClient other = servers.client(job, 1, 1);
      get(other.register());
      get(other.initialize(Jobs.ramp(Jobs.NUMEL, 1)));
      wait.forEach(RunningServers::get);
    }
  }

  /** A step is some 18 kB each way; so most connections are cut in the middle of a push, or of the answer to a pull. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theParametersOfASyncJobAreThoseOfAnUncutRun(boolean answers) throws Exception {
    try (RunningServers servers = RunningServers.start(1, 1)) {
      JobSpec job = Jobs.spec("cut", Mode.SYNC, 2, 1);
      CuttingProxy proxy = new CuttingProxy(servers.vertx, servers.shards().get(0).getPort(), answers, 100_000);
      List<ParameterClient> clients = List.of(through(servers, proxy, job, 0), servers.client(job, 1, 1));
      for (ParameterClient client : clients) {
        get(client.register());
      }
      get(clients.get(0).initialize(Jobs.ramp(Jobs.NUMEL, 1)));
      for (long step = 0; step < STEPS; step++) {
        List<CompletableFuture<?>> all = new ArrayList<>();
        for (int rank = 0; rank < 2; rank++) {
          all.add(clients.get(rank).push(step, 8 + rank, null, Jobs.dense(rank, step), Jobs.rows(rank, step)));
          all.add(clients.get(rank).pull(step + 1, true, List.of(new SparseIds("emb", Jobs.IDS)), false));
        }
        for (CompletableFuture<?> each : all) {
          get(each);
        }
      }
      assertThat(proxy.cuts).isGreaterThan(2);
      assertThat(get(clients.get(1).digest())).isEqualTo(Jobs.reference(job, STEPS));
      assertThat(servers.status(0).getShards(0).getJobs(0).getVersion()).isEqualTo(STEPS);
      proxy.cutAfter = 0;
      for (ParameterClient client : clients) {
        get(client.leave(true));
        get(client.close());
      }
      assertThat(servers.status(0).getShards(0).getJobsCount()).isZero();
    }
  }

  @Test
  void aConnectionThatBreaksAgainAndAgainIsALoss() throws Exception {
    try (RunningServers servers = RunningServers.start(1, 1)) {
      JobSpec job = Jobs.spec("broken", Mode.ASYNC, 1, 1);
      CuttingProxy proxy = new CuttingProxy(servers.vertx, servers.shards().get(0).getPort(), true, 0);
      ParameterClient client = through(servers, proxy, job, 0);
      get(client.register());
      get(client.initialize(Jobs.ramp(Jobs.NUMEL, 1)));
      proxy.cutAfter = 3000; // less than the answer
      assertThatThrownBy(() -> get(client.pull(0, true, List.of(), false))).isInstanceOf(PeerLost.class)
          .hasMessageContaining("shard 0 is lost");
      assertThat(proxy.cuts).isEqualTo(4);
      assertThatThrownBy(() -> get(client.pull(0, true, List.of(), false))).isInstanceOf(PeerLost.class);
    }
  }

  @Test
  void aServerThatIsGoneIsLostAtOnce() throws Exception {
    try (RunningServers servers = RunningServers.start(1, 1)) {
      JobSpec job = Jobs.spec("gone", Mode.ASYNC, 1, 1);
      CuttingProxy proxy = new CuttingProxy(servers.vertx, servers.shards().get(0).getPort(), true, 0);
      ParameterClient client = through(servers, proxy, job, 0);
      get(client.register());
      get(client.initialize(Jobs.ramp(Jobs.NUMEL, 1)));
      get(proxy.server.close());
      assertThatThrownBy(() -> get(client.pull(0, true, List.of(), false))).isInstanceOf(PeerLost.class);
    }
  }
}
