package io.regatta.fleet.simulation;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.collective.CollectiveOptions;
import io.regatta.collective.CollectiveRank;
import io.regatta.collective.Collectives;
import io.regatta.collective.Membership;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.collective.Tensor;
import io.regatta.core.loop.Loop;
import io.regatta.core.testing.VirtualTime;
import io.regatta.node.admin.Waits;
import io.regatta.protocol.stream.StreamOptions;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.testing.SimulatedNetwork;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** All-reduces of three ranks in virtual time: the same bits at all ranks, whatever the network does. */
class SimulatedCollectivesTest {
  private static final int RANKS = 3;
  private static final int SEEDS = 200;
  private static final Duration LIMIT = Duration.ofMinutes(10);

  private static float[] values(int rank, int call, int length) {
    Random random = new Random(1009L * call + rank);
    float[] values = new float[length];
    for (int i = 0; i < length; i++) {
      values[i] = (float) random.nextGaussian();
    }
    return values;
  }

  /** Results of some calls at all ranks. */
  private static List<List<float[]>> reduced(long seed, int longestMicros, int[] lengths) {
    StreamOptions streams = StreamOptions.defaults();
    VirtualTime time = new VirtualTime(seed);
    SimulatedNetwork network = new SimulatedNetwork(time, seed, 10, longestMicros, streams);
    List<String> endpoints = new ArrayList<>();
    List<CollectiveRank> ranks = new ArrayList<>();
    for (int r = 0; r < RANKS; r++) {
      Loop loop = time.loop("rank " + r);
      CollectiveRank rank = new CollectiveRank(loop, "rank-" + r, network.of(loop), CollectiveOptions.defaults().withStream(streams),
          new Waits(time, 10));
      endpoints.add("rank-" + r + ":1");
      rank.listens(endpoints.get(r));
      network.listen(loop, "rank-" + r, 1).streams(StreamPaths.COLLECTIVE, rank::accept);
      ranks.add(rank);
    }
    List<Future<List<float[]>>> results = new ArrayList<>();
    for (int r = 0; r < RANKS; r++) {
      int rank = r;
      results.add(ranks.get(r).form(new Membership("simulated", 1, r, endpoints))
          .compose(formed -> calls(formed, rank, 0, lengths, new ArrayList<>())));
    }
    Future<?> all = Future.all(results);
    time.runUntil(all::isComplete, LIMIT);
    if (all.failed()) {
      throw new AssertionError("seed " + seed, all.cause());
    }
    return results.stream().map(Future::result).toList();
  }

  private static Future<List<float[]>> calls(Collectives formed, int rank, int call, int[] lengths, List<float[]> done) {
    if (call == lengths.length) {
      return Future.succeededFuture(done);
    }
    float[] own = values(rank, call, lengths[call]);
    return formed.allReduce(Tensor.of(own), ReduceOp.SUM).compose(v -> {
      done.add(own);
      return calls(formed, rank, call + 1, lengths, done);
    });
  }

  @Test
  void all_reduces_give_the_same_bits_at_all_ranks_whatever_the_network_does() {
    int[] lengths = {1, 7, 300, 5_000, 40_000};
    List<float[]> expected = reduced(0, 11, lengths).get(0);
    for (long seed = 0; seed < SEEDS; seed++) {
      for (List<float[]> rank : reduced(seed, 5_000, lengths)) {
        for (int call = 0; call < lengths.length; call++) {
          assertThat(rank.get(call)).as("seed %d, call %d", seed, call).isEqualTo(expected.get(call));
        }
      }
    }
  }
}
