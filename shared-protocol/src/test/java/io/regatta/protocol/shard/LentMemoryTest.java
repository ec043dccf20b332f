package io.regatta.protocol.shard;

import static io.regatta.protocol.shard.TestJobs.job;
import static io.regatta.protocol.stream.Loop.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.ShardLink;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.DensePartition;
import io.regatta.core.shard.ParameterShard;
import io.regatta.core.testing.TestClock;
import io.regatta.protocol.stream.Loop;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.stream.TensorStreamClient;
import io.regatta.protocol.stream.Transport;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.http.HttpServer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Direct memory that is lent to a push is not read any more when the push has failed. */
class LentMemoryTest {
  private static final int N = 8192 * 16;

  /** The link is closed while the server is busy; the lender writes to its memory as soon as it is notified. */
  @ParameterizedTest
  @EnumSource(Transport.class)
  void what_is_written_behind_the_failure_reaches_no_shard(Transport transport) throws Exception {
    closedWhileTheServerIsBusy(transport, false);
    closedWhileTheServerIsBusy(transport, true);
  }

  private static void closedWhileTheServerIsBusy(Transport transport, boolean reopens) throws Exception {
    StreamOptions options = StreamOptions.defaults().withChunkBytes(64 << 10).withTransport(transport);
    try (Loop servers = new Loop(); Loop loop = new Loop()) {
      ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(), TestClock.at(0));
      HttpServer server = servers.serve(StreamPaths.PARAMETER_SHARD, options,
          s -> ShardStreamSession.serve(s, new CoreShardHandler(shard), options));
      int port = server.actualPort();
      Supplier<Future<GrpcShardLink>> open = () -> new TensorStreamClient(loop.vertx, options)
          .open("127.0.0.1", port, StreamPaths.PARAMETER_SHARD)
          .map(s -> new GrpcShardLink(s, "shard 0", 0, 0, () -> 1, j -> Future.succeededFuture(0L), options));
      ShardLink link = get(loop.on(() -> reopens ? ReopeningShardLink.open(VertxLoop.of(loop.context), open, 64).map(l -> (ShardLink) l)
          : open.get().map(l -> (ShardLink) l)));
      JobSpec job = job("lent", Mode.ASYNC, 1, N);
      get(loop.on(() -> Future.fromCompletionStage(link.register(job, new TrainerId(0, 1), 0))));
      get(loop.on(() -> Future.fromCompletionStage(link.initialize(DenseMemory.of(new float[N])))));
      ByteBuffer memory = filled(-2); // at a rate of 0.5, values become 1
      CountDownLatch busy = new CountDownLatch(1);
      servers.context.runOnContext(v -> await(busy));
      Push push = new Push(List.of(new Contributor(0, 1, 1, 1)), 0, 0,
          DenseMemory.of(memory).slice(DensePartition.of(job.model().dense(), 1, job.minBlock()), 0), List.of());
      Promise<PushAck> pushed = Promise.promise();
      AtomicBoolean handedOver = new AtomicBoolean();
      get(loop.on(() -> {
        Future.fromCompletionStage(link.push(push)).onComplete(r -> {
          handedOver.set(link.handedOver().toCompletableFuture().isDone());
          fill(memory, 1000);
          pushed.handle(r);
        });
        link.close();
        return Future.succeededFuture();
      }));
      busy.countDown();
      assertThat(catchThrowable(() -> get(pushed.future()))).isInstanceOf(Cancelled.class);
      assertThat(handedOver).isTrue();
      float[] values = get(servers.on(() -> {
        Promise<float[]> pulled = Promise.promise();
        shard.pull("lent", new Pull(0, 0, true, List.of(), false))
            .whenComplete((v, e) -> pulled.complete(v.dense().toArray()));
        return pulled.future();
      }));
      for (float value : values) {
        assertThat(value).isIn(0f, 1f);
      }
    }
  }

  private static ByteBuffer filled(float value) {
    ByteBuffer memory = ByteBuffer.allocateDirect(4 * N).order(ByteOrder.LITTLE_ENDIAN);
    fill(memory, value);
    return memory;
  }

  private static void fill(ByteBuffer memory, float value) {
    for (int i = 0; i < N; i++) {
      memory.putFloat(4 * i, value);
    }
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await(20, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
