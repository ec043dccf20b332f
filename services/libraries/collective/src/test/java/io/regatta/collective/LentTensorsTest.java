package io.regatta.collective;

import static io.regatta.node.testing.Nodes.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Tensor;
import io.regatta.core.collective.TensorMemory;
import io.regatta.core.collective.WireType;
import io.regatta.node.process.PlainVertx;
import io.regatta.protocol.memory.SharedMemory;
import io.regatta.protocol.stream.Transport;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.FloatBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tensors in memory that other ranks read where it lies, between ranks that see each other as other processes do. */
@EnabledOnOs(OS.LINUX)
class LentTensorsTest {
  /** Parts of it are long enough to be lent, whatever the number of ranks. */
  private static final int FLOATS = 500_000;
  private static final int KILLS = 40;

  private final Vertx vertx = Vertx.vertx(PlainVertx.options());

  @AfterEach
  void close() {
    get(vertx.close());
  }

  private static void fill(TensorMemory memory, float value) {
    FloatBuffer floats = memory.bytes().asFloatBuffer();
    while (floats.hasRemaining()) {
      floats.put(value);
    }
  }

  private static boolean isAll(TensorMemory memory, float value) {
    FloatBuffer floats = memory.bytes().asFloatBuffer();
    while (floats.hasRemaining()) {
      if (floats.get() != value) {
        return false;
      }
    }
    return true;
  }

  private static Tensor whole(TensorMemory memory) {
    return Tensor.of(memory, 0, FLOATS);
  }

