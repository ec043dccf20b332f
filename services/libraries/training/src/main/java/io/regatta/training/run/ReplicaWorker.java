package io.regatta.training.run;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.training.TrainingConfig;
import ai.djl.training.dataset.Dataset;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.metrics.BinaryMetrics;
import io.regatta.core.progress.Progress;
import io.regatta.data.BadLines;
import io.regatta.data.ExampleExchange;
import io.regatta.data.file.DataFiles;
import io.regatta.protocol.gather.ElectionResult;
import io.regatta.snapshot.SnapshotKind;
import io.regatta.training.FetchHandler;
import io.regatta.training.TrainingReport;
import io.regatta.training.Worker;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.Strategy;
import io.regatta.training.feature.DeclaredFeatures;
import io.regatta.training.optimizer.RegattaOptimizer;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.rank.TrainerSnapshots;
import io.regatta.training.replica.ReplicaContext;
import io.regatta.training.result.EvaluationRecord;
import io.regatta.training.save.SavedModel;
import io.regatta.training.session.TrainerSession;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;

/** The {@link Worker} of one replica. Belongs to its model thread. */
final class ReplicaWorker implements Worker {

  /** Bits of a digest that a double does not hold. */
  private static final int UNUSED_BITS = 12;

  private final ReplicaContext context;
  private final TrainerSession session;
  private final RankCollectives collectives;
  private final ModelSaves saves;
  private final Device device;
  private final Progress progress;
  private final DatasetParts parts = new DatasetParts();
  private final PassEnds passEnds = new PassEnds(this);
  private final ReportedFigures reported = new ReportedFigures();
  private FleetTrainer trainer;
  private String model = "";
  private boolean settingsBound;

  ReplicaWorker(ReplicaContext context, RankCollectives collectives, ModelSaves saves, Device device, Progress progress) {
    this.context = context;
    this.saves = saves;
    this.device = device;
    this.collectives = collectives;
    this.progress = progress;
    session = context.session();
  }

  @Override
  public int rank() {
    return session.trainer().rank();
  }

  @Override
  public int worldSize() {
    return session.worldSize();
  }

  @Override
  public int replica() {
    return context.replica();
  }

  @Override
  public int replicas() {
    return context.group().size();
  }

  @Override
  public boolean isFirstWorker() {
    return shardIndex() == 0;
  }

  @Override
  public List<String> serverEndpoints() {
    return session.serverEndpoints();
  }

  @Override
  public List<String> workerEndpoints() {
    return session.group().endpoints();
  }

  @Override
  public String serverShardMap() {
    return session.client().map(client -> {
      List<String> lines = new ArrayList<>(client.partition().describe());
      client.job().model().sparse().forEach(t -> lines.add(t.name() + ": rows of " + t.dim() + " over "
          + client.job().sharding().sparseShards() + " shards by hash of the id"));
      return String.join(System.lineSeparator(), lines);
    }).orElse("");
  }

  @Override
  public JobConfig job() {
    return session.job();
  }

  @Override
  public <R extends Record> R settings(Class<R> type) {
    R bound = job().settingsAs(type);
    settingsBound = true;
    return bound;
  }

  @Override
  public DeclaredFeatures features() {
    DeclaredFeatures features = session.features().get().orElseThrow(() -> new InvalidInput("job " + job().job()
        + ": the program reads declared features, but the job declares none; add the sections features and labels"));
    double[] mine = {Long.parseUnsignedLong(features.digest(), 16) >>> UNUSED_BITS};
    double least = allReduce(mine, ReduceOp.MIN)[0];
    double most = allReduce(mine, ReduceOp.MAX)[0];
    if (least != most) {
      throw new InvalidInput(String.format(Locale.ROOT, "job %s: features differ among the trainers: trainer %d has %013x, others from "
          + "%013x to %013x; give all the same job file, and copy the directory of data.statistics to all machines", job().job(), rank(),
          (long) mine[0], (long) least, (long) most));
    }
    return features;
  }

  @Override
  public Device device() {
    return device;
  }

  @Override
  public RegattaOptimizer optimizer() {
    return new RegattaOptimizer(job().optimizer().toSpec(job().replicas()));
  }

