package io.regatta.training.config;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.group.WorldSize;
import io.regatta.core.exchange.Mode;
import io.regatta.node.settings.Setting;
import java.util.Locale;

/** The {@code heter} section of a job: the part of its network that heter workers compute for the trainers. */
public record HeterConfig(
    @Setting(value = "0", doc = "Heter workers that trainers wait for at the start. 0: the network is not cut, and "
        + "trainers compute "
        + "all of it.")
    int workers,

    @Setting(value = "dense", doc = "What heter workers compute. dense: what Heter.remote marks in the network, or "
        + "all of a network "
        + "without sparse tables. loss: the loss alone.")
    Part part,

    @Setting(value = "auto", doc = "Where heter workers have their part: cpu; gpu:N, the GPU of that number as the "
        + "process sees them, "
        + "which must be there; auto: the engine's own choice, a GPU if it sees one.")
    String device,

    @Setting(value = "1", unit = "batches", doc = "Batches that a trainer has under way. Each has a model replica of "
        + "its own: more than 1 "
        + "sets threads.")
    int inFlight,

    @Setting(value = "0", unit = "examples", doc = "Up to so many examples of several trainers' batches are computed "
        + "as one batch, if that "
        + "changes rounding only. 0: each batch alone.")
    int maxBatch,

    @Setting(value = "auto", doc = "The way of the part's dense parameters. trainers: their values travel with each batch, and their "
        + "gradients with its result; trainers exchange them as without heter workers. servers: heter workers pull and push them. "
        + "collective: as servers, but in sync mode heter workers sum their gradients among themselves first, and one push has the "
        + "sum. auto: trainers.")
    DensePath dense,

    @Setting(value = "false", doc = "Seeds the engine's random numbers for each batch from seed, replica and step "
        + "also without heter "
        + "workers, so that dropout is as with them. With heter workers, and in networks with Heter.remote, it is "
        + "always so.")
    boolean seedBatches) {

  /** The part of a network that heter workers compute. */
  public enum Part {
    /** The part that {@code Heter.remote} marks, or a whole network without sparse tables. */
    DENSE,
    /** The loss alone. */
    LOSS
  }

  /** The way in which the dense parameters of the part reach heter workers, and their gradients to the update. */
  public enum DensePath {
    /** {@link #TRAINERS}. */
    AUTO,
    /** Heter workers pull and push them. */
    SERVERS,
    /** With each batch from its trainer, and with the result back. */
    TRAINERS,
    /** Heter workers pull them, and sum gradients among themselves before one of them pushes the sum. */
    COLLECTIVE
  }

  public HeterConfig {
    atLeast("workers", workers, 0);
    atLeast("in_flight", inFlight, 1);
    atLeast("max_batch", maxBatch, 0);
    if (!device.matches("auto|cpu|gpu:[0-9]{1,3}")) {
      throw new InvalidInput("heter.device is '" + device + "'; give cpu, gpu:0 (or another number), or auto");
    }
  }

  private static void atLeast(String key, long value, long least) {
    if (value < least) {
      throw new InvalidInput("heter." + key + " must be at least " + least + ", not " + value);
    }
  }

  private static String name(DensePath path) {
    return path.name().toLowerCase(Locale.ROOT);
  }

  /** Returns true if the network is cut: heter workers compute a part of it. */
  public boolean isCut() {
    return workers > 0;
  }

  /**
   * Returns the replicas of a trainer, which are its batches under way.
   *
   * @throws InvalidInput if the job has another number of them
   */
  int replicas(Mode mode, int threads) {
    if (inFlight == 1) {
      return threads;
    }
    if (!mode.needsServers()) {
      throw new InvalidInput("heter.in_flight is " + inFlight + ", but in mode " + mode.id()
          + " a trainer has one batch under way; "
          + "set heter.in_flight: 1");
    }
    if (threads != 1 && threads != inFlight) {
      throw new InvalidInput("heter.in_flight is " + inFlight + " and threads is " + threads
          + ", but each batch under way has a "
          + "replica of its own; leave threads out, or set both alike");
    }
    return inFlight;
  }

  /** Checks that a job whose network is cut keeps its trainers' ranks. */
  void check(WorldSize size) {
    if (isCut() && size.elastic()) {
      throw new InvalidInput("heter.workers is " + workers + ", but the job is elastic, and heter workers know the trainers by ranks that "
          + "stay; leave collective.min_trainers and collective.store out");
    }
  }

  /** Checks what a cut network cannot have. */
  void check(Execution execution, Mode mode, boolean aggregator) {
    if (isCut() && isDenseAtWorkers() && !mode.needsServers()) {
      throw new InvalidInput("heter.dense: " + name(dense) + " is for heter workers that push to servers, but mode "
          + mode.id()
          + " has none; use heter.dense: trainers");
    }
    if (isCut() && isDenseAtWorkers() && aggregator) {
      throw new InvalidInput("heter.dense: " + name(dense)
          + " sends a trainer's pushes through its heter worker, but aggregator: "
          + "true through the aggregator of its host, where the part's gradients are not; use heter.dense: trainers, or "
          + "aggregator: false");
    }
    if (isCut() && path() == DensePath.COLLECTIVE && !mode.hasRounds()) {
      throw new InvalidInput("heter.dense: collective sums the gradients of a step over all trainers, but in mode "
          + mode.id()
          + " their steps have nothing in common; use mode: sync, or heter.dense: servers");
    }
    if (isCut() && execution == Execution.SYMBOLIC) {
      throw new InvalidInput("heter.workers is " + workers + ", but execution: symbolic records a whole network as a "
          + "graph; use "
          + "execution: imperative");
    }
  }

  /**
   * Returns the way of the part's dense parameters; {@code auto} stands for the one that every job can have. A loss has
   * none.
   */
  public DensePath path() {
    return dense == DensePath.AUTO || part == Part.LOSS ? DensePath.TRAINERS : dense;
  }

  /** Returns true if heter workers have the part's dense values, and push their gradients. */
  public boolean isDenseAtWorkers() {
    return path() == DensePath.SERVERS || path() == DensePath.COLLECTIVE;
  }
}
