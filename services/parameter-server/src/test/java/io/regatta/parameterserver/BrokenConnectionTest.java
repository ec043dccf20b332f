package io.regatta.parameterserver;

import static io.regatta.parameterserver.RunningServers.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.shard.JobSpec;
import io.regatta.core.shard.Mode;
import io.regatta.core.shard.ParameterClient;
import io.regatta.core.shard.SparseIds;
import io.regatta.core.shard.TrainerId;
import io.regatta.protocol.GrpcShardLink;
import io.regatta.protocol.ReopeningShardLink;
import io.regatta.protocol.StreamPaths;
import io.regatta.protocol.parameterserver.Shard;
import io.regatta.protocol.stream.TensorStreamClient;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.net.NetClient;
import io.vertx.core.net.NetServer;
import io.vertx.core.net.NetSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The connection between a trainer and a shard is cut while both live. */
class BrokenConnectionTest {

  private static final int STEPS = 30;

  /** A proxy that cuts a connection after so many bytes in one direction; 0: never. */
  private static final class CuttingProxy {
    private final NetServer server;
    private final boolean answers;
    private volatile long cutAfter;
    private volatile int cuts;

    /** @param answers whether bytes from the shard are counted, else those to it */
    CuttingProxy(Vertx vertx, int target, boolean answers, long cutAfter) {
      this.answers = answers;
      this.cutAfter = cutAfter;
      NetClient client = vertx.createNetClient();
      server = get(vertx.createNetServer().connectHandler(in -> {
        in.pause();
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
        if (counted && cutAfter > 0 && passed[0] > cutAfter) {
          cuts++;
          from.close();
          to.close();
        } else {
          to.write(b);
        }
      });
      from.closeHandler(v -> to.close());
    }
  }

  /** Client of one shard through the proxy. */
  private static ParameterClient through(RunningServers servers, CuttingProxy proxy, JobSpec job, int rank) {
    Shard shard = servers.shards().get(0);
    TensorStreamClient streams = new TensorStreamClient(servers.vertx, RunningServers.OPTIONS);
    Supplier<Future<GrpcShardLink>> open = () -> streams.open("127.0.0.1", proxy.server.actualPort(),
        StreamPaths.PARAMETER_SHARD).map(stream -> new GrpcShardLink(stream, "shard 0", 0, shard.getIncarnation(), () -> 1,
            servers.control(shard.getHost(), shard.getPort())::digest, RunningServers.OPTIONS));
    ReopeningShardLink link = get(servers.on(() -> open.get().map(first ->
        new ReopeningShardLink(first, open, RunningServers.OPTIONS.maxRequests()))));
    return new ParameterClient(job, new TrainerId(rank, 1), List.of(link), servers::onOwner);
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
        get(client.leave());
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
