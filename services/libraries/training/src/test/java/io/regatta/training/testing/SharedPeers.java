package io.regatta.training.testing;

import io.regatta.core.collective.Tensor;
import io.regatta.core.collective.WireType;
import io.regatta.core.collective.schedule.Parts;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.training.session.PeerRanks;
import io.regatta.training.session.RankGroup;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

/** The ranks of a collective job in one process, without a network: sums in rank order. Any thread. */
final class SharedPeers {

  private record Call(FloatBuffer floats, CompletableFuture<Void> done) {}

  private final int ranks;
  private final Map<Integer, TreeMap<Integer, Call>> calls = new HashMap<>();
  private final Map<String, SharedPeers> apart = new ConcurrentHashMap<>();
  private final AtomicLong floats = new AtomicLong();

  SharedPeers(int ranks) {
    this.ranks = ranks;
  }

  /** In vectors that all ranks have summed. */
  long floats() {
    return floats.get();
  }

  RankGroup of(int rank) {
    return new RankGroup() {
      private int made;

      @Override
      public int rank() {
        return rank;
      }

      @Override
      public int worldSize() {
        return ranks;
      }

      @Override
      public CompletableFuture<Void> sum(ByteBuffer floats, WireType wire) {
        if (wire == WireType.FLOAT32) {
          return call(made++, rank, floats, -1);
        }
        rounded(floats, wire);
        return call(made++, rank, floats, -1).thenRun(() -> rounded(floats, wire));
      }

      @Override
      public CompletableFuture<Void> gather(long[] parts) { // as floats, whose sum with zeros is their bits: halves are whole numbers
        Parts of = new Parts(parts.length, ranks);
        ByteBuffer halves = ByteBuffer.allocateDirect(parts.length * 4 * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = of.from(rank); i < of.from(rank) + of.length(rank); i++) {
          for (int h = 0; h < 4; h++) {
            halves.putFloat((4 * i + h) * Float.BYTES, parts[i] >>> 16 * h & 0xffff);
          }
        }
        return call(made++, rank, halves, -1).thenRun(() -> {
          for (int i = 0; i < 4 * parts.length; i++) {
            parts[i / 4] = (i % 4 == 0 ? 0 : parts[i / 4]) | (long) halves.getFloat(i * Float.BYTES) << 16 * (i % 4);
          }
        });
      }

      @Override
      public CompletableFuture<PeerRanks> apart(String name) {
        return CompletableFuture.completedFuture(apart.computeIfAbsent(name, n -> new SharedPeers(ranks)).of(rank));
      }

      @Override
      public CompletableFuture<Void> broadcast(ByteBuffer floats, int root) {
        return call(made++, rank, floats, root);
      }

      @Override
      public CompletableFuture<Void> broadcast(long[] values, int root) {
        throw new UnsupportedOperationException("only ranks that come and go tell each other where they are");
      }
    };
  }

  /** To what it is after it has travelled. */
  private static void rounded(ByteBuffer floats, WireType wire) {
    Tensor tensor = Tensor.of(floats).on(wire);
    ByteBuffer wired = ByteBuffer.allocate(tensor.size() * wire.bytes());
    tensor.encode(0, tensor.size(), wired, new Tensor.Workspace());
    tensor.copy(0, wired.flip(), new Tensor.Workspace());
  }

  private CompletableFuture<Void> call(int number, int rank, ByteBuffer bytes, int root) {
    Call mine = new Call(bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer(), new CompletableFuture<>());
    List<Call> all;
    synchronized (this) {
      calls.computeIfAbsent(number, n -> new TreeMap<>()).put(rank, mine);
      all = calls.get(number).size() == ranks ? new ArrayList<>(calls.remove(number).values()) : List.of();
    }
    if (all.stream().anyMatch(each -> each.floats().remaining() != mine.floats().remaining())) {
      all.forEach(each -> each.done().completeExceptionally(new InvalidInput("ranks differ in the length of call " + number)));
    } else if (!all.isEmpty()) {
      float[] result = new float[mine.floats().remaining()];
      floats.addAndGet(root < 0 ? result.length : 0);
      for (int i = 0; i < result.length; i++) {
        for (Call each : root < 0 ? all : all.subList(root, root + 1)) {
          result[i] += each.floats().get(i);
        }
      }
      all.forEach(each -> each.floats().put(0, result));
      all.forEach(each -> each.done().complete(null));
    }
    return mine.done();
  }
}
