package io.regatta.training.session;

import com.google.protobuf.Message;
import io.regatta.core.reduce.Elementwise;
import io.regatta.core.reduce.SlicedReduce;
import io.regatta.protocol.gather.ElectionResult;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * The calls of the ranks of a fixed group, matched by their keys at the group's rendezvous. Lost ranks are not awaited.
 * Called on the thread of the leader of a rank's replicas.
 */
public final class GatheredCalls implements RankCalls {

  /**
   * The meeting point of the ranks of a group. Any thread may use it; futures fail with a
   * {@link io.regatta.core.error.RegattaException}.
   */
  public interface Meeting {

    /**
     * Gathers messages: completes when every active rank has called it with the same key, with all their messages in
     * rank order. A key is used once.
     */
    <M extends Message> CompletableFuture<List<M>> gather(String key, M mine);

    /**
     * Reduces slices: completes when every active rank has called it with the same key, with all their slices reduced
     * to one in rank order. A key is used once.
     *
     * @param ofValues length of the whole array, the same on every rank
     */
    CompletableFuture<Reduced> reduce(String key, Elementwise how, double[] slice, int ofValues);
  }

  /** A reduced slice and the ranks whose slices it contains. */
  public record Reduced(double[] values, List<Integer> ranks) {}

  private final int rank;
  private final Meeting meeting;
  private final RankOperations.Waiting waiting;

  public GatheredCalls(int rank, Meeting meeting, RankOperations.Waiting waiting) {
    this.rank = rank;
    this.meeting = meeting;
    this.waiting = waiting;
  }

  @Override
  public <M extends Message> List<M> gather(String operation, String key, M mine) {
    return waiting.await(operation, meeting.gather(key, mine));
  }

  @Override
  public double[] reduce(String operation, String key, Elementwise how, double[] values) {
    SlicedReduce slices = new SlicedReduce(key, values);
    while (!slices.isDone()) {
      Reduced reply = waiting.await(operation, meeting.reduce(slices.key(), how, slices.slice(), values.length));
      slices.answered(reply.values(), reply.ranks());
    }
    return slices.result();
  }

  @Override
  public Optional<ElectionResult> byTheLowest(String operation, String key, boolean able, Supplier<ElectionResult> deed) {
    return Election.byTheLowest(rank, rank == 0, able, deed,
        (round, mine) -> gather(operation, key + "/" + round, mine));
  }
}
