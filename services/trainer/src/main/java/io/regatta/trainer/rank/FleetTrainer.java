package io.regatta.trainer.rank;

import ai.djl.Model;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;
import ai.djl.training.Trainer;
import ai.djl.training.TrainingConfig;
import ai.djl.training.TrainingResult;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import ai.djl.translate.TranslateException;
import io.regatta.core.client.ParameterClient;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.exchange.TrainerStart;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.trainer.config.Execution;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.config.Strategy;
import io.regatta.trainer.data.DataShare;
import io.regatta.trainer.data.SlotDataset;
import io.regatta.trainer.exchange.Exchanges;
import io.regatta.trainer.model.DenseParameters;
import io.regatta.trainer.model.Embeddings;
import io.regatta.trainer.model.Engines;
import io.regatta.trainer.model.HostCopy;
import io.regatta.trainer.model.TimedCollector;
import io.regatta.trainer.model.TrainingForward;
import io.regatta.trainer.optimizer.Adagrad;
import io.regatta.trainer.optimizer.Adam;
import io.regatta.trainer.optimizer.Ftrl;
import io.regatta.trainer.optimizer.Momentum;
import io.regatta.trainer.optimizer.RegattaOptimizer;
import io.regatta.trainer.optimizer.Sgd;
import io.regatta.trainer.replica.Exchange;
import io.regatta.trainer.replica.RankSteps;
import io.regatta.trainer.replica.ReplicaContext;
import io.regatta.trainer.replica.StepTimes;
import io.regatta.trainer.session.TrainerSession;
import io.regatta.trainer.snapshot.RankTensors;
import io.regatta.trainer.snapshot.SnapshotState;
import io.regatta.trainer.snapshot.StartingPoint;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * A DJL trainer whose {@link #step} exchanges gradients for values with the shards, or, in collective mode, gradients with the other
 * trainers. Belongs to one model thread.
 * {@code EasyTrain.fit} runs it unchanged; hand-written loops with {@code newGradientCollector}, {@code backward} and
 * {@code step} work as well. The loss must be the mean over the batch's examples: over ranks and replicas gradients
 * are averaged with the number of examples as weight. Parameters that need no gradient (such as the running means of
 * BatchNorm) stay local.
 */
public final class FleetTrainer extends Trainer {

  private final Strategy strategy;
  private final ReplicaContext replica;
  private final TrainerSession session;
  private final RegattaOptimizer optimizer;
  private final StepTimes times;
  private final Embeddings embeddings;
  private final ReplicaSteps steps;
  private final TrainingData trainingData;
  private final TrainingPasses passes;
  private final Iterations iterations;
  private final TrainingStep step;

  /** These three are made by {@link #initialize}. */
  private ModelRegistration.Registered registered;
  private ReplicaValues values;
  private TrainerSnapshots snapshots;
  private TrainingForward forward = TrainingForward.IMPERATIVE;
  /** Empty if no layer sums over the ranks. */
  private Optional<RankSums> rankSums = Optional.empty();
  /** Batches that a run which goes on had trained before. */
  private long batchesBehind;

  /** The last ones that are numbers, once a pass has no steps left by {@code max_steps}; empty before. */
  private final Map<String, Float> lastEvaluations = new HashMap<>();
  private final RepeatedTests repeatedTests = new RepeatedTests();
  private boolean closed;

  /**
   * Refuses a stock DJL optimizer and more than one device. Call {@link #initialize} next.
   *
   * @param model with its block set; one per replica
   * @param config with one of {@link Sgd}, {@link Momentum}, {@link Adagrad}, {@link Adam}, {@link Ftrl} as its optimizer
   * @param strategy the same on every rank
   */
  public FleetTrainer(Model model, TrainingConfig config, Strategy strategy, ReplicaContext replica) {
    super(ModelRegistration.prepared(model, config), config);
    this.strategy = strategy;
    this.replica = replica;
    session = replica.session();
    times = new StepTimes(session.trace(), replica.replica());
    int replicas = replica.group().size();
    trainingData = new TrainingData(session.trainer().rank() * replicas + replica.replica(), session.worldSize() * replicas);
    passes = TrainingPasses.of(replica, trainingData, this::joined);
    steps = passes.steps();
    iterations = new Iterations(trainingData, steps, times);
    optimizer = (RegattaOptimizer) config.getOptimizer();
    embeddings = new Embeddings(model.getBlock());
    step = new TrainingStep(embeddings, iterations, steps, times);
    embeddings.attach((table, dim, ids, training) -> initialized().rows(table, dim, ids, training), getManager(),
        step.examples()::clicks);
  }

  /**
   * Initializes the model, registers it with the shards and takes over the values that rank 0 drew: from here on all
   * ranks are equal.
   */
  @Override
  public void initialize(Shape... shapes) {
    if (values != null) {
      throw new IllegalStateException("this trainer is initialized already");
    }
    DenseParameters dense = Engines.seeded(session.job().seed(), () -> {
      super.initialize(shapes);
      return new DenseParameters(getModel().getBlock(), new HostCopy());
    });
    try {
      initialize(dense);
    } catch (RuntimeException | Error e) {
      if (values == null) { // which close them with this trainer
        dense.close();
      }
      throw e;
    }
  }

  private void initialize(DenseParameters dense) {
    List<SparseTableSpec> tables = session.job().over(embeddings.tables(sparseOptimizer()));
    Exchanges.refuseTables(strategy, tables);
    embeddings.told(tables);
    ModelSpec model = new ModelSpec(session.job().seed(), dense.variables(),
        Exchanges.update(session, strategy, optimizer.spec()), tables);
    registered = ModelRegistration.register(replica, strategy, passes, model, dense.read());
    TrainerStart own = start(session.trainer().rank());
    replica.group().steps().resume(own.clock(), own.progress(), registered.start().examples());
    FrozenValues frozen = new FrozenValues(dense);
    if (!passes.keeps(() -> new RankState(session.ownShards(), replica.group().steps(), times, frozen))) { // all ranks begin with those of the one that took the snapshot
      frozen.take(SnapshotState.of(registered.start()).frozen());
    }
    Exchange exchange = Exchanges.of(replica, strategy, registered.client(), optimizer.spec(), times);
    values = new ReplicaValues(dense, frozen, exchange, times);
    goOn(registered.start(), own.progress());
    if (passes.areOwn()) {
      exchange.onJoined(snapshots::othersStepped);
    }
    rankSums = RankSums.attach(getModel().getBlock(), session);
    rankSums.ifPresent(sums -> replica.group().beforeJoining(sums::outside));
    if (session.job().execution() == Execution.SYMBOLIC) {
      forward = Engines.symbolic(getModel().getBlock(), getManager().getEngine());
    }
    values.start();
  }

  /** Returns the clock and the progress that a rank begins with. */
  private TrainerStart start(int rank) {
    return ModelRegistration.at(replica, strategy, registered.start()).trainers().stream().filter(t -> t.rank() == rank).findFirst()
        .orElse(new TrainerStart(rank, 0, TrainerProgress.NONE));
  }

  /** Takes over how far the run was; batches that were trained then are passed over. */
  private void goOn(StartingPoint start, TrainerProgress before) {
    int rank = session.trainer().rank();
    steps.resumeAt(before.replicas().isEmpty() ? 0 : before.replicas().get(replica.replica()).localSteps());
    batchesBehind = passes.resume(start, steps.made());
    snapshots = new TrainerSnapshots(replica, registered, values, passes, trainingData, iterations);
    if (start.resume()) {
      RankTensors.restore(start, rank, session.worldSize(), values.exchange().kept());
      snapshots.drawAnew();
    }
  }

  /** The job file's, if it has one for sparse tables; otherwise what the TrainingConfig says for all parameters. */
  private OptimizerSpec sparseOptimizer() {
    JobConfig job = session.job();
    return job.sparseOptimizer().equals(job.optimizer()) ? optimizer.spec() : job.sparseOptimizer().toSpec(job.replicas());
  }

  private ReplicaValues initialized() {
    if (values == null) {
      throw new IllegalStateException("call trainer.initialize(shapes) first: it registers the model with the shards");
    }
    return values;
  }

  // ---- what DJL calls

  @Override
  public Iterable<Batch> iterateDataset(Dataset dataset) throws IOException, TranslateException {
    if (trainingData.isTraining(dataset)) {
      repeatedTests.passBegins(steps.areEnough());
    } else if (repeatedTests.isRepetition(dataset)) {
      return List.of();
    }
    if (dataset instanceof SlotDataset slots) {
      slots.trace(session.trace());
      if (values != null && registered.client().job().mode().hasRounds() && trainingData.isTraining(dataset)) {
        slots.trainInSteps();
        if (passes.areOwn() && rankSums.isEmpty()) { // the others have a way of their own, and none
          slots.giveEmptyBatches();
        }
      }
    }
    Iterable<Batch> batches = passes.batches(dataset, getManager(), super::iterateDataset);
    if (steps.areEnough() && trainingData.has(dataset)) {
      super.getTrainingResult().getEvaluations().forEach((name, value) -> {
        if (value != null && !value.isNaN()) {
          lastEvaluations.put(name, value);
        }
      });
    }
    return iterations.over(dataset, batches, this::stepWithNothing);
  }

  /** The evaluations of the last pass that had steps: those behind {@code max_steps} would make them NaN. */
  @Override
  public TrainingResult getTrainingResult() {
    TrainingResult result = super.getTrainingResult();
    if (!lastEvaluations.isEmpty()) {
      Map<String, Float> known = new HashMap<>(result.getEvaluations());
      lastEvaluations.forEach((name, value) -> known.compute(name, (n, now) -> now == null || now.isNaN() ? value : now));
      result.setEvaluations(known);
    }
    return result;
  }

  @Override
  public GradientCollector newGradientCollector() {
    embeddings.begins();
    rankSums.ifPresent(RankSums::begins);
    return new TimedCollector(Engines.newGradientCollector(), times, values == null ? null : values.exchange().losses());
  }

  @Override
  public NDList forward(NDList input) {
    return forward(input, null, input, super::forward);
  }

  @Override
  public NDList forward(NDList data, NDList labels) {
    NDList inputs = labels == null ? data : new NDList(data).addAll(labels);
    return forward(data, labels, inputs, both -> super.forward(data, labels));
  }

  /** @param labels null: the program has not given them */
  private NDList forward(NDList data, NDList labels, NDList inputs, Function<NDList, NDList> imperative) {
    initialized().trained();
    step.forward(data, labels);
    long begin = times.clock().nanos();
    long mark = times.outsideOfWaits();
    NDList out = forward.forward(inputs, imperative);
    times.addSince(StepTimes.Part.FORWARD, mark);
    times.span("forward", begin);
    return out;
  }

  @Override
  public NDList evaluate(NDList input) {
    if (values != null) {
      values.evaluated();
    }
    return super.evaluate(input);
  }

  /**
   * Ends a step: pushes the gradients of the last backward pass and sets the parameters to the values for the next
   * step. Blocks as the mode demands.
   */
  @Override
  public void step() {
    initialized();
    long begin = times.clock().nanos();
    if (step.examples().isForwarded()) {
      passes.requireAssigned();
    }
    step.make(values, rankSums);
    repeatedTests.stepped();
    addMetric("step", begin);
    snapshots.stepped();
  }

  private void stepWithNothing() {
    if (step.makeWithNothing(initialized())) {
      repeatedTests.stepped();
      snapshots.stepped();
    }
  }

  // ---- what programs may tell and ask

  /**
   * Says that the next iteration of this data set is for training. Only a run that goes on from a snapshot needs to know
   * beforehand; if it is not told, it takes the first data set that is iterated over for that.
   */
  public void trainsOn(Dataset dataset) {
    iterations.trainsOn(dataset);
  }

  /**
   * Number of examples behind the gradients of the next {@link #step}, its weight in the mean over replicas and ranks.
   * Only needed where the data do not come from {@link #iterateDataset} and their first dimension is not the number of
   * examples.
   */
  public void setExamples(long count) {
    step.examples().give(count);
  }

  /**
   * Clicks of the examples whose forward passes come before the next {@link #step}, one of each example: 0 or 1, or how
   * often. Only needed where a table has statistics and the batch's first array of labels does not say so.
   */
  public void setClicks(float[] ofExamples) {
    step.examples().giveClicks(ofExamples);
  }

  /**
   * Steps so far of the whole run, as this replica counts them; in sync mode, once it has met the others, also those that it
   * had no data for.
   */
  public long steps() {
    return steps.made();
  }

  /** Examples trained so far by this replica. */
  public long examples() {
    return step.examples().trained();
  }

  /** Where this replica's time went. */
  public StepTimes times() {
    return times;
  }

  /** Wall clock of this replica's training so far, first forward pass to last step, s. */
  public double seconds() {
    return times.seconds();
  }

  /**
   * Whether the program is at data that were trained before the snapshot that the run goes on from: what it does behind them has
   * been done.
   */
  public boolean isBehind() {
    return trainingData.isBehind();
  }

  /**
   * Batches of its training data that this trainer had behind it when the run went on from a snapshot, since the
   * run's beginning: they are not trained again. 0 in a run that has begun anew.
   */
  public long batchesBehind() {
    return batchesBehind;
  }

  /** Returns what a position of the job (a replica of a trainer) reads of the training data; nothing where they do not say. */
  public List<DataShare> sharesOf(int position) {
    return trainingData.sharesOf(position);
  }

  /** Returns the progress with which a rank began this life of the run; {@code NONE} before {@link #initialize} and in a new run. */
  public TrainerProgress startOf(int rank) {
    return registered == null ? TrainerProgress.NONE : start(rank).progress();
  }

  /** By which this run's snapshots and models are told from others; those of later runs are higher. Null before {@link #initialize}. */
  public String run() {
    return registered == null ? null : registered.run();
  }

  /** The client of the shards, for saving and for questions about where what lies. Null before {@link #initialize}. */
  public ParameterClient client() {
    return registered == null ? null : registered.client();
  }

  /** The tables that the model has on the servers. */
  public List<SparseTableSpec> tables() {
    initialized();
    return client().job().model().sparse();
  }

  /** Values of the parameters that are not trained (such as running means), by name: this replica's own. */
  public Map<String, float[]> frozenValues() {
    return initialized().frozen().values();
  }

  /** What the exchange has to tell of itself, for the result of the run: figures by name. */
  public Map<String, Double> exchangeFigures() {
    return values == null ? Map.of() : values.exchange().figures();
  }

  // ---- where replicas and ranks meet outside of steps; called by the worker

  /** What this trainer does for snapshots of its job; empty before {@link #initialize}. */
  public Optional<TrainerSnapshots> snapshots() {
    return Optional.ofNullable(snapshots);
  }

  /**
   * After replicas have met outside of steps: goes on with the values of the step that they have agreed on. Called by
   * the {@link io.regatta.trainer.Worker}.
   */
  public void resumed() {
    if (values != null) {
      values.resumed();
      RankSteps ofRank = replica.group().steps();
      if (passes.areOwn() && client().job().mode().hasRounds() && ofRank.pushesPerStep() == 1) {
        met(ofRank.steps());
      }
    }
  }

  private void met(long agreed) {
    long due = session.job().snapshots().lastDue(steps.made(), agreed);
    if (due > 0) { // as a run does that goes on from the snapshot that the others have taken meanwhile
      snapshots.drawAnew(due);
    }
    steps.goOnFrom(agreed);
    trainingData.met(steps.made(), !steps.areEnough() && iterations.isBetweenPasses());
  }

  /** In an elastic job, this rank has taken part in steps of the others without an example; they count all the same. */
  private void joined() {
    initialized();
    resumed();
    if (steps.countOthers()) {
      snapshots.stepped();
    }
  }

  /** Hands in what the servers do not have yet (geo); works on a closed trainer too. */
  public void handIn() {
    if (values != null) {
      values.exchange().handIn();
    }
  }

  /** Takes over the servers' newest values. */
  public void newest() {
    initialized().newest();
  }

  /** Returns a copy of the dense parameters as this rank got them last. Works on a closed trainer too. */
  public float[] lastDense() {
    return initialized().exchange().last();
  }

  /**
   * In collective mode, makes the parameters that are not trained (running means) their mean over the ranks, who all must call
   * it; in the others nothing. Works on a closed trainer too.
   */
  public void averageFrozen() {
    if (values != null) {
      values.averageFrozen();
    }
  }

  /**
   * {@link #handIn}, then {@link #newest}, for this replica alone. Where all shall see the same, use
   * {@link io.regatta.trainer.Worker#settle}.
   */
  public void flush() {
    handIn();
    newest();
  }

  /** Whether {@link #close} has been called: the model may be closed as well then. */
  public boolean isClosed() {
    return closed;
  }

  /** Closes the trainer; nobody waits for this replica's steps any more. The rank leaves when its program ends. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    embeddings.close();
    rankSums.ifPresent(RankSums::close);
    forward.close();
    if (values != null) {
      values.close();
    }
    super.close();
  }
}