  @Override
  public FleetTrainer distributedTrainer(Model model, TrainingConfig config, Strategy strategy) {
    if (trainer != null) {
      throw new InvalidInput("job " + job().job() + ": this program has made a trainer already; a run trains one "
          + "model, start another job for a second one");
    }
    checkSettings();
    if (replica() == 0 && !job().output().isBlank()) {
      saves.known().begin(Path.of(job().output()));
      saves.known().begin(ModelSalvage.unfinished(job()));
    }
    config.getTrainingListeners().add(passEnds); // after the program's own listeners
    trainer = new FleetTrainer(model, config, strategy, context);
    return trainer;
  }

  /** Refuses settings that the program never reads: they would look as if they had an effect. */
  void checkSettings() {
    if (!settingsBound && !job().settings().isEmpty()) {
      throw new InvalidInput("job " + job().job() + ": the program has not asked for its settings, so that no one knows "
          + job().settings().keySet().stream().sorted().map(key -> "'settings." + key + "'")
              .collect(Collectors.joining(", "))
          + "; remove them from the job, or call worker.settings(TYPE) before the trainer is created");
    }
  }

  @Override
  public Dataset shard(Dataset dataset) {
    return parts.take(dataset, shardIndex(), shardCount());
  }

  @Override
  public BadLines badLines(boolean logged) {
    return context.group().counted(new BadLines(job().data().onBadLine(), logged));
  }

  @Override
  public List<String> shard(List<String> files) {
    return DataFiles.shard(files, shardIndex(), shardCount());
  }

  @Override
  public void barrier() {
    combine("barrier", new double[0], ReduceOp.SUM);
  }

  @Override
  public double[] allReduce(double[] values, ReduceOp op) {
    return combine("all-reduce", values, op);
  }

  @Override
  public BinaryMetrics global(BinaryMetrics local) {
    return BinaryMetrics.ofSums(combine("global metrics", local.sums(), ReduceOp.SUM));
  }

  @Override
  public ExampleExchange exampleExchange() {
    return new ReplicaExampleExchange(this, context, collectives);
  }

  /** Runs an all-reduce with a name for messages. */
  double[] combine(String operation, double[] values, ReduceOp op) {
    double[] result = context.group().collective(session, replica(), operation, values,
        replicas -> Reduction.finish(op,
            collectives.reduce(operation, Reduction.elementwise(op), Reduction.replicas(op, replicas))));
    resumed();
    return result.clone();
  }

  /** Continues after this replica has met the others outside of steps. */
  void resumed() {
    if (trainer != null) {
      trainer.resumed();
    }
  }

  @Override
  public void settle(FleetTrainer of) {
    of.handIn();
    barrier();
    of.newest();
    of.averageFrozen();
  }

  @Override
  public TrainingReport trainFromDataset(FleetTrainer of, Dataset dataset, FetchHandler fetch, int everyBatches,
      boolean debug) {
    passEnds.toldByWorker();
    TrainingReport report = new DatasetLoop(this, of, fetch, everyBatches, debug).run(dataset);
    passEnds.ended(of, report.examples());
    return report;
  }

  @Override
  public void snapshot(FleetTrainer of, SnapshotKind kind) {
    if (kind == SnapshotKind.MODEL) {
      throw new InvalidInput("a model is not a snapshot: save it with worker.save(trainer, dir)");
    }
    if (!job().hasPlace()) {
      throw new InvalidInput("job " + job().job() + ": its program takes snapshots, which need a directory; set snapshots.dir, or "
          + "output");
    }
    snapshot(of, "snapshot of kind " + kind.label(), lowest -> lowest.asked(kind));
  }

  /**
   * Takes a snapshot: the lowest rank has the servers save what all have trained, while the others wait until the state
   * has been captured.
   */
  void snapshot(FleetTrainer of, String what, Consumer<TrainerSnapshots> taking) {
    TrainerSnapshots snapshots = of.snapshots().orElseThrow(() -> new InvalidInput("job " + job().job() + ": a " + what
        + " is requested before trainer.initialize(shapes), which registers the model with the servers; call that first"));
    of.handIn();
    barrier();
    snapshots.handOver();
    context.group().collective(session, replica(), what, snapshots, all -> collectives.byTheLowest(what, () -> {
      taking.accept(all.get(0));
      return ElectionResult.getDefaultInstance();
    }));
    snapshots.drawAnew();
  }

  @Override
  public Progress progress() {
    return progress;
  }

