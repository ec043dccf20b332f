package io.regatta.core.shard;

import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;

/**
 * The state of one shard: per job its part of the dense vector, its sparse rows, optimizer slots, versions, clocks and
 * de-duplication state per trainer, and in sync mode the open rounds. Owned by one thread (its verticle's event loop,
 * or the model thread in local mode); nothing here blocks, locks or starts a thread. A pull that must wait is parked
 * here and completed by the push, leave or loss that releases it, on the same thread.
 *
 * <p>Completions are {@code (value, error)} with exactly one of them non-null; errors are
 * {@link io.regatta.core.error.RegattaException}s. A refused request changes nothing.
 */
public final class ParameterShard {

  /**
   * Limits of one shard.
   *
   * @param jobs jobs at a time
   * @param openRounds sync rounds open at a time
   * @param parkedPulls waiting pulls at a time, per job
   * @param rows sparse rows in all tables of a job
   */
  public record Limits(int jobs, int openRounds, int parkedPulls, long rows) {
    public static Limits defaults() {
      return new Limits(64, 64, 4096, 200_000_000L);
    }
  }

  /**
   * What {@code regatta status} shows of one trainer on this shard.
   *
   * @param state {@code active}, {@code left} or {@code lost}
   * @param lastStep last step pushed, -1 if none
   * @param lastSeenMillis wall clock of its last request
   */
  public record TrainerStatus(int rank, long incarnation, String state, long lastStep, long lastSeenMillis) {}

  /**
   * What {@code regatta status} and the metrics show of one job on this shard.
   *
   * @param version updates applied
   * @param rows sparse rows per table
   * @param stalenessMax highest {@link PushAck#staleness} so far
   * @param stalenessSum sum of them, for a mean over {@code pushes}
   * @param clockGapMax highest lead of a trainer's clock over the slowest active one, seen at a pull
   * @param pushes applied pushes
   * @param skipped pushes dropped by the NaN policy
   * @param repeated pushes recognised as repeated
   * @param roundWaitMillis per rank: total time that closed sync rounds waited for it after their first push
   */
  public record JobStatus(String job, Mode mode, long version, int denseSize, Map<String, Long> rows,
      long stalenessMax, long stalenessSum, long clockGapMax, long pushes, long skipped, long repeated,
      Map<Integer, Long> roundWaitMillis, List<TrainerStatus> trainers) {}

  public ParameterShard(int index, Limits limits, java.util.function.LongSupplier clockMillis) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  /** See {@link ShardLink#register}. Refuses a second incarnation of a live rank, another model, a rank ≥ trainers. */
  public void register(JobSpec job, TrainerId trainer) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  /** See {@link ShardLink#initialize}. */
  public void initialize(String job, TrainerId trainer, float[] dense) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  public void push(String job, Push push, BiConsumer<PushAck, Throwable> done) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  public void pull(String job, Pull pull, BiConsumer<Pulled, Throwable> done) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  /** The trainer has ended its run: nobody waits for it any more; frees its state; the last one frees the job. */
  public void leave(String job, TrainerId trainer) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  /**
   * The trainer is dead (lease expired at the rendezvous): as {@link #leave}, but reported as {@code lost}, its pushes
   * in open rounds are kept if whole, and its parked pulls fail with {@code PeerLost}. A no-op for an older or unknown
   * incarnation.
   */
  public void lost(String job, TrainerId trainer) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  /** See {@link ShardLink#digest}. */
  public long digest(String job) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  /** Ids of a table, in no particular order; the basis of an export in bounded slices. */
  public long[] ids(String job, String table) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  /** Copies of the rows (values only) of those of the ids that exist. */
  public SparseRows rows(String job, String table, long[] ids, int from, int to) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  /** Job names on this shard. */
  public List<String> jobs() {
    throw new UnsupportedOperationException("TODO core helper");
  }

  public JobStatus status(String job) {
    throw new UnsupportedOperationException("TODO core helper");
  }

  /** Everything parked here, with whom it waits for. */
  public List<Wait> waits() {
    throw new UnsupportedOperationException("TODO core helper");
  }
}
