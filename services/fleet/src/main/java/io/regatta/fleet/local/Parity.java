package io.regatta.fleet.local;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Mode;
import io.regatta.core.optim.Sgd;
import io.regatta.core.progress.Progress;
import io.regatta.node.process.Blocking;
import io.regatta.program.StockComparison;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.OptimizerConfig;
import io.regatta.training.config.Strategy;
import io.regatta.training.result.RunResult;
import io.regatta.training.run.LocalRun;
import io.regatta.training.run.ProgramLoader;
import io.regatta.training.save.SavedParameters;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A check that distribution does not change what a job computes. Runs on the calling thread, which waits. It trains the
 * job repeatedly for a few hundred steps, with one compute thread and ordered reading. The runs are alone, with one
 * trainer, with several whose batches together are the lone one's, and on different numbers of shards. It compares
 * hashes of the parameters, or the distance ‖Δ‖₂ / ‖w‖₂ of the saved models. A dense net of its own is compared with
 * stock DJL.
 *
 * <p>The comparison requires that the program's loss is the mean over the batch, that it has no dropout and no batch
 * normalisation, and that it reads by position ({@code Worker.shard}).
 */
public final class Parity {

  /**
   * One comparison.
   *
   * @param what was compared
   * @param distance ‖Δ‖₂ / ‖w‖₂, 0 if the bits are equal
   * @param limit the distance allowed; infinite: only reported
   * @param bits whether equal bits are required, and found
   * @param skipped why it was not made; empty if it was
   */
  public record Check(String what, double distance, double limit, boolean bits, String skipped) {

    Check(String what, double distance, double limit, boolean bits) {
      this(what, distance, limit, bits, "");
    }

    /** Returns a comparison that this job does not allow. */
    static Check skip(String what, String why) {
      return new Check(what, 0, Double.POSITIVE_INFINITY, false, why);
    }

    /**
     * Returns true if the distance is within the limit; for a comparison that is only reported, if there is a distance.
     */
    public boolean passed() {
      return distance <= limit;
    }

    private String mark() {
      return !passed() ? "DRIFT" : !skipped.isEmpty() ? "skip" : Double.isInfinite(limit) ? "--" : "ok";
    }

    @Override
    public String toString() {
      if (!skipped.isEmpty()) {
        return String.format(Locale.ROOT, "%-6s %s (%s)", mark(), what, skipped);
      }
      String found = bits ? "same bits" : String.format(Locale.ROOT, "distance %.2e", distance);
      String wanted = limit == 0 ? "same bits" : Double.isInfinite(limit) ? "reported only"
          : String.format(Locale.ROOT, "at most %.0e", limit);
      return String.format(Locale.ROOT, "%-6s %-58s %s (%s)", mark(), what, found, wanted);
    }
  }

  /** Distance allowed between several trainers and one with the whole batch: float sums in another order. */
  public static final double SAME_BATCH = 1e-4;

  /**
   * Largest effect of rounding that a job may have. It is measured by a control run, whose learning rates differ by
   * four millionths. If that alone moves the parameters farther than this, {@link #SAME_BATCH} proves nothing, and
   * fewer steps are compared.
   */
  private static final double QUIET = SAME_BATCH / 10;
  private static final double NUDGE = 0x1p-18;
  private static final int FEWER = 4;

  /** Distance allowed between our SGD on servers and DJL's own in the trainer: the rounding of one formula. */
  public static final double STOCK = 1e-6;

  /** The mode whose bits do not depend on the number of services. */
  private static final Mode ROUNDS = Mode.withRounds();
  private static final long STEPS = 200;
  private static final int[] SHARDS = {1, 2, 5};

  private final Function<JsonObject, JobConfig> variants;
  private final JobConfig job;
  private final TrainingProgram program;
  private final LocalCluster.Options options;
  private final List<Check> checks = new ArrayList<>();
  /** Number of steps of the runs that follow. */
  private long steps;
  private final Promise<Void> ended = Promise.promise();
  private Consumer<Check> report = check -> {};
  private volatile Thread runner;
  private volatile LocalCluster cluster;
  private volatile boolean stopped;

  /**
   * Creates a check.
   *
   * @param variants gives the job with some keys, nested as in its file, set to other values; its {@code max_steps}
   *     limits the runs, 200 if it is 0
   * @param program null: the class that the job names
   */
  public Parity(Function<JsonObject, JobConfig> variants, TrainingProgram program) {
    this(variants, program, LocalCluster.Options::of);
  }