  @Override
  public void report(String key, double value) {
    reported.report(key, value, trainer == null ? 0 : trainer.steps(), "trainer " + rank() + " of job " + job().job());
  }

  @Override
  public void evaluated(EvaluationRecord evaluation) {
    reported.evaluated(evaluation);
  }

  @Override
  public Shrunk shrink(FleetTrainer of, boolean endOfDay) {
    settle(of);
    of.snapshots().ifPresent(TrainerSnapshots::finish); // otherwise all rows would have to be copied for it
    return context.group().collective(session, replica(), "shrink", of, trainers -> collectives.shrink(trainers.get(0)::isBehind,
        number -> session.await("shrink " + number, trainers.get(0).client().shrink(number, endOfDay))));
  }

  @Override
  public Path save(FleetTrainer of, Path dir) {
    settle(of);
    context.group().collective(session, replica(), "save", of, trainers -> written(dir.toString(), trainers.get(0), true));
    model = dir.toString();
    return dir;
  }

  @Override
  public void keep(Path dir) {
    model = dir.toString();
  }

  /**
   * Saves the model on the lowest rank that can; the others wait, and the next one saves if it is lost.
   *
   * @return the directory, as that rank names it; empty if no rank can
   */
  private String written(String dir, FleetTrainer of, boolean able) {
    saves.begin();
    try {
      String saved = collectives.byTheLowest("save", able, () -> {
        SavedModel.write(Path.of(dir), session, of, progress);
        saves.saved(dir); // it is complete, even if the others cannot be notified
        saves.known().note(Path.of(dir), steps());
        model = dir;
        return ElectionResult.newBuilder().setDirectory(dir).build();
      }).map(ElectionResult::getDirectory).orElse("");
      if (!saved.isEmpty()) {
        saves.saved(saved);
        saves.known().note(Path.of(dir), steps()); // the directory may have another name on the rank that has saved it
      }
      return saved;
    } finally {
      saves.end();
    }
  }

  /** Returns the steps of this rank's replicas. */
  long steps() {
    return context.group().steps().stepsOfReplicas();
  }

  /** Ends the readers of data sets of {@link #shard} that the program did not read to their end. */
  void closeDatasets() {
    parts.close();
  }

  /**
   * Saves the model if the job requests it and the program has not done so. No rank trains any more. Every rank calls
   * it, although they may differ in whether they have a directory for the model, or train.
   */
  void saveAtTheEnd() {
    if (trainer != null && model.isEmpty()) {
      trainer.averageFrozen();
    }
    String output = session.job().output();
    boolean able = model.isEmpty() && trainer != null && !output.isBlank() && session.client().isPresent();
    String saved = written(output, trainer, able);
    model = saved.isEmpty() ? model : saved;
  }

  /** Notes the end of a pass: after the last one, the model is about to be saved. */
  void passed() {
    if (noteTrained() && context.replica() == 0) {
      saves.trained();
    }
  }

  /** Notes, and returns, whether this replica has made all passes, or all steps, of its job. */
  private boolean noteTrained() {
    long limit = job().maxSteps();
    boolean all = trainer != null && (limit > 0 && trainer.steps() >= limit || passEnds.passes() >= job().epochs());
    if (all) {
      context.group().trained(replica());
    }
    return all;
  }

  /** Notes that this replica's program has ended: it trains no more. */
  void programEnded() {
    context.group().trained(replica());
  }

  /** Returns true once each replica of this rank has ended its program, or trained all that its job requires. */
  boolean haveAllTrained() {
    noteTrained();
    return context.group().haveAllTrained();
  }

  /** Waits for snapshots that are being written. */
  void endSnapshots() {
    if (trainer != null) {
      trainer.snapshots().ifPresent(TrainerSnapshots::finish);
    }
  }

  /** Drops the snapshots, after the run has failed or all are written. */
  void dropSnapshots() {
    if (trainer != null) {
      trainer.snapshots().ifPresent(TrainerSnapshots::drop);
    }
  }

  /** Returns the trainer that the program has created; null if there is none. */
  FleetTrainer trainer() {
    return trainer;
  }

  Map<String, Double> reported() {
    return reported.values();
  }

  /** Returns the evaluations during training, in their order. */
  List<EvaluationRecord> evaluations() {
    return reported.evaluations();
  }

  /** Returns the directory in which the lowest rank saved the model; empty if it was not saved. */
  String model() {
    return model;
  }
}
