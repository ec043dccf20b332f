package io.regatta.trainer.run;

import ai.djl.Device;
import ai.djl.Model;
import ai.djl.training.Trainer;
import ai.djl.training.TrainingConfig;
import ai.djl.training.dataset.Dataset;
import ai.djl.training.dataset.RandomAccessDataset;
import ai.djl.training.listener.TrainingListenerAdapter;
import ai.djl.translate.TranslateException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.metrics.BinaryMetrics;
import io.regatta.protocol.snapshot.SnapshotKind;
import io.regatta.trainer.FetchHandler;
import io.regatta.trainer.Progress;
import io.regatta.trainer.ReduceOp;
import io.regatta.trainer.TrainingReport;
import io.regatta.trainer.Worker;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.config.Strategy;
import io.regatta.trainer.data.BadLines;
import io.regatta.trainer.data.ExampleExchange;
import io.regatta.trainer.data.SlotDataset;
import io.regatta.trainer.data.file.DataFiles;
import io.regatta.trainer.djl.FleetTrainer;
import io.regatta.trainer.djl.RegattaOptimizer;
import io.regatta.trainer.djl.ReplicaContext;
import io.regatta.trainer.djl.TrainerSnapshots;
import io.regatta.trainer.save.SavedModel;
import io.regatta.trainer.session.TrainerSession;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The {@link Worker} of one replica. Belongs to its model thread. */
final class ReplicaWorker implements Worker {

  private static final Logger LOG = LoggerFactory.getLogger(ReplicaWorker.class);

  private final ReplicaContext context;
  private final TrainerSession session;
  private final RankCollectives collectives;
  private final Device device;
  private final Progress progress;
  private final Map<String, Double> reported = new LinkedHashMap<>();
  /** Steps made when a key was last reported. */
  private final Map<String, Long> stepsReported = new HashMap<>();
  private FleetTrainer trainer;
  private String model = "";
  private boolean settingsBound;
  /** Passes over training data. */
  private int passes;
  /** Whether nothing but the trainer's listeners says when one ends. */
  private boolean ownEpochs = true;
  /** That were trained when the last of these ended. */
  private long examplesOfEpochs;
  /** Rows, behind these passes. */
  private long removed;
  private final List<SlotDataset> opened = new ArrayList<>();

  ReplicaWorker(ReplicaContext context, RankCollectives collectives, Device device, Progress progress) {
    this.context = context;
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
    return session.workerEndpoints();
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
  public Device device() {
    return device;
  }

  @Override
  public RegattaOptimizer optimizer() {
    return RegattaOptimizer.of(job().optimizer().toSpec(job().replicas()));
  }

  @Override
  public FleetTrainer distributedTrainer(Model model, TrainingConfig config, Strategy strategy) {
    if (trainer != null) {
      throw new InvalidInput("job " + job().job() + ": this program has made a trainer already; a run trains one "
          + "model, start another job for a second one");
    }
    checkSettings();
    config.getTrainingListeners().add(new TrainingListenerAdapter() { // behind the program's own
      @Override
      public void onEpoch(Trainer of) {
        epochEnded((FleetTrainer) of);
      }
    });
    trainer = new FleetTrainer(model, config, strategy, context);
    return trainer;
  }

  /** Keys that the program never looks at would be taken for keys that do something. */
  void checkSettings() {
    if (!settingsBound && !job().settings().isEmpty()) {
      throw new InvalidInput("job " + job().job() + ": the program has not asked for its settings, and so nobody knows "
          + job().settings().keySet().stream().sorted().map(key -> "'settings." + key + "'")
              .collect(Collectors.joining(", "))
          + "; take them out of the job, or call worker.settings(TYPE) before the trainer is made");
    }
  }

  @Override
  public Dataset shard(Dataset dataset) {
    if (dataset instanceof SlotDataset slots) {
      SlotDataset mine = slots.shard(shardIndex(), shardCount());
      opened.add(mine);
      return mine;
    }
    if (!(dataset instanceof RandomAccessDataset indexed)) {
      throw new InvalidInput("cannot take a part of a " + dataset.getClass().getName()
          + ": only RandomAccessDataset and SlotDataset can be indexed; use shardIndex() and shardCount()");
    }
    try {
      indexed.prepare();
    } catch (IOException | TranslateException e) {
      throw new InvalidInput("the data set " + dataset.getClass().getName() + " could not be prepared: "
          + e.getMessage(), e);
    }
    List<Long> mine = new ArrayList<>();
    for (long i = shardIndex(); i < indexed.size(); i += shardCount()) {
      mine.add(i);
    }
    return indexed.subDataset(mine);
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
    return new ReplicaExchange(this, context, collectives);
  }

  private double[] combine(String operation, double[] values, ReduceOp op) {
    double[] result = context.group().collective(session, replica(), operation, values,
        replicas -> Reduction.finish(op,
            collectives.reduce(operation, Reduction.elementwise(op), Reduction.replicas(op, replicas))));
    resumed();
    return result.clone();
  }

  /** This replica has met the others outside of steps. */
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
    ownEpochs = false;
    TrainingReport report = new DatasetLoop(this, of, fetch, everyBatches, debug).run(dataset);
    endOfPass(of, report.examples());
    return report;
  }

