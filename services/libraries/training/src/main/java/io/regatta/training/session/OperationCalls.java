package io.regatta.training.session;

import io.regatta.core.reduce.Elementwise;
import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Calls of the ranks of a collective job among each other, each an {@link RankOperation}. In an elastic job all make the
 * same calls at the same places, and a newcomer makes those that are behind the others alone, with its own values, or
 * gets their recorded result ({@link ElasticPasses.Place}). Belongs to the rank's model thread.
 */
public final class OperationCalls implements RankCalls {

  private final RankOperations rank;
  private final RankGroup peers;
  private final ElasticPasses passes;

  OperationCalls(RankOperations rank) {
    this.rank = rank;
    this.peers = rank.peers();
    this.passes = rank.passes();
  }

  private interface Making {
    RankOperation.Result make();
  }

  /** What a call comes to; null if it is behind. */
  private RankOperation.Result call(Making making) {
    return switch (passes.beginCall()) {
      case BEHIND -> null;
      case RECORDED -> passes.recorded();
      case NOW -> {
        RankOperation.Result result = making.make();
        if (peers.isElastic()) { // others may come, whose programs come to this call later
          passes.endCall(result);
        }
        yield result;
      }
    };
  }

  /** The same; only this rank's values in a call that is behind. Calls are matched by their order. */
  @Override
  public List<double[]> gather(String operation, String key, double[] mine) {
    RankOperation.Result result = call(() -> gathered(operation, mine));
    return result == null ? List.of(mine) : values(result);
  }

  private static List<double[]> values(RankOperation.Result result) {
    return Recovery.unpacked(result.longs()).stream()
        .map(bits -> Arrays.stream(bits).mapToDouble(Double::longBitsToDouble).toArray()).toList();
  }

  private static long[] bits(double[] values) {
    return Arrays.stream(values).mapToLong(Double::doubleToRawLongBits).toArray();
  }

  private RankOperation.Result gathered(String what, double[] mine) {
    return rank.perform(new Part(what) {
      @Override
      public Result attempt() {
        return new Result(Recovery.packed(parts(what, bits(mine))), new float[0]);
      }
    });
  }

  /** All ranks' arrays: lengths first, for each part of a gather is as long as the others. */
  private long[][] parts(String what, long[] mine) {
    int ranks = peers.worldSize();
    long[] lengths = new long[ranks];
    lengths[peers.rank()] = mine.length;
    await(what, peers.gather(lengths));
    int longest = (int) Arrays.stream(lengths).max().orElse(0);
    long[] values = new long[Math.multiplyExact(ranks, longest)];
    System.arraycopy(mine, 0, values, peers.rank() * longest, mine.length);
    if (longest > 0) {
      await(what, peers.gather(values));
    }
    long[][] parts = new long[ranks][];
    for (int r = 0; r < ranks; r++) {
      parts[r] = Arrays.copyOfRange(values, r * longest, r * longest + (int) lengths[r]);
    }
    return parts;
  }

  @Override
  public double[] reduce(String operation, String key, Elementwise how, double[] values) {
    return how.reduce(gather(operation, key, values).stream().map(DoubleBuffer::wrap).toList());
  }

  /** The same; nothing, and not done, in a call that is behind. */
  @Override
  public double[] byTheLowest(String operation, String key, boolean able, Supplier<double[]> deed) {
    RankOperation.Result result = call(() -> {
      double[] told = Election.byTheLowest(rank.life(), peers.rank() == 0, able, deed,
          (round, mine) -> values(gathered(operation, mine)));
      return new RankOperation.Result(bits(told), new float[0]);
    });
    return result == null ? new double[0] : Arrays.stream(result.longs()).mapToDouble(Double::longBitsToDouble).toArray();
  }

  /** Makes values that are each rank's own (running means) their mean over all ranks, in place. */
  public void averageFrozen(float[] values) {
    mean("mean of what is not trained, over the trainers", values);
  }

  /** The mean over all ranks, in place. */
  public void mean(String what, float[] values) {
    RankOperation.Result result = call(() -> exchanged(what, values, memory -> {
      await(what, peers.sum(memory));
      FloatBuffer sums = Recovery.floats(memory);
      float share = (float) (1.0 / peers.worldSize());
      for (int i = 0; i < values.length; i++) {
        sums.put(i, sums.get(i) * share);
      }
    }));
    if (result != null) {
      take(result, values);
    }
  }

  /**
   * What the first rank has, in place. It is not recorded, for it may be as large as a model: who comes later keeps its own values, and
   * is given what has become of the others'.
   */
  public void ofTheFirst(String what, float[] values) {
    call(() -> {
      take(exchanged(what, values, memory -> {
        await(what, peers.broadcast(memory, 0));
        await(what, peers.gather(new long[peers.worldSize()])); // the first is done when its sends are; an operation needs all ranks
      }), values);
      return RankOperation.Result.NONE;
    });
  }

  private static void take(RankOperation.Result result, float[] values) {
    System.arraycopy(result.floats(), 0, values, 0, values.length);
  }

  /** Of no values no operation: one that ranks complete without each other would let them differ by more than one. */
  private RankOperation.Result exchanged(String what, float[] values, Consumer<ByteBuffer> exchange) {
    return values.length == 0 ? RankOperation.Result.NONE : rank.perform(new Part(what) {
      @Override
      public Result attempt() {
        ByteBuffer memory = Recovery.memory(values.length);
        Recovery.floats(memory).put(values);
        exchange.accept(memory);
        float[] all = new float[values.length];
        Recovery.floats(memory).get(all);
        return new Result(new long[0], all);
      }
    });
  }

  private void await(String what, CompletionStage<Void> stage) {
    rank.await(what, stage);
  }

  /** An operation within a call; all of it is its result. */
  private abstract static class Part implements RankOperation {
    private final String what;

    Part(String what) {
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

    @Override
    public void completed(Result result) {}
  }
}
