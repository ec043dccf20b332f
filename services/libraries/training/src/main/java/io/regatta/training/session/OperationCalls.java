package io.regatta.training.session;

import com.google.protobuf.ByteString;
import com.google.protobuf.Message;
import io.regatta.core.reduce.Elementwise;
import io.regatta.protocol.gather.ElectionResult;
import io.regatta.protocol.message.GatheredMessages;
import java.nio.ByteBuffer;
import java.nio.DoubleBuffer;
import java.nio.FloatBuffer;
import java.nio.LongBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The calls of the ranks of a collective job among each other, each an {@link RankOperation}. In an elastic job all
 * make the same calls at the same places. A newcomer makes the calls that the others made in earlier passes alone, with
 * its own values, and gets the recorded results of later ones ({@link ElasticPasses.Place}). Belongs to the rank's
 * model thread.
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

  /** Returns the result of a call; null if the others made it in an earlier pass. */
  private RankOperation.Result call(Making making) {
    return switch (passes.beginCall()) {
      case BEHIND -> null;
      case RECORDED -> passes.recorded();
      case NOW -> {
        RankOperation.Result result = making.make();
        if (peers.isElastic()) { // newcomers may reach this call later
          passes.endCall(result);
        }
        yield result;
      }
    };
  }

  /** Gathers values; in a call of an earlier pass, only this rank's. Calls are matched by their order. */
  @Override
  public <M extends Message> List<M> gather(String operation, String key, M mine) {
    RankOperation.Result result = call(() -> gathered(operation, longs(mine)));
    return result == null ? List.of(mine) : messages(operation, mine, result);
  }

  private static <M extends Message> List<M> messages(String operation, M mine, RankOperation.Result result) {
    return GatheredMessages.read(operation, mine, Recovery.unpacked(result.longs()).stream().map(OperationCalls::bytes).toList());
  }

  /** Returns the size of a message in bytes, then its bytes, eight in a number. */
  private static long[] longs(Message message) {
    int size = message.getSerializedSize();
    ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES * (1 + (size + Long.BYTES - 1) / Long.BYTES)).putLong(size);
    message.toByteString().copyTo(bytes);
    long[] longs = new long[bytes.capacity() / Long.BYTES];
    bytes.rewind().asLongBuffer().get(longs);
    return longs;
  }

  private static ByteString bytes(long[] longs) {
    ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES * longs.length);
    bytes.asLongBuffer().put(LongBuffer.wrap(longs));
    return ByteString.copyFrom(bytes.position(Long.BYTES).limit(Long.BYTES + (int) longs[0]));
  }

  private RankOperation.Result gathered(String what, long[] mine) {
    return rank.perform(new Part(what) {
      @Override
      public Result attempt() {
        return new Result(Recovery.packed(parts(what, mine)), new float[0]);
      }
    });
  }

  /** Returns all ranks' arrays; lengths are gathered first, because all parts of a gather have the same length. */
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
    RankOperation.Result result = call(() -> gathered(operation, Arrays.stream(values).mapToLong(Double::doubleToRawLongBits).toArray()));
    return result == null ? how.reduce(List.of(DoubleBuffer.wrap(values))) : how.reduce(Recovery.unpacked(result.longs()).stream()
        .map(bits -> DoubleBuffer.wrap(Arrays.stream(bits).mapToDouble(Double::longBitsToDouble).toArray())).toList());
  }

  /** Runs an operation on the lowest rank; in a call of an earlier pass it is not run, and the result is empty. */
  @Override
  public Optional<ElectionResult> byTheLowest(String operation, String key, boolean able, Supplier<ElectionResult> deed) {
    RankOperation.Result result = call(() -> Election.byTheLowest(rank.life(), peers.rank() == 0, able, deed,
        (round, mine) -> messages(operation, mine, gathered(operation, longs(mine))))
        .map(elected -> new RankOperation.Result(longs(elected), new float[0])).orElse(RankOperation.Result.NONE));
    return result == null || result.longs().length == 0 ? Optional.empty()
        : Optional.of(GatheredMessages.read(operation, ElectionResult.getDefaultInstance(), List.of(bytes(result.longs()))).get(0));
  }

  /** Averages values that are each rank's own (running means) over all ranks, in place. */
  public void averageFrozen(float[] values) {
    mean("mean over the trainers of parameters that are not trained", values);
  }

  /** Averages values over all ranks, in place. */
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
   * Copies the values of the first rank, in place. The result is not recorded, because it may be as large as a model: a
   * newcomer keeps its own values, and receives the others' present ones.
   */
  public void ofTheFirst(String what, float[] values) {
    call(() -> {
      take(exchanged(what, values, memory -> {
        await(what, peers.broadcast(memory, 0));
        await(what, peers.gather(new long[peers.worldSize()])); // an operation needs all ranks
      }), values);
      return RankOperation.Result.NONE;
    });
  }

  private static void take(RankOperation.Result result, float[] values) {
    System.arraycopy(result.floats(), 0, values, 0, values.length);
  }

  /**
   * Makes an operation, but none without values: ranks would complete it alone and could differ by more than one
   * operation.
   */
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

  /** An operation within a call; its result is complete. */
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
