package io.regatta.protocol.shard;

import static io.regatta.protocol.shard.TestJobs.job;
import static io.regatta.protocol.stream.Loop.get;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseSlice;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Push;
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
import io.vertx.core.Future;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The heap allocation of both loops for a chunk of 1 MiB on its way, after warm-up. By Vert.x alone it is more than the
 * chunk.
 */
class ChunkAllocationTest {
  private static final int CHUNK = 1 << 20;
  private static final int CHUNKS = 16;
  private static final int N = CHUNKS * CHUNK / Float.BYTES;
  private static final int ROUNDS = 10;
  /** Twice the measured value past Vert.x; in-process it is a quarter of that. */
  private static final long BOUND = 32 << 10;

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
  private GrpcShardLink link;
  private long pushes;

  @ParameterizedTest
  @EnumSource(names = {"GRPC", "AUTO"})
  void it_is_a_few_objects_for_each_read_and_frame_and_no_copy(Transport transport) throws Exception {
    StreamOptions options = StreamOptions.defaults().withChunkBytes(CHUNK).withTransport(transport);
    ByteBuffer memory = ByteBuffer.allocateDirect(4 * N).order(ByteOrder.LITTLE_ENDIAN);
    try (Loop servers = new Loop(); Loop loop = new Loop()) {
      ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(), TestClock.at(0));
      int port = servers.serve(StreamPaths.PARAMETER_SHARD, options,
          s -> ShardStreamSession.serve(s, new CoreShardHandler(shard), options)).actualPort();
      link = get(loop.on(() -> new TensorStreamClient(loop.vertx, options)
          .open("127.0.0.1", port, StreamPaths.PARAMETER_SHARD)
          .map(s -> new GrpcShardLink(s, "shard 0", 0, 0, () -> 1, j -> Future.succeededFuture(0L), options))));
      JobSpec job = job("a", Mode.ASYNC, 1, N);
      get(loop.on(() -> Future.fromCompletionStage(link.register(job, new TrainerId(0, 1), 0))));
      get(loop.on(() -> Future.fromCompletionStage(link.initialize(DenseMemory.of(new float[N])))));
      DenseSlice dense = DenseMemory.of(memory).slice(DensePartition.of(job.model().dense(), 1, job.minBlock()), 0);
      long push = perChunk(loop, servers, () -> Future.fromCompletionStage(link.push(
          new Push(List.of(new Contributor(0, 1, ++pushes, 1)), pushes, 0, dense, List.of()))));
      long pull = perChunk(loop, servers, () -> Future.fromCompletionStage(
          link.pull(new Pull(0, 0, true, dense, List.of(), false, false))));
      assertThat(push).as("bytes per chunk pushed").isPositive().isLessThan(BOUND);
      assertThat(pull).as("bytes per chunk pulled").isPositive().isLessThan(BOUND);
    }
  }

  /** Returns the allocation of both loops together; the first uses do not count. */
  private long perChunk(Loop client, Loop server, Supplier<Future<?>> step) throws Exception {
    long before = 0;
    for (int i = 0; i < 2 * ROUNDS; i++) {
      if (i == ROUNDS) {
        before = allocated(client) + allocated(server);
      }
      get(client.on(() -> step.get().mapEmpty()));
    }
    return (allocated(client) + allocated(server) - before) / (ROUNDS * CHUNKS);
  }

  private long allocated(Loop loop) throws Exception {
    long id = get(loop.on(() -> Future.succeededFuture(Thread.currentThread().getId())));
    return threads.getThreadAllocatedBytes(id);
  }
}
