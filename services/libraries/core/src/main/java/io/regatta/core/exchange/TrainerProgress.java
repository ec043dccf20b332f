package io.regatta.core.exchange;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.util.List;

/**
 * The progress of one trainer of a job: its counts, none of which stands for another, and its replicas' positions in
 * the data. Every push carries the progress that holds once that push is applied, so that a shard knows what its values
 * contain. The clock that a shard keeps of a trainer is not included: it orders waits, and jumps after a barrier. Nor
 * are the updates of the optimizers, which the shards count ({@link OptimizerUpdates}). Immutable.
 *
 * @param localSteps steps made; of several replicas those of the one that has made most. {@code max_steps} limits them
 * @param exchanges pushes to the shards, each to all of them: in geo mode one after every {@code k_steps} local steps,
 *     or fewer before a barrier and at the end of a pass
 * @param learningRateStep next step of the schedule of the learning rate
 * @param examples trained in all of these steps, over all starts of the run; {@link #UNKNOWN} if the trainer does not
 *     report it
 * @param replicas positions of the replicas, by number; empty: not known, as for trainers that are not Regatta's
 */
@RecordBuilder
public record TrainerProgress(long localSteps, long exchanges, long learningRateStep, long examples,
    List<Replica> replicas) implements TrainerProgressBuilder.With {

  /** Number of examples if it is not known. */
  public static final long UNKNOWN = -1;

  /** Progress before the first step, or of a trainer that does not report any. */
  public static final TrainerProgress NONE = new TrainerProgress(0, 0, 0, 0, List.of());

  /** Checks the counts and takes a copy of the list. */
  public TrainerProgress {
    if (localSteps < 0 || exchanges < 0 || learningRateStep < 0 || examples < UNKNOWN) {
      throw new IllegalArgumentException("progress with " + localSteps + " local steps, " + exchanges + " exchanges and learning-rate step "
          + learningRateStep + " and " + examples + " examples; none may be negative");
    }
    replicas = List.copyOf(replicas);
  }

  /** Creates the progress of a trainer that does not report how many examples it has trained. */
  public TrainerProgress(long localSteps, long exchanges, long learningRateStep, List<Replica> replicas) {
    this(localSteps, exchanges, learningRateStep, UNKNOWN, replicas);
  }

  /**
   * The progress of one replica, which takes its batches from its own partition of the data.
   *
   * @param localSteps steps that it has made
   * @param parts the partitions of the current pass with how much of each has been taken, and those of later passes
   *     that do not follow from the replica's number. Empty: not known
   */
  public record Replica(long localSteps, List<Part> parts) {

    /** Takes a copy of the list. */
    public Replica {
      parts = List.copyOf(parts);
    }
  }

  /**
   * The batches of one pass over the data that a replica still takes: every {@code stride}th one of a partition. At the
   * start of a pass the data are divided into partitions among the replicas of all trainers. All earlier batches have
   * been taken, or belong to another replica.
   *
   * @param pass from 0
   * @param part number of the partition
   * @param of number of partitions; 0: the data belong to this replica alone, and no other can read them
   * @param batches number of the partition's next batch, from 0, in the order of the data set
   * @param stride 1, unless a run with more trainers has divided the rest of the partition
   */
  public record Part(int pass, int part, int of, long batches, long stride) {

    /** Creates a partition that one replica takes alone. */
    public Part(int pass, int part, int of, long batches) {
      this(pass, part, of, batches, 1);
    }

    /** Returns the rest of it after {@code n} more batches. */
    public Part after(long n) {
      return new Part(pass, part, of, batches + n * stride, stride);
    }
  }
}
