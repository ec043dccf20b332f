package io.regatta.trainer.session;

import java.nio.ByteBuffer;
import java.nio.FloatBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletionStage;

/**
 * What the programs of an elastic job's ranks do together beside steps, each an {@link Operation} of a call that this rank has
 * begun ({@link ElasticPasses#beginCall}), and that is not behind it. Belongs to the rank's model thread.
 */
public final class ElasticCalls {

  private final ElasticRank rank;
  private final ElasticPeers peers;

  ElasticCalls(ElasticRank rank) {
    this.rank = rank;
    this.peers = rank.peers();
  }

  /** Each rank's values, in the order of ranks; they may differ in length. */
  public List<double[]> gather(String what, double[] mine) {
    List<double[]> all = new ArrayList<>();
    rank.perform(new Call(what) {
      @Override
      public Result attempt() {
        long[][] parts = gathered(what, mine);
        Result result = new Result(Recovery.packed(parts), new float[0]);
        completed(result);
        return result;
      }

      @Override
      public void completed(Result result) {
        all.clear();
        Recovery.unpacked(result.longs()).forEach(bits -> all.add(Arrays.stream(bits).mapToDouble(Double::longBitsToDouble).toArray()));
      }
    });
    return all;
  }

  /** The bits of all ranks' values: lengths first, for each part of a gather is as long as the others'. */
  private long[][] gathered(String what, double[] mine) {
    int ranks = peers.worldSize();
    long[] lengths = new long[ranks];
    lengths[peers.rank()] = mine.length;
    await(what, peers.gather(lengths));
    int longest = (int) Arrays.stream(lengths).max().orElse(0);
    long[] values = new long[Math.multiplyExact(ranks, longest)];
    for (int i = 0; i < mine.length; i++) {
      values[peers.rank() * longest + i] = Double.doubleToRawLongBits(mine[i]);
    }
    if (longest > 0) {
      await(what, peers.gather(values));
    }
    long[][] parts = new long[ranks][];
    for (int r = 0; r < ranks; r++) {
      parts[r] = Arrays.copyOfRange(values, r * longest, r * longest + (int) lengths[r]);
    }
    return parts;
  }

  /** The mean over all ranks, in place. */
  public void mean(String what, float[] values) {
    exchange(what, values, memory -> {
      await(what, peers.sum(memory));
      FloatBuffer sums = Recovery.floats(memory);
      for (int i = 0; i < values.length; i++) {
        sums.put(i, sums.get(i) / peers.worldSize());
      }
    });
  }

  /** What the first rank has, in place. */
  public void ofTheFirst(String what, float[] values) {
    exchange(what, values, memory -> await(what, peers.broadcast(memory, 0)));
  }

  private interface FloatExchange {
    void apply(ByteBuffer memory);
  }

  private void exchange(String what, float[] values, FloatExchange exchange) {
    rank.perform(new Call(what) {
      @Override
      public Result attempt() {
        ByteBuffer memory = Recovery.memory(values.length);
        Recovery.floats(memory).put(values);
        if (values.length > 0) {
          exchange.apply(memory);
        }
        float[] result = new float[values.length];
        Recovery.floats(memory).get(result);
        completed(new Result(new long[0], result));
        return new Result(new long[0], result);
      }

      @Override
      public void completed(Result result) {
        System.arraycopy(result.floats(), 0, values, 0, values.length);
      }
    });
  }

  private void await(String what, CompletionStage<Void> stage) {
    rank.await(what, stage);
  }

  /** An operation within a call. */
  private abstract static class Call implements Operation {
    private final String what;

    Call(String what) {
      this.what = what;
    }

    @Override
    public String name() {
      return what;
    }

    @Override
    public boolean isCall() {
      return true;
    }
  }
}