  /** Until ranks have opened the memory of others: then this process has mapped some to read it. */
  private static void sumUntilLent(List<Collectives> ranks, List<TensorMemory> memories) throws IOException {
    for (int lent = 0; lent < 4; ) {
      sumOnce(ranks, memories);
      try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
        lent += maps.anyMatch(line -> line.contains(" r--s ") && line.contains("/dev/shm/regatta-")) ? 1 : 0;
      }
    }
  }

  /** Returns how long it took. */
  private static long sumOnce(List<Collectives> ranks, List<TensorMemory> memories) {
    for (int r = 0; r < ranks.size(); r++) {
      fill(memories.get(r), r + 1);
    }
    long begin = System.nanoTime();
    List<Future<Void>> calls = ranks.stream().map(rank -> rank.allReduce(whole(memories.get(rank.rank())), ReduceOp.SUM)).toList();
    get(Future.all(calls));
    long nanos = System.nanoTime() - begin;
    float sum = ranks.size() * (ranks.size() + 1) / 2;
    assertThat(memories).allMatch(memory -> isAll(memory, sum));
    return nanos;
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3, 4})
  void all_operations_end_with_what_they_end_with_in_memory_of_ones_own(int size) throws IOException {
    try (LocalGroup group = new LocalGroup(vertx, size, Transport.GRPC_SHARED)) {
      List<TensorMemory> memories = group.ports.stream().map(port -> port.memory(FLOATS * Float.BYTES)).toList();
      assertThat(memories).allMatch(memory -> memory instanceof SharedMemory);
      sumUntilLent(group.ranks, memories);
      for (int again = 0; again < 5; again++) {
        sumOnce(group.ranks, memories);
      }
      int root = size - 1;
      get(Future.all(group.all(rank -> rank.allReduce(whole(memories.get(rank.rank())).on(WireType.BFLOAT16), ReduceOp.MAX))));
      fill(memories.get(root), 7);
      get(Future.all(group.all(rank -> rank.broadcast(whole(memories.get(rank.rank())), root))));
      assertThat(memories).allMatch(memory -> isAll(memory, 7));
      get(Future.all(group.all(rank -> rank.reduceScatter(whole(memories.get(rank.rank())), ReduceOp.SUM)
          .compose(v -> rank.allGather(whole(memories.get(rank.rank())))))));
      assertThat(memories).allMatch(memory -> isAll(memory, 7 * size));
      get(Future.all(group.all(rank -> rank.reduce(whole(memories.get(rank.rank())), ReduceOp.SUM, 0))));
      assertThat(isAll(memories.get(0), 7 * size * size)).isTrue();
    }
  }

  /** The receiver sends nothing, and later messages wait for a call that it does not make before. */
  @Test
  void a_call_ends_when_its_own_tensor_has_been_read_whatever_else_is_lent() throws IOException {
    try (LocalGroup group = new LocalGroup(vertx, 2, Transport.GRPC_SHARED)) {
      List<TensorMemory> memories = group.ports.stream().map(port -> port.memory(FLOATS * Float.BYTES)).toList();
      sumUntilLent(group.ranks, memories);
      Collectives root = group.ranks.get(0);
      Collectives taker = group.ranks.get(1);
      for (int again = 0; again < 5; again++) {
        Promise<List<Future<Void>>> made = Promise.promise();
        root.loop().execute(() -> made.complete(List.of(root.broadcast(whole(memories.get(0)), 0),
            root.broadcast(whole(memories.get(0)), 0))));
        List<Future<Void>> both = get(made.future());
        get(taker.broadcast(whole(memories.get(1)), 0));
        get(both.get(0));
        assertThat(both.get(1).isComplete()).isFalse();
        get(taker.broadcast(whole(memories.get(1)), 0));
        get(both.get(1));
      }
    }
  }

  /**
   * A rank whose call has failed uses its memory for something else at once, as a trainer does for its next step. A
   * call of another rank that still succeeds has the sum, and nothing of that.
   */
  @Test
  void no_call_succeeds_with_what_a_rank_has_written_behind_a_call_that_failed() throws IOException {
    Random random = new Random(11);
    int ranks = 3;
    int failed = 0;
    int succeeded = 0;
    try (LocalGroup group = new LocalGroup(vertx, ranks, Transport.GRPC_SHARED)) {
      List<TensorMemory> memories = group.ports.stream().map(port -> port.memory(FLOATS * Float.BYTES)).toList();
      for (int kill = 0; kill < KILLS; kill++) {
        if (kill > 0) {
          group.ranks = LocalGroup.form(kill + 1, group.ports);
        }
        sumUntilLent(group.ranks, memories);
        long sumNanos = sumOnce(group.ranks, memories);
        for (int r = 0; r < ranks; r++) {
          fill(memories.get(r), r + 1);
        }
        Collectives victim = group.ranks.get(random.nextInt(ranks));
        int moment = random.nextInt(5);
        Promise<Void> closed = Promise.promise();
        if (moment == 0) { // before its own call begins
          victim.loop().execute(() -> victim.close().onComplete(closed));
        }
        long begin = System.nanoTime();
        List<Future<String>> calls = new ArrayList<>();
        for (Collectives rank : group.ranks) {
          TensorMemory memory = memories.get(rank.rank());
          calls.add(rank.allReduce(whole(memory), ReduceOp.SUM).map("").recover(e -> {
            fill(memory, Float.NaN);
            return Future.succeededFuture(e.toString());
          }));
        }
        if (moment == 4) { // it at least succeeds
          calls.get(victim.rank()).onComplete(ended -> victim.close().onComplete(closed));
        } else if (moment > 0) {
          while (System.nanoTime() - begin < moment * sumNanos / 4) {
            Thread.onSpinWait();
          }
          victim.close().onComplete(closed);
        }
        for (int r = 0; r < ranks; r++) {
          String why = get(calls.get(r));
          failed += moment > 0 && !why.isEmpty() ? 1 : 0;
          succeeded += why.isEmpty() ? 1 : 0;
          assertThat(!why.isEmpty() || isAll(memories.get(r), 6)).as("kill %d, rank %d", kill, r).isTrue();
          if (!why.isEmpty() && r != victim.rank()) {
            assertThat(why).as("who is lost").contains("PeerLost").contains("rank " + victim.rank());
          }
        }
        get(closed.future());
      }
    }
    assertThat(failed).as("the moments were not all too late").isGreaterThan(0);
    assertThat(succeeded).as("nor all too early").isGreaterThan(0);
  }
}