  /** What {@code EasyTrain.fit} tells; so may a program that trains by {@link #trainFromDataset}, whose passes have ended. */
  private void epochEnded(FleetTrainer of) {
    if (ownEpochs) {
      endOfPass(of, of.examples() - examplesOfEpochs);
    }
    examplesOfEpochs = of.examples();
  }

  /**
   * A pass in which nobody had an example, behind {@code max_steps} or the place where a run goes on, is no day and no moment.
   *
   * @param examples of this replica, in the pass
   */
  private void endOfPass(FleetTrainer of, long examples) {
    int pass = passes++;
    boolean day = job().shrinkEachPass();
    boolean moment = job().snapshots().everyPass();
    if (!day && !moment || combine("examples of the pass", new double[] {examples}, ReduceOp.SUM)[0] == 0) {
      return;
    }
    if (day) {
      endOfDay(of); // before the snapshot: the job of the next day begins with rows that have aged
    }
    if (moment) {
      snapshot(of, "snapshot of pass " + pass, lowest -> lowest.passed(pass));
    }
  }

  /** Rows of the sparse tables age, and some go. */
  private void endOfDay(FleetTrainer of) {
    Shrunk shrunk = shrink(of, true);
    removed += shrunk.removed();
    report("rows_removed", removed);
    progress.line(shrunk.byScore() + " rows removed for their score, " + shrunk.unseen() + " unseen, " + shrunk.expired()
        + " expired, " + shrunk.left() + " left");
  }

  @Override
  public void snapshot(FleetTrainer of, SnapshotKind kind) {
    if (kind == SnapshotKind.MODEL) {
      throw new InvalidInput("a model is no snapshot: save it with worker.save(trainer, dir)");
    }
    if (!job().hasPlace()) {
      throw new InvalidInput("job " + job().job() + ": its program takes snapshots, which need a directory; set snapshots.dir, or "
          + "output");
    }
    snapshot(of, "snapshot of kind " + kind.label(), lowest -> lowest.asked(kind));
  }

  /** The lowest rank has the servers save what all have trained, while the others wait for the moment. */
  private void snapshot(FleetTrainer of, String what, Consumer<TrainerSnapshots> taking) {
    TrainerSnapshots snapshots = of.snapshots().orElseThrow(() -> new InvalidInput("job " + job().job() + ": a " + what
        + " is asked for before trainer.initialize(shapes), which registers the model with the servers; call that first"));
    of.handIn();
    barrier();
    snapshots.handOver();
    context.group().collective(session, replica(), what, snapshots, all -> collectives.byTheLowest(what, () -> {
      taking.accept(all.get(0));
      return new double[0];
    }));
    snapshots.drawAnew();
  }

  @Override
  public Progress progress() {
    return progress;
  }

  @Override
  public void report(String key, double value) {
    long steps = trainer == null ? 0 : trainer.steps();
    Double before = reported.get(key);
    if (Double.isNaN(value) && before != null && stepsReported.getOrDefault(key, -1L) == steps) {
      return; // of a pass without steps, behind max_steps
    }
    if (Double.isNaN(value)) {
      LOG.warn("trainer {} of job {}: the program reported {} as not a number (NaN) after {} steps; if that is the mean "
          + "of an epoch behind max_steps, which has no batches, keep the value of the last one that had some", rank(),
          job().job(), key, steps);
    }
    reported.put(key, value);
    stepsReported.put(key, steps);
  }

  @Override
  public Shrunk shrink(FleetTrainer of, boolean endOfDay) {
    settle(of);
    of.snapshots().ifPresent(TrainerSnapshots::finish); // or all rows, which it looks at, would have to be kept as they were
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

  /**
   * By the lowest rank that can; the others wait, and make up for it if it is lost.
   *
   * @return where, as that rank names the place; empty if no rank can
   */
  private String written(String dir, FleetTrainer of, boolean able) {
    double[] where = collectives.byTheLowest("save", able, () -> {
      SavedModel.write(Path.of(dir), session, of);
      return dir.chars().asDoubleStream().toArray();
    });
    return Arrays.stream(where).mapToObj(c -> String.valueOf((char) c)).collect(Collectors.joining());
  }

  /** Ends the readers of data sets that {@link #shard} has made, which the program may have left in their middle. */
  void closeDatasets() {
    opened.forEach(SlotDataset::close);
  }

  /**
   * What the job wants saved and the program has not. Nobody trains any more. Every rank comes here: they may differ in
   * whether they have a directory for the model, or train.
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

  /** Waits for what is being written. */
  void endSnapshots() {
    if (trainer != null) {
      trainer.snapshots().ifPresent(TrainerSnapshots::finish);
    }
  }

  /** The run has failed, or all is written. */
  void dropSnapshots() {
    if (trainer != null) {
      trainer.snapshots().ifPresent(TrainerSnapshots::drop);
    }
  }

  /** What the program has made; null if it has not. */
  FleetTrainer trainer() {
    return trainer;
  }

  Map<String, Double> reported() {
    return reported;
  }

  /** Where the model was saved, by the lowest rank, empty if it was not. */
  String model() {
    return model;
  }
}
