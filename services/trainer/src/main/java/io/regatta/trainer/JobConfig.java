package io.regatta.trainer;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.shard.Mode;
import io.regatta.core.shard.NanPolicy;
import java.util.Map;

/**
 * A training job as configured: one YAML or JSON file, keys in snake case. Immutable and free of DJL types, so that
 * every role can read it.
 *
 * @param job name, unique in the cluster; the group's name at the rendezvous
 * @param program class name of the {@link TrainingProgram}
 * @param programJar jar that holds it; empty: the class path
 * @param mode exchange mode
 * @param servers parameter-server processes
 * @param shards shards per server
 * @param trainers trainer ranks
 * @param threads model replicas per trainer
 * @param kSteps geo: steps between exchanges
 * @param stalenessBound ssp: steps that a trainer may be ahead of the slowest
 * @param seed of initial values, shuffling and generated data
 * @param epochs passes over the training data
 * @param batchSize examples per replica and step
 * @param maxSteps steps per replica after which a run ends; 0: no limit
 * @param optimizer of the dense parameters
 * @param sparseOptimizer of the sparse tables; null: as {@code optimizer}
 * @param data where examples come from
 * @param engine {@code auto}, {@code MXNet} or {@code PyTorch}
 * @param computeThreads threads of the engine per process, pinned so that runs are comparable; 0: the engine's own
 * @param nanPolicy treatment of NaN and infinite gradients
 * @param aggregator push through the host's gradient aggregator (sync and half-async)
 * @param minBlock smallest dense block, elements
 * @param readyTimeoutMs how long to wait for services and peers to appear
 * @param output directory for what the run writes; empty: nothing is saved
 * @param settings the program's own keys
 */
public record JobConfig(String job, String program, String programJar, Mode mode, int servers, int shards,
    int trainers, int threads, int kSteps, int stalenessBound, long seed, int epochs, int batchSize, long maxSteps,
    OptimizerConfig optimizer, OptimizerConfig sparseOptimizer, DataConfig data, String engine, int computeThreads,
    NanPolicy nanPolicy, boolean aggregator, int minBlock, long readyTimeoutMs, String output,
    Map<String, Object> settings) {

  public JobConfig {
    if (job == null || job.isBlank()) {
      throw new InvalidInput("job: a name is missing");
    }
    mode = mode == null ? Mode.SYNC : mode;
    nanPolicy = nanPolicy == null ? NanPolicy.FAIL : nanPolicy;
    settings = settings == null ? Map.of() : settings;
    sparseOptimizer = sparseOptimizer == null ? optimizer : sparseOptimizer;
    atLeast("servers", servers, 1);
    atLeast("shards", shards, 1);
    atLeast("trainers", trainers, 1);
    atLeast("threads", threads, 1);
    atLeast("epochs", epochs, 0);
    atLeast("batch_size", batchSize, 1);
    atLeast("max_steps", maxSteps, 0);
    atLeast("compute_threads", computeThreads, 0);
    atLeast("min_block", minBlock, 1);
    atLeast("ready_timeout_ms", readyTimeoutMs, 1);
    if (mode == Mode.GEO) {
      atLeast("k_steps", kSteps, 1);
    }
    if (mode == Mode.SSP) {
      atLeast("staleness_bound", stalenessBound, 0);
    }
    if (aggregator && mode != Mode.SYNC && mode != Mode.HALF_ASYNC) {
      throw new InvalidInput("aggregator: only sync and half-async pushes can go through an aggregator, the mode is "
          + mode.name().toLowerCase(java.util.Locale.ROOT) + "; set aggregator: false");
    }
  }

  /** Shards of all servers. */
  public int allShards() {
    return Math.multiplyExact(servers, shards);
  }

  private static void atLeast(String key, long value, long least) {
    if (value < least) {
      throw new InvalidInput(key + " must be at least " + least + ", not " + value);
    }
  }
}
