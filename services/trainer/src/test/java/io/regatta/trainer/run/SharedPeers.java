package io.regatta.trainer.run;

import io.regatta.trainer.session.PeerRanks;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;

/** The ranks of a collective job in one process, without a network: sums in rank order. Any thread. */
final class SharedPeers {

  private record Call(FloatBuffer floats, CompletableFuture<Void> done) {}

  private final int ranks;
  private final Map<Integer, TreeMap<Integer, Call>> calls = new HashMap<>();

  SharedPeers(int ranks) {
    this.ranks = ranks;
  }

  PeerRanks of(int rank) {
    return new PeerRanks() {
      private int made;

      @Override
      public CompletableFuture<Void> sum(ByteBuffer floats) {
        return call(made++, rank, floats, -1);
      }

      @Override
      public CompletableFuture<Void> broadcast(ByteBuffer floats, int root) {
        return call(made++, rank, floats, root);
      }
    };
  }

  private CompletableFuture<Void> call(int number, int rank, ByteBuffer bytes, int root) {
    Call mine = new Call(bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer(), new CompletableFuture<>());
    List<Call> all;
    synchronized (this) {
      calls.computeIfAbsent(number, n -> new TreeMap<>()).put(rank, mine);
      all = calls.get(number).size() == ranks ? new ArrayList<>(calls.remove(number).values()) : List.of();
    }
    if (!all.isEmpty()) {
      float[] result = new float[mine.floats().remaining()];
      for (int i = 0; i < result.length; i++) {
        for (Call each : root < 0 ? all : all.subList(root, root + 1)) {
          result[i] += each.floats().get(i);
        }
      }
      all.forEach(each -> {
        if (each.floats().remaining() != result.length) {
          throw new AssertionError("ranks differ in the length of call " + number);
        }
        each.floats().put(0, result);
      });
      all.forEach(each -> each.done().complete(null));
    }
    return mine.done();
  }
}
