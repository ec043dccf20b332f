package io.regatta.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.JobSpec;
import io.regatta.core.shard.Mode;
import io.regatta.core.shard.NanPolicy;
import io.regatta.core.shard.ParameterClient;
import io.regatta.core.shard.ParameterShard;
import io.regatta.core.shard.SparseIds;
import io.regatta.core.shard.SparseRows;
import io.regatta.core.shard.TrainerId;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.TensorStreamClient;
import io.regatta.protocol.stream.TensorStreamServer;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A trainer's client against a shard over a real connection, in chunks much smaller than the tensors. */
class GrpcShardLinkTest {
  private static final StreamOptions OPTIONS = StreamOptions.defaults().withChunkBytes(1024);
  private static final int DIM = 3;

  private final Vertx vertx = Vertx.vertx();
  private final ParameterShard shard = new ParameterShard(0, ParameterShard.Limits.defaults(), System::currentTimeMillis);
  private Context context;
  private HttpServer server;

  @BeforeEach
  void listen() throws Exception {
    context = vertx.getOrCreateContext();
    server = get(on(() -> {
      HttpServer s = TensorStreamServer.create(vertx, OPTIONS);
      s.requestHandler(TensorStreamServer.handler(vertx, Map.of("/regatta.ParameterShard/Exchange",
          stream -> ShardStreamSession.serve(stream, new CoreShardHandler(shard), OPTIONS)), r -> r.response().end(),
          OPTIONS));
      return s.listen(0, "127.0.0.1");
    }));
  }

  @AfterEach
  void close() throws Exception {
    get(vertx.close());
  }

  @Test
  void a_job_trains_over_the_wire_as_in_process() throws Exception {
    JobSpec job = job("train", 1);
    ParameterClient client = client(job, 0);
    ParameterShard reference = new ParameterShard(0, ParameterShard.Limits.defaults(), () -> 0);
    ParameterClient local = new ParameterClient(job, new TrainerId(0, 1),
        List.of(new io.regatta.core.shard.LocalShardLink(reference)), Runnable::run);
    long[] ids = new long[700];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = i * 31L;
    }
    for (ParameterClient c : List.of(client, local)) {
      get(c.register());
      get(c.initialize(ramp(5000, 1)));
      for (int step = 0; step < 3; step++) {
        ParameterClient.Values v = get(c.pull(step, true, List.of(new SparseIds("emb", ids)), false));
        assertThat(v.dense()).hasSize(5000);
        assertThat(v.sparse().get(0).ids()).isEqualTo(ids);
        get(c.push(step, 10, v.versions(), ramp(5000, 0.1f),
            List.of(new SparseRows("emb", ids, ramp(ids.length * DIM, 0.01f)))));
      }
    }
    assertThat(get(client.pull(3, true, List.of(), false)).dense())
        .isEqualTo(get(local.pull(3, true, List.of(), false)).dense());
    List<Long> exported = new ArrayList<>();
    get(client.export("emb", rows -> {
      for (long id : rows.ids()) {
        exported.add(id);
      }
    }));
    assertThat(exported).hasSize(700).doesNotHaveDuplicates();
    assertThat(shard.digest("train")).isEqualTo(reference.digest("train"));
    get(client.leave());
    assertThat(shard.jobs()).isEmpty();
  }

  @Test
  void a_refused_request_says_why() throws Exception {
    ParameterClient first = client(job("refused", 1), 0);
    get(first.register());
    assertThatThrownBy(() -> get(client(job("refused", 2), 1).register())).isInstanceOf(Conflict.class)
        .hasMessageContaining("refused");
    assertThatThrownBy(() -> get(client(job("refused", 1), 7).register())).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("rank 7");
  }

  @Test
  void a_lost_server_fails_what_is_pending_and_is_named() throws Exception {
    ParameterClient client = client(job("lost", 1), 0);
    get(client.register());
    var waiting = client.pull(0, true, List.of(), false);
    assertThat(waiting.isDone()).isFalse();
    get(server.close());
    assertThatThrownBy(() -> get(waiting)).isInstanceOf(PeerLost.class).hasMessageContaining("127.0.0.1");
  }

  private JobSpec job(String name, int trainers) {
    return new JobSpec(name, Mode.ASYNC, trainers, 0, NanPolicy.FAIL, 1, 8192,
        new ModelSpec(7, List.of(new DenseVariable("w", List.of(5000))), OptimizerSpec.sgd(0.5),
            List.of(new SparseTableSpec("emb", DIM, InitializerSpec.uniform(-1, 1), OptimizerSpec.adagrad(0.1)))));
  }

  private ParameterClient client(JobSpec job, int rank) throws Exception {
    GrpcShardLink link = get(on(() -> new TensorStreamClient(vertx, OPTIONS)
        .open("127.0.0.1", server.actualPort(), "/regatta.ParameterShard/Exchange")
        .map(s -> new GrpcShardLink(s, "shard 0 at 127.0.0.1:" + server.actualPort(), 0, 0, () -> 1,
            j -> Future.succeededFuture(shard.digest(j)), OPTIONS))));
    return new ParameterClient(job, new TrainerId(rank, 1), List.of(link), r -> context.runOnContext(v -> r.run()));
  }

  private <T> Future<T> on(java.util.function.Supplier<Future<T>> call) {
    io.vertx.core.Promise<T> p = io.vertx.core.Promise.promise();
    context.runOnContext(v -> call.get().onComplete(p));
    return p.future();
  }

  private static float[] ramp(int n, float scale) {
    float[] f = new float[n];
    for (int i = 0; i < n; i++) {
      f[i] = scale * (i % 17 - 8);
    }
    return f;
  }

  private static <T> T get(Future<T> f) throws Exception {
    return get(f.toCompletionStage().toCompletableFuture());
  }

  private static <T> T get(java.util.concurrent.CompletableFuture<T> f) throws Exception {
    try {
      return f.get(20, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception x ? x : e;
    }
  }
}