  /**
   * Creates a check with other options.
   *
   * @param options node and services of the runs, for the job as it is
   */
  public Parity(Function<JsonObject, JobConfig> variants, TrainingProgram program,
      Function<JobConfig, LocalCluster.Options> options) {
    this.variants = variants;
    this.job = variants.apply(new JsonObject());
    this.options = options.apply(job);
    this.program = program;
    steps = stepsWanted();
  }

  /** Makes all comparisons, and passes each to {@code eachCheck} as it is made. */
  public List<Check> run(Consumer<Check> eachCheck) {
    report = eachCheck;
    ProgramLoader.check(job, program);
    runner = Thread.currentThread();
    try (ScratchDirectory scratch = ScratchDirectory.create("regatta-parity")) {
      compare(scratch);
    } finally {
      ended.complete();
    }
    return List.copyOf(checks);
  }

  /** Ends a running comparison, from any thread; the future completes when {@link #run} has cleaned up. */
  public Future<Void> stop() {
    stopped = true;
    LocalCluster running = cluster;
    if (running != null) {
      running.close();
    } else if (runner != null) {
      runner.interrupt();
    }
    return ended.future();
  }

  private void compare(ScratchDirectory scratch) {
    RunResult dense = run(StockComparison.job(), new StockComparison());
    add(new Check("a dense net, SGD, " + dense.steps() + " steps, over services = stock DJL",
        dense.metrics().get(StockComparison.DISTANCE), STOCK, false));

    int trainers = Math.max(2, job.trainers());
    Trained alone = local(scratch, 1);
    sameBits("alone, twice", alone, local(scratch, 1));
    sameBits("1 trainer, sync, over services = alone", alone, cluster(scratch, ROUNDS, 1, 1));

    Trained several = cluster(scratch, ROUNDS, trainers, 1);
    sameBits(trainers + " trainers, sync, twice", several, cluster(scratch, ROUNDS, trainers, 1));
    sameBits(trainers + " trainers, sync, through a gradient aggregator = without", several, Trained.of(run(variant(scratch,
        ROUNDS, trainers, 1, job.batchSize(), new JsonObject().put("aggregator", true)), program)));
    for (int shards : SHARDS) {
      if (shards > 1) {
        sameBits(trainers + " trainers, sync, " + shards + " shards = 1 shard", several,
            cluster(scratch, ROUNDS, trainers, shards));
      }
    }

    Trained whole = local(scratch, trainers);
    sameBatches(scratch, trainers, whole, several);
    for (Mode mode : Mode.values()) {
      if (!mode.needsServers() && job.mode().needsServers()) {
        continue; // a job of servers may have tables
      }
      if (mode.pushesDeltas() && !(job.optimizer().toSpec().optimizer() instanceof Sgd)) {
        add(Check.skip(trainers + " trainers, " + name(mode), "it needs optimizer.kind: sgd"));
      } else if (!mode.hasRounds()) {
        reported(scratch, mode, trainers, whole);
      }
    }
  }

  /**
   * Compares a mode that follows no order: with learning rates that are too high for it, it may diverge, which is
   * reported and is no drift.
   */
  private void reported(ScratchDirectory scratch, Mode mode, int trainers, Trained whole) {
    String what = trainers + " trainers, " + name(mode) + ", to alone with the batches together";
    Trained several;
    try {
      several = cluster(scratch, mode, trainers, 1);
    } catch (InvalidInput e) {
      add(Check.skip(what, e.getMessage()));
      return;
    }
    distance(what, whole, several, Double.POSITIVE_INFINITY);
  }

  /**
   * Compares several trainers with one that has all their batches. A rule such as Adam divides by the root of small second moments,
   * which magnifies the last bit: its distance is reported only. A job with large learning rates magnifies it too, step
   * by step. It is judged by the number of steps that leaves the control run quiet, and the distance at the end is
   * reported.
   */
  private void sameBatches(ScratchDirectory scratch, int trainers, Trained whole, Trained several) {
    String what = trainers + " trainers, sync = alone with the batches together";
    String control = "alone with the batches together, learning rates 2^-18 higher";
    boolean magnified = Stream.of(job.optimizer(), job.sparseOptimizer())
        .anyMatch(o -> o.toSpec().optimizer().magnifiesRounding());
    double grown = distance(control, whole, nudged(scratch, trainers), Double.POSITIVE_INFINITY);
    if (magnified || grown <= QUIET) {
      distance(what, whole, several, magnified ? Double.POSITIVE_INFINITY : SAME_BATCH);
      return;
    }
    distance(what, whole, several, Double.POSITIVE_INFINITY);
    Trained first = whole;
    while (grown > QUIET && steps > 1) {
      steps = Math.max(1, steps / FEWER);
      first = local(scratch, trainers);
      grown = distance(control + ", " + steps + " steps", first, nudged(scratch, trainers), Double.POSITIVE_INFINITY);
    }
    distance(what + ", " + steps + " steps", first, cluster(scratch, ROUNDS, trainers, 1), SAME_BATCH);
    steps = stepsWanted();
  }

