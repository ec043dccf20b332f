package io.regatta.protocol.shard;

import static io.regatta.protocol.shard.TestJobs.DIM;
import static io.regatta.protocol.shard.TestJobs.ids;
import static io.regatta.protocol.shard.TestJobs.job;
import static io.regatta.protocol.shard.TestJobs.ramp;
import static io.regatta.protocol.stream.Loop.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.client.LocalShardLink;
import io.regatta.core.client.ParameterClient;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.shard.ParameterShard;
import io.regatta.core.testing.TestClock;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.stream.FreezableProxy;
import io.regatta.protocol.stream.Loop;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStream;
import io.regatta.protocol.stream.TensorStreamClient;
import io.regatta.protocol.stream.Transport;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.tensor.PullValues;
import io.regatta.protocol.tensor.PushAck;
import io.regatta.protocol.tensor.TensorMessage;
import io.regatta.protocol.testing.Messages;
import io.regatta.protocol.vertx.SystemClock;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.http.HttpServer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Function;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The contract of a trainer's link to a shard on every transport; chunks are much smaller than the tensors. */
abstract class ShardLinkContract {
  private static final String PATH = StreamPaths.PARAMETER_SHARD;
  private static final Pull DENSE = new Pull(0, 0, true, List.of(), false);

  private final Loop loop = new Loop();
  private final ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(), SystemClock.get());
  private final StreamOptions options;
  private HttpServer server;

  ShardLinkContract(Transport transport) {
    this(transport, PeerSecurity.NONE);
  }

  ShardLinkContract(Transport transport, PeerSecurity security) {
    options = StreamOptions.defaults()
        .with(s -> s.chunkBytes(1024).maxMessageBytes(8192).maxRequestBytes(1 << 20).maxRequests(16))
        .withTransport(transport).withSecurity(security);
  }

  @BeforeEach
  void listen() throws Exception {
    server = loop.serve(PATH, options, s -> ShardStreamSession.serve(s, new CoreShardHandler(shard), options));
  }

  @AfterEach
  void close() throws Exception {
    loop.close();
  }

  @Test
  void a_job_trains_over_the_wire_as_in_process() throws Exception {
    JobSpec job = job("train", Mode.ASYNC, 1, 5000);
    ParameterClient client = client(job, 0);
    ParameterShard reference = new ParameterShard(0, ShardLimits.defaults(), TestClock.at(0));
    ParameterClient local = new ParameterClient(job, new TrainerId(0, 1), List.of(new LocalShardLink(reference)),
        Runnable::run);
    long[] ids = ids(700);
    for (ParameterClient c : List.of(client, local)) {
      get(c.register());
      get(c.initialize(ramp(5000, 1)));
      for (int step = 0; step < 3; step++) {
        ParameterClient.Values v = get(c.pull(step, true, List.of(new SparseIds("emb", ids)), false));
        assertThat(v.dense()).hasSize(5000);
        assertThat(v.sparse().get(0).ids()).isEqualTo(ids);
        get(c.push(step, 10, v.versions(), DenseMemory.of(ramp(5000, 0.1f)),
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
      return CompletableFuture.completedFuture(null);
    }));
    assertThat(exported).hasSize(700).doesNotHaveDuplicates();
    assertThat(get(client.digest())).isEqualTo(get(local.digest()));
    get(client.leave(true));
    assertThat(get(loop.on(() -> Future.succeededFuture(shard.jobs())))).isEmpty();
  }

  @Test
  void reading_over_the_wire_bears_no_rows_and_gives_the_values_of_birth() throws Exception {
    ParameterClient client = client(job("read", Mode.ASYNC, 1, 8), 0);
    get(client.register());
    get(client.initialize(ramp(8, 1)));
    List<SparseIds> wish = List.of(new SparseIds("emb", ids(700)));
    long digest = get(client.digest());
    ParameterClient.Values read = get(client.read(true, wish));
    assertThat(get(client.digest())).isEqualTo(digest);
    assertThat(rows("read")).isZero();
    ParameterClient.Values pulled = get(client.pull(0, true, wish, false));
    assertThat(rows("read")).isEqualTo(700);
    assertThat(read.dense()).isEqualTo(pulled.dense());
    assertThat(read.sparse().get(0).values()).isEqualTo(pulled.sparse().get(0).values());
  }

  /** Direct memory is sent from and written where it lies, an array is written where it lies. */
  @Test
  void a_trainers_memory_is_used_again_and_again() throws Exception {
    ParameterClient client = client(job("memory", Mode.ASYNC, 1, 5000), 0);
    get(client.register());
    get(client.initialize(new float[5000]));
    ByteBuffer gradient = ByteBuffer.allocateDirect(5000 * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    ByteBuffer direct = ByteBuffer.allocateDirect(5000 * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    float[] array = new float[5000];
    DenseMemory pushed = DenseMemory.of(gradient);
    List<DenseMemory> pulled = List.of(DenseMemory.of(direct), DenseMemory.of(array));
    for (int step = 1; step <= 3; step++) {
      gradient.asFloatBuffer().put(ramp(5000, step));
      get(client.push(step - 1, 10, null, pushed, List.of()));
      for (DenseMemory into : pulled) {
        assertThat(get(client.pull(step, into, List.of(), false)).dense()).isSameAs(into.array());
      }
      assertThat(DenseMemory.of(direct).toArray()).isEqualTo(array);
      assertThat(array).isEqualTo(get(client.pull(step, true, List.of(), false)).dense());
      assertThat(array[4999]).isNotZero();
    }
    assertThatThrownBy(() -> get(client.pull(3, DenseMemory.of(new float[4999]), List.of(), false)))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("memory for a pull");
  }

  private long rows(String job) throws Exception {
    return get(loop.on(() -> Future.succeededFuture(shard.status(job).rows().get("emb"))));
  }

  @Test
  void a_refused_request_says_why() throws Exception {
    get(client(job("refused", Mode.ASYNC, 1, 8), 0).register());
    assertThatThrownBy(() -> get(client(job("refused", Mode.ASYNC, 2, 8), 1).register())).isInstanceOf(Conflict.class)
        .hasMessageContaining("refused");
    assertThatThrownBy(() -> get(client(job("refused", Mode.ASYNC, 1, 8), 7).register()))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("rank 7");
  }

  @Test
  void everything_pending_fails_with_the_lost_peers_name_and_so_does_what_comes_later() throws Exception {
    GrpcShardLink link = registered("lost");
    List<CompletionStage<Pulled>> waiting = List.of(call(link, l -> l.pull(DENSE)), call(link, l -> l.pull(DENSE)));
    loop.closeLocal();
    get(server.close());
    for (CompletionStage<Pulled> w : waiting) {
      assertThatThrownBy(() -> get(w)).isInstanceOf(PeerLost.class)
          .hasMessageContaining("shard 0 at 127.0.0.1:" + server.actualPort() + " is lost");
    }
    assertThatThrownBy(() -> get(call(link, l -> l.pull(DENSE)))).isInstanceOf(PeerLost.class)
        .hasMessageContaining("shard 0 at 127.0.0.1");
  }

  @Test
  void a_pull_waits_without_limit_while_the_shard_lives_and_no_longer_when_it_freezes() throws Exception {
    FreezableProxy proxy = new FreezableProxy(loop.vertx, server.actualPort());
    GrpcShardLink link = get(open(proxy.port(), options.with(s -> s.pingIntervalMillis(50).pingTimeoutMillis(500))));
    get(call(link, l -> l.register(job("frozen", Mode.ASYNC, 1, 8), new TrainerId(0, 1), 0)));
    CompletableFuture<Pulled> waiting = call(link, l -> l.pull(DENSE)).toCompletableFuture();
    Promise<Void> longer = Promise.promise();
    loop.vertx.setTimer(1500, t -> longer.complete()); // three times the limit for a sign of life
    get(longer.future());
    assertThat(waiting).isNotDone();
    proxy.freeze();
    assertThatThrownBy(() -> get(waiting)).isInstanceOf(PeerLost.class).hasMessageContaining("shard 0 at")
        .hasMessageContaining("has not answered for 500 ms");
  }

  @Test
  void answers_complete_on_the_links_context() throws Exception {
    GrpcShardLink link = registered("context");
    Promise<Context> where = Promise.promise();
    loop.context.runOnContext(v -> link.leave(true)
        .whenComplete((x, e) -> where.complete(loop.vertx.getOrCreateContext())));
    assertThat(get(where.future())).isSameAs(loop.context);
  }

  @Test
  void more_unanswered_requests_than_the_limit_are_refused_here() throws Exception {
    GrpcShardLink link = registered("many");
    List<CompletionStage<Pulled>> waiting = new ArrayList<>();
    for (int i = 0; i < options.maxRequests(); i++) {
      waiting.add(call(link, l -> l.pull(DENSE)));
    }
    assertThatThrownBy(() -> get(call(link, l -> l.pull(DENSE)))).isInstanceOf(Overloaded.class)
        .hasMessageContaining("16 requests").hasMessageContaining("stream.max_requests");
    get(loop.on(() -> {
      shard.initialize("many", new TrainerId(0, 1), DenseMemory.of(new float[8]));
      return Future.succeededFuture();
    }));
    for (CompletionStage<Pulled> w : waiting) {
      assertThat(get(w).dense().toArray()).hasSize(8);
    }
  }

  @Test
  void a_consumer_that_throws_fails_its_export_and_nothing_else() throws Exception {
    GrpcShardLink link = registered("export");
    get(call(link, l -> l.initialize(DenseMemory.of(new float[8]))));
    get(call(link, l -> l.pull(new Pull(0, 0, false, List.of(new SparseIds("emb", ids(500))), false))));
    IllegalStateException full = new IllegalStateException("disk full");
    assertThatThrownBy(() -> get(call(link, l -> l.export("emb", rows -> {
      throw full;
    })))).isSameAs(full);
    assertThat(get(call(link, l -> l.pull(DENSE))).dense().toArray()).hasSize(8);
    assertThatThrownBy(() -> get(call(link, l -> l.export("other", rows -> CompletableFuture.completedFuture(null))))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("other");
  }

  @Test
  void while_a_sink_holds_a_slice_no_other_comes_and_nothing_is_read() throws Exception {
    GrpcShardLink link = get(open(server.actualPort(), options));
    get(call(link, l -> l.register(job("held", Mode.ASYNC, 1, 8), new TrainerId(0, 1), 0)));
    get(call(link, l -> l.initialize(DenseMemory.of(new float[8]))));
    get(call(link, l -> l.pull(new Pull(0, 0, false, List.of(new SparseIds("emb", ids(3000))), false))));
    List<Integer> slices = new ArrayList<>();
    CompletableFuture<Void> written = new CompletableFuture<>();
    Promise<Void> first = Promise.promise();
    CompletionStage<Void> export = call(link, l -> l.export("emb", rows -> {
      slices.add(rows.ids().length);
      first.tryComplete();
      return written;
    }));
    get(first.future());
    CompletionStage<Pulled> behind = call(link, l -> l.pull(DENSE));
    Promise<Void> longer = Promise.promise();
    loop.vertx.setTimer(300, t -> longer.complete());
    get(longer.future());
    assertThat(slices).hasSize(1);
    assertThat(behind.toCompletableFuture()).as("the stream is held").isNotDone();
    loop.context.runOnContext(v -> written.complete(null));
    get(export);
    assertThat(slices).hasSizeGreaterThan(1);
    assertThat(slices.stream().mapToInt(n -> n).sum()).isEqualTo(3000);
    assertThat(get(behind).dense().toArray()).hasSize(8);
  }

  @Test
  void closing_cancels_what_is_pending() throws Exception {
    GrpcShardLink link = registered("closing");
    CompletionStage<Pulled> waiting = call(link, l -> l.pull(DENSE));
    get(call(link, GrpcShardLink::close));
    assertThatThrownBy(() -> get(waiting)).isInstanceOf(Cancelled.class).hasMessageContaining("shard 0 at");
    assertThat(get(loop.on(() -> Future.succeededFuture(shard.jobs())))).as("closing is not leaving")
        .containsExactly("closing");
  }

  @Test
  void bad_answers_break_the_link_with_a_reason() throws Exception {
    assertBroken(h -> h.setPushAck(PushAck.getDefaultInstance()), 0, "is to be answered by PULL_VALUES");
    assertBroken(h -> h.setRequest(99), 0, "request 99, which is not open");
    assertBroken(h -> h.setDense(Messages.dense(0, 8)), 31, "no whole number of 4-byte floats");
    assertBroken(h -> h.setDense(Messages.dense(0, 1L << 30)), 32, "stream.max_request_bytes");
  }

  private void assertBroken(Function<TensorMessage.Builder, TensorMessage.Builder> answer, int bytes, String reason)
      throws Exception {
    Handler<TensorStream> liar = s -> s.handler(f -> s.send(new TensorFrame(answer.apply(TensorMessage.newBuilder()
        .setPullValues(PullValues.getDefaultInstance()).setRequest(f.header().getRequest())).build(),
        ByteBuffer.allocate(bytes))));
    GrpcShardLink link = get(open(loop.serve(PATH, options, liar).actualPort(), options));
    assertThatThrownBy(() -> get(call(link, l -> l.pull(DENSE)))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("shard 0 at 127.0.0.1").hasMessageContaining(reason);
  }

  private GrpcShardLink registered(String job) throws Exception {
    GrpcShardLink link = get(open(server.actualPort(), options));
    get(call(link, l -> l.register(job(job, Mode.ASYNC, 1, 8), new TrainerId(0, 1), 0)));
    return link;
  }

  private ParameterClient client(JobSpec job, int rank) throws Exception {
    return new ParameterClient(job, new TrainerId(rank, 1), List.of(get(open(server.actualPort(), options))),
        r -> loop.context.runOnContext(v -> r.run()));
  }

  private Future<GrpcShardLink> open(int port, StreamOptions options) {
    Promise<GrpcShardLink> link = Promise.promise();
    loop.context.runOnContext(v -> new TensorStreamClient(loop.vertx, options)
        .open("127.0.0.1", port, PATH).map(s -> new GrpcShardLink(s, "shard 0 at 127.0.0.1:" + port, 0, 0, () -> 1,
            j -> Future.succeededFuture(shard.digest(j)), options)).onComplete(link));
    return link.future();
  }

  /** A call on the link's context. */
  private <T> CompletionStage<T> call(GrpcShardLink link, Function<GrpcShardLink, CompletionStage<T>> call) {
    CompletableFuture<T> result = new CompletableFuture<>();
    loop.context.runOnContext(v -> call.apply(link).whenComplete((value, error) -> {
      if (error != null) {
        result.completeExceptionally(error);
      } else {
        result.complete(value);
      }
    }));
    return result;
  }
}
