package io.regatta.core.exchange;

import java.util.List;

/**
 * Progress of one trainer of a job: its counts, none of which stands for another, and the places of its replicas in the data.
 * Every push carries the progress that holds once that push is applied, so that a shard knows what its values contain.
 * The clock that a shard keeps of a trainer is not in here: it orders waits, and jumps where a trainer has waited in a barrier. Nor
 * are the updates of the optimizers, which the shards count ({@link OptimizerUpdates}). Immutable.
 *
 * @param localSteps steps made; of several replicas those of the one that has made most. {@code max_steps} limits them
 * @param exchanges pushes to the shards, each to all of them: in geo mode one after every {@code k_steps} local steps, or fewer
 *     before a barrier and at the end of a pass
 * @param learningRateStep step that the schedule of the learning rate is at next
 * @param examples trained in all of these steps, over all lives of the run; {@link #UNKNOWN} if the trainer does not
 *     tell
 * @param replicas places of the replicas, by number; empty: not known, as of trainers that are not Regatta's
 */
public record TrainerProgress(long localSteps, long exchanges, long learningRateStep, long examples,
    List<Replica> replicas) {

  /** Number of examples if it is not known. */
  public static final long UNKNOWN = -1;

  /** Progress before the first step, or of a trainer that does not tell any. */
  public static final TrainerProgress NONE = new TrainerProgress(0, 0, 0, 0, List.of());

  /** Checks the counts and takes a copy of the list. */
  public TrainerProgress {
    if (localSteps < 0 || exchanges < 0 || learningRateStep < 0 || examples < UNKNOWN) {
      throw new IllegalArgumentException("progress with " + localSteps + " local steps, " + exchanges + " exchanges and learning-rate step "
          + learningRateStep + " and " + examples + " examples; none may be negative");
    }
    replicas = List.copyOf(replicas);
  }

  /** Progress of a trainer that does not tell how many examples it has trained. */
  public TrainerProgress(long localSteps, long exchanges, long learningRateStep, List<Replica> replicas) {
    this(localSteps, exchanges, learningRateStep, UNKNOWN, replicas);
  }

  /** Returns the same progress with another step of the schedule. */
  public TrainerProgress withLearningRateStep(long step) {
    return new TrainerProgress(localSteps, exchanges, step, examples, replicas);
  }

  /** Returns the same progress with another number of examples. */
  public TrainerProgress withExamples(long number) {
    return new TrainerProgress(localSteps, exchanges, learningRateStep, number, replicas);
  }

  /**
   * Progress of one replica, which takes its batches from its own part of the data.
   *
   * @param localSteps steps that it has made
   * @param parts of the pass that it is in, and how much of each is behind it; of later passes as well where it has parts in those that
   *     do not follow from its number. Empty: not known
   */
  public record Replica(long localSteps, List<Part> parts) {

    /** Takes a copy of the list. */
    public Replica {
      parts = List.copyOf(parts);
    }
  }

  /**
   * Batches of one pass over the data that a replica still takes: every {@code stride}th of one of the parts into which the pass
   * was divided among the replicas of all trainers when it began. All before them have been taken, or are another replica's.
   *
   * @param pass from 0
   * @param part its number among the parts
   * @param of number of parts; 0: the data are the replica's own, and nobody else can read them
   * @param batches number of the part's batch that is taken next, from 0, in the order in which the data set gives them
   * @param stride 1, unless a run with more trainers has divided the rest of the part
   */
  public record Part(int pass, int part, int of, long batches, long stride) {

    /** A part that one replica takes alone. */
    public Part(int pass, int part, int of, long batches) {
      this(pass, part, of, batches, 1);
    }

    /** Returns what is left of it after {@code n} more batches. */
    public Part after(long n) {
      return new Part(pass, part, of, batches + n * stride, stride);
    }
  }
}