  private long stepsWanted() {
    return job.maxSteps() > 0 ? job.maxSteps() : STEPS;
  }

  /** A finished run: hash and saved parameters. */
  private record Trained(String hash, Path model) {
    static Trained of(RunResult result) {
      return new Trained(result.parametersHash(), result.model().isEmpty() ? null : Path.of(result.model()));
    }
  }

  private void sameBits(String what, Trained a, Trained b) {
    boolean same = a.hash().equals(b.hash());
    add(new Check(what, same ? 0 : distanceOf(a, b, false), 0, same));
  }

  private double distance(String what, Trained reference, Trained other, double limit) {
    boolean same = reference.hash().equals(other.hash());
    double distance = same ? 0 : distanceOf(reference, other, Double.isFinite(limit));
    add(new Check(what, distance, limit, same));
    return distance;
  }

  /**
   * Returns the distance; NaN, which passes no limit, if the program saved nothing to compare.
   *
   * @param sameRows infinite if one has rows that the other has not
   */
  private static double distanceOf(Trained a, Trained b, boolean sameRows) {
    if (a.model() == null || b.model() == null) {
      return Double.NaN;
    }
    SavedParameters reference = SavedParameters.read(a.model());
    SavedParameters other = SavedParameters.read(b.model());
    return sameRows && !reference.sameRows(other) ? Double.POSITIVE_INFINITY : reference.distance(other);
  }

  private void add(Check check) {
    checks.add(check);
    report.accept(check);
  }

  private Trained local(ScratchDirectory scratch, int batches) {
    return Trained.of(LocalRun.run(variant(scratch, ROUNDS, 1, 1, job.batchSize() * batches), program,
        Progress.none()));
  }

  /** Runs the control of {@link #SAME_BATCH}: alone, with learning rates that differ by four millionths. */
  private Trained nudged(ScratchDirectory scratch, int batches) {
    JsonObject rates = new JsonObject().put("optimizer", nudged(job.optimizer()));
    if (!job.sparseOptimizer().equals(job.optimizer())) { // else it is taken from there
      rates.put("sparse_optimizer", nudged(job.sparseOptimizer()));
    }
    return Trained.of(LocalRun.run(variant(scratch, ROUNDS, 1, 1, job.batchSize() * batches, rates), program,
        Progress.none()));
  }

  private static JsonObject nudged(OptimizerConfig optimizer) {
    return new JsonObject().put("learning_rate", optimizer.learningRate() * (1 + NUDGE));
  }

  private Trained cluster(ScratchDirectory scratch, Mode mode, int trainers, int shards) {
    RunResult result = run(variant(scratch, mode, trainers, shards, job.batchSize()), program);
    if (!result.mode().equals(mode.id())) {
      throw new InvalidInput("job " + job.job() + ": the program trains in mode " + result.mode() + " where the job says "
          + name(mode) + ", so its modes cannot be compared; give it no Strategy of its own, the job's mode serves "
          + "(worker.distributedTrainer(model, config))");
    }
    return Trained.of(result);
  }

  private RunResult run(JobConfig variant, TrainingProgram what) {
    LocalCluster started = LocalCluster.start(options.withJob(variant).withProgram(what).withoutHazelcast()
        .withProgress(Progress.none()));
    cluster = started;
    if (stopped) {
      started.close();
    }
    try {
      return Blocking.get(started.results()).get(0);
    } finally {
      Blocking.get(started.close());
      cluster = null;
    }
  }

  private JobConfig variant(ScratchDirectory scratch, Mode mode, int trainers, int shards, int batchSize) {
    return variant(scratch, mode, trainers, shards, batchSize, new JsonObject());
  }

  private JobConfig variant(ScratchDirectory scratch, Mode mode, int trainers, int shards, int batchSize,
      JsonObject more) {
    JsonObject changes = new JsonObject().put("aggregator", false).mergeIn(more)
        .put("mode", mode.id()).put("trainers", trainers)
        .put("servers", shards).put("shards", 1).put("sparse_shards", 0).put("threads", 1).put("compute_threads", 1)
        .put("batch_size", batchSize).put("max_steps", steps)
        .put("output", scratch.next().toString())
        .put("data", new JsonObject().put("ordered", true).put("shuffle_buffer", 0).put("drop_last", true)
            .put("prefetch_depth", 1));
    return variants.apply(changes);
  }

  private static String name(Mode mode) {
    return mode.id().replace('_', '-');
  }
}
