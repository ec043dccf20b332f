package io.regatta.training.config;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.group.WorldSize;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.data.file.DataFiles;
import io.regatta.node.group.GroupNames;
import io.regatta.node.settings.Inline;
import io.regatta.node.settings.Setting;
import io.regatta.node.settings.Settings;
import io.regatta.training.config.validation.EarlyStoppingConfig;
import io.regatta.training.config.tuning.TuneConfig;
import io.regatta.training.trace.TraceConfig;
import io.soabase.recordbuilder.core.RecordBuilder;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * A training job as configured: one YAML or JSON file, keys in snake case. Immutable and free of DJL types, so that
 * every role can read it.
 */
@RecordBuilder
public record JobConfig(
    @Setting(required = true, doc = "Name, unique in the cluster; the name of its group at the rendezvous. "
        + "It does not begin with '('.")
    String job,

    @Setting(doc = "Names one start of the job. A trainer of a run that has ended with success, started late, ends with status 0 "
        + "without training. launch makes one for each launch; Kubernetes, Slurm, MPI and PaddlePaddle give theirs (launching.md). "
        + "Empty: every start is a new run.")
    String runId,

    @Setting(doc = "Class name of the TrainingProgram; may be empty where the program is given in code, or if model.kind is given.")
    String program,

    @Setting(doc = "Jar that holds the program, relative to the working directory; empty: the class path.")
    String programJar,

    @Setting(value = "sync", doc = "How gradients of several trainers become updates: by servers, or, collective, among the "
        + "trainers themselves.")
    Mode mode,

    @Setting(value = "1", doc = "Parameter-server processes. collective has none: 0, or left out.")
    int servers,

    @Setting(value = "1", doc = "Shards per server.")
    int shards,

    @Setting(value = "-1", doc = "How many of these, the last ones, own rows of sparse tables only, while the others hold "
        + "dense parts only; 0: every shard holds both. Servers that have other numbers of shards are then refused. -1: "
        + "as they have it.")
    int sparseShards,

    @Setting(value = "1", doc = "Trainer ranks.")
    int trainers,

    @Setting(value = "1", doc = "Model replicas per trainer, each on a thread of its own.")
    int threads,

    @Inline Strategies strategies,

    @Setting(doc = "collective: how gradients are exchanged.")
    CollectiveConfig collective,

    @Setting(value = "1", doc = "Seed of initial values, shuffling and generated data.")
    long seed,

    @Setting(value = "1", doc = "Passes over the training data.")
    int epochs,

    @Setting(value = "false", doc = "Each pass over the training data is a day: at its end rows of sparse tables grow a day "
        + "older, and go as their tables' lives say. Loops of a program's own call worker.shrink.")
    boolean shrinkEachPass,

    @Setting(value = "64", unit = "examples", doc = "Examples per replica and step.")
    int batchSize,

    @Setting(value = "0", unit = "steps", doc = "Steps per replica after which training ends: data sets that have been "
        + "trained on give no more batches, and EasyTrain.fit tests no more. 0: no limit.")
    long maxSteps,

    @Setting(doc = "Update rule of the dense parameters.")
    OptimizerConfig optimizer,

    @Setting(doc = "Update rule of the sparse tables; without kind: as optimizer.")
    OptimizerConfig sparseOptimizer,

    @Setting(doc = "Sparse tables by name: what is to be otherwise than in the program.")
    Map<String, TableConfig> tables,

    @Setting(doc = "Where the examples come from.")
    DataConfig data,

    @Setting(doc = "Features by name, read from named columns. C[1-26] stands for 26 features.")
    Map<String, FeatureConfig> features,

    @Setting(doc = "Labels by name, read from named columns. The network predicts all of them.")
    Map<String, LabelConfig> labels,

    @Setting(doc = "Metrics on test data beyond those of each label.")
    MetricsConfig metrics,

    @Setting(doc = "The network over the declared features.")
    ModelConfig model,

    @Setting(doc = "When training ends before its last pass, and which model is saved, by the rows of data.validation.")
    EarlyStoppingConfig earlyStopping,

    @Setting(doc = "What regatta tune chooses, and how; training does not look at it.")
    TuneConfig tune,

    @Setting(doc = "A timeline of some steps.")
    TraceConfig trace,

    @Setting(value = "auto", doc = "DJL engine: MXNet, PyTorch; auto: MXNet where its natives exist (linux x86-64), "
        + "PyTorch elsewhere.")
    String engine,

    @Setting(value = "auto", doc = "Where models are: cpu; gpu:N, the GPU of that number as the process sees them, which must be "
        + "there; auto: the engine's own choice, a GPU if it sees one.")
    String device,

    @Setting(doc = "Workers of two kinds: heter workers compute the expensive part of the network.")
    HeterConfig heter,

    @Setting(value = "imperative", doc = "How training passes are carried out: operator by operator, or, symbolic, as a graph that "
        + "the engine has recorded in the first step (MXNet only; not with sparse tables). Both give the same bits.")
    Execution execution,

    @Setting(value = "1", doc = "Threads of the engine's kernels, per process: pinned, so that runs are comparable. "
        + "0: the engine's own choice.")
    int computeThreads,

    @Setting(value = "fail", doc = "A gradient with NaN or infinite values ends the run, or is dropped and counted.")
    NanPolicy nanPolicy,

    @Setting(value = "fail", doc = "What the run ends with when a trainer of a job that is not elastic was lost or has failed, so that its "
        + "part of the data was not trained: fail, with status 1 on the others too, though they train to their end and save; continue, "
        + "with status 0. The result says in both cases what was not trained.")
    OnTrainerLost onTrainerLost,

    @Setting(value = "20", unit = "s", doc = "How long a trainer that is asked to stop (Ctrl-C, SIGTERM, a launcher that stops the others) "
        + "when its training is over may take to save the model first; 0: none. A launcher kills its trainers after 30 s.")
    long stopGraceSeconds,

    @Setting(value = "false", doc = "Push through the host's gradient aggregator (sync, half_async). collective: gradients are summed by the "
        + "gradient aggregators that there are, instead of by the trainers among themselves.")
    boolean aggregator,

    @Setting(value = "8192", unit = "elements", doc = "Smallest part that a dense variable is cut into.")
    int minBlock,

    @Setting(value = "10000", unit = "ms", doc = "How long a model thread whose work is done waits for the next job of "
        + "this process before it ends. MXNet keeps 4 to 6 MB for every thread that it has seen: a process that trains "
        + "again and again sets this above its pauses.")
    long modelThreadIdleMs,

    @Setting(doc = "Directory for the model: saved there by the program, or else at the end of the run; "
        + "empty: by the run not at all.")
    String output,

    @Setting(doc = "What the servers hold, on disk every so often.")
    SnapshotConfig snapshots,

    @Setting(doc = "A snapshot to go on from, or a directory whose last one is meant: steps, reading and optimizers as "
        + "they were. auto: the job's own last one, if there is one. Empty: from the beginning.")
    String resume,

    @Setting(doc = "A snapshot whose parameters a new run begins with, or Paddle's sparse text files; steps and data begin "
        + "anew. Empty: none.")
    String initFrom,

    @Setting(doc = "Keys of the program's own; those that it does not know are refused.")
    Map<String, Object> settings) implements JobConfigBuilder.With {

  /** Package of the programs that come with Regatta. */
  private static final String PROGRAMS = "io.regatta.program.";
  /** The program of jobs that declare a model. */
  private static final String TABULAR_PROGRAM = PROGRAMS + "TabularProgram";
  /** Former name of that package, which job files and saved models may have. */
  private static final String FORMER_PROGRAMS = "io.regatta.trainer.program.";

  public JobConfig {
    program = program.startsWith(FORMER_PROGRAMS) ? PROGRAMS + program.substring(FORMER_PROGRAMS.length()) : program;
    if (job.isBlank()) {
      throw new InvalidInput("job: a name is missing");
    }
    GroupNames.checkJob(job);
    program = program.isBlank() && model.kind() != ModelConfig.Kind.NONE ? TABULAR_PROGRAM : program;
    checkDeclarations(data, features, labels, model);
    earlyStopping.check(data.validation());
    sparseOptimizer = OptimizerConfig.sparse(sparseOptimizer, optimizer);
    threads = heter.replicas(mode, threads);
    heter.check(execution, mode, aggregator);
    servers = serversOf(mode, servers, threads);
    atLeast("shards", shards, 1);
    if (sparseShards < -1 || sparseShards >= shards) {
      throw new InvalidInput("sparse_shards must be -1 (as servers have it), 0, or less than shards = " + shards
          + ", so that there are some for dense parts, not " + sparseShards);
    }
    atLeast("trainers", trainers, 1);
    atLeast("threads", threads, 1);
    atLeast("epochs", epochs, 0);
    atLeast("batch_size", batchSize, 1);
    atLeast("max_steps", maxSteps, 0);
    if (!device.matches("auto|cpu|gpu:[0-9]{1,3}")) {
      throw new InvalidInput("device is '" + device + "'; give cpu, gpu:0 (or another number), or auto");
    }
    atLeast("compute_threads", computeThreads, 0);
    atLeast("min_block", minBlock, 1);
    atLeast("stop_grace_seconds", stopGraceSeconds, 0);
    atLeast("model_thread_idle_ms", modelThreadIdleMs, 0);
    if (!isPlace(output, snapshots) && (snapshots.isOn() || resume.equals("auto"))) {
      throw new InvalidInput("snapshots.dir: snapshots, and resume: auto, need a directory; give one, or set output");
    }
    if (collective.minTrainers() > trainers) {
      throw new InvalidInput("collective: min_trainers is " + collective.minTrainers() + ", more than trainers (" + trainers
          + "), which is the most that there may be");
    }
    heter.check(worldSize(mode, collective, trainers));
    boolean elastic = worldSize(mode, collective, trainers).elastic();
    if (elastic && (data.shardBy() != DataConfig.ShardBy.POSITION || !data.ordered())) {
      throw new InvalidInput("collective: " + (isOverStore(collective) ? "store" : "min_trainers") + ": elastic trainers deal their data "
          + "anew when others are lost, by position and in order; set data.shard_by: position and data.ordered: true");
    }
    if (elastic && data.validation().isOn()) {
      throw new InvalidInput("data: validation needs trainers that stay the same, but those of this job may come and go; take it out, or "
          + (isOverStore(collective) ? "collective.store" : "collective.min_trainers"));
    }
    if (mode.needsServers() && isOverStore(collective)) {
      throw new InvalidInput("collective: store is " + collective.store() + ", but only trainers of mode collective meet over a store: "
          + "those of mode " + mode.id() + " need the rendezvous for their barriers, their servers and their "
          + "sums; leave the key out");
    }
    if (aggregator && (!mode.mayBeAggregated() || elastic)) {
      throw new InvalidInput("aggregator: only sync and half_async pushes and the sums of collective jobs that are not elastic can go "
          + "through an aggregator, the mode is " + mode.id() + "; set aggregator: false");
    }
  }

  /** Refuses sections and keys about features that lack others, so that nothing would read them. */
  private static void checkDeclarations(DataConfig data, Map<String, FeatureConfig> features, Map<String, LabelConfig> labels,
      ModelConfig model) {
    if (model.kind() != ModelConfig.Kind.NONE && (features.isEmpty() || labels.isEmpty())) {
      throw new InvalidInput("model: " + (features.isEmpty() ? "features" : "labels") + " is missing; declare what the network reads "
          + "and predicts, or take the section model out");
    }
    boolean several = labels.values().stream().filter(label -> label.kind() == LabelConfig.Kind.RANK).count() > 1;
    if (several) {
      throw new InvalidInput("labels: several are of kind rank, but a batch has the groups of one; take the others out");
    }
    if (labels.size() > 1 && labels.values().stream().anyMatch(label -> label.negativeRate() != 1)) {
      throw new InvalidInput("labels: negative_rate leaves out rows of label 0, but there are several labels; take it out");
    }
    String key = !features.isEmpty() ? "" : !data.columns().isEmpty() ? "columns" : !data.statistics().isEmpty() ? "statistics"
        : data.test().share() > 0 ? "test" : data.validation().isOn() ? "validation" : !data.allowColumns().isEmpty() ? "allow_columns" : "";
    if (!key.isEmpty()) {
      throw new InvalidInput("data: " + key + " has no effect without features; take it out, or declare features");
    }
  }

  /** Returns how many trainers there are: elastic over a store, where others wait in a lost one's place, and with a lower minimum. */
  private static WorldSize worldSize(Mode mode, CollectiveConfig collective, int trainers) {
    int least = collective.minTrainers() == 0 ? trainers : collective.minTrainers();
    return !mode.needsServers() && (isOverStore(collective) || least < trainers) ? WorldSize.elastic(least, trainers)
        : WorldSize.fixed(trainers);
  }

  private static boolean isOverStore(CollectiveConfig collective) {
    return collective.meeting().kind() != MeetingStore.Kind.SERVICE;
  }

  /** Whether the trainers meet over a store, without a rendezvous service. */
  public boolean isOverStore() {
    return isOverStore(collective);
  }

  /** Returns how many trainers the job has, and whether some may be lost, leave and come while the others continue. */
  public WorldSize worldSize() {
    return worldSize(mode, collective, trainers);
  }

  /** The key that makes this job elastic, for messages. */
  public String elasticBy() {
    return isOverStore() ? "collective.store" : "collective.min_trainers";
  }

  private static int serversOf(Mode mode, int servers, int threads) {
    if (mode.needsServers()) {
      atLeast("servers", servers, 1);
      return servers;
    }
    if (servers < 0 || servers > 1) {
      throw new InvalidInput("servers is " + servers + ", but mode collective has no servers: leave the key out");
    }
    if (threads != 1) {
      throw new InvalidInput("threads is " + threads + ", but in mode collective a trainer has one model replica; set more "
          + "trainers instead");
    }
    return 0;
  }

  /** Binds a job from JSON; missing keys get their defaults. */
  public static JobConfig of(JsonObject json) {
    return Settings.bind(json, JobConfig.class);
  }

  /** The program's own section, bound to its record; unknown and mistyped keys are refused. */
  public <R extends Record> R settingsAs(Class<R> type) {
    return Settings.bind(settings, type, "settings");
  }

  /**
   * The sparse tables as they are to be: the program's, each as {@link #tables} says.
   *
   * @throws InvalidInput about a section for a table that the program does not have
   */
  public List<SparseTableSpec> over(List<SparseTableSpec> program) {
    List<String> known = program.stream().map(t -> "tables." + t.name()).toList();
    for (String name : tables.keySet()) {
      if (!known.contains("tables." + name)) {
        throw new InvalidInput(Settings.unknown(known, "tables." + name).getMessage() + "; the program has "
            + (known.isEmpty() ? "no sparse tables" : "the tables " + program.stream().map(SparseTableSpec::name).toList()));
      }
    }
    return program.stream().map(t -> tables.containsKey(t.name()) ? tables.get(t.name()).over(t, replicas()) : t).toList();
  }

  /** Returns the directory of the statistics of the training rows, whether it exists or not. */
  public Path statisticsDirectory() {
    return DataFiles.path(data.dir()).resolve(data.statistics().isEmpty() ? "statistics-" + job : data.statistics());
  }

  /** Model replicas of all trainers. */
  public int replicas() {
    return Math.multiplyExact(trainers, threads);
  }

  /** Whether there is a directory for snapshots. */
  public boolean hasPlace() {
    return isPlace(output, snapshots);
  }

  private static boolean isPlace(String output, SnapshotConfig snapshots) {
    return !output.isBlank() || !snapshots.dir().isBlank();
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
