package io.regatta.training.rank;

import ai.djl.Model;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;
import ai.djl.training.Trainer;
import ai.djl.training.TrainingConfig;
import ai.djl.training.TrainingResult;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import ai.djl.training.loss.Loss;
import ai.djl.translate.TranslateException;
import io.regatta.core.client.ParameterClient;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.exchange.TrainerStart;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.data.DataShare;
import io.regatta.training.config.Execution;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.Strategy;
import io.regatta.training.dataset.SlotDataset;
import io.regatta.training.exchange.Exchanges;
import io.regatta.training.heter.part.CutNetwork;
import io.regatta.training.heter.part.PartLoop;
import io.regatta.training.heter.part.PartModel;
import io.regatta.training.model.DenseParameters;
import io.regatta.training.model.Embeddings;
import io.regatta.training.model.Engines;
import io.regatta.training.model.HostCopy;
import io.regatta.training.model.TimedCollector;
import io.regatta.training.model.TrainingForward;
import io.regatta.training.optimizer.RegattaOptimizer;
import io.regatta.training.replica.Exchange;
import io.regatta.training.replica.RankSteps;
import io.regatta.training.replica.ReplicaContext;
import io.regatta.training.replica.StepTimes;
import io.regatta.training.session.TrainerSession;
import io.regatta.training.snapshot.RankTensors;
import io.regatta.training.snapshot.SnapshotState;
import io.regatta.training.snapshot.StartingPoint;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;

/**
 * A DJL trainer whose {@link #step} exchanges gradients for values with the shards, or, in collective mode, gradients
 * with the other trainers. Belongs to one model thread. {@code EasyTrain.fit} runs it unchanged; hand-written loops
 * with {@code newGradientCollector}, {@code backward} and {@code step} work as well.
 *
 * <p>The loss must be the mean over the batch's examples: over ranks and replicas gradients are averaged with the
 * number of examples as weight. Parameters that need no gradient (such as the running means of BatchNorm) stay local.
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

  /** These three are created by {@link #initialize}. */
  private ModelRegistration.Registered registered;
  private ReplicaValues values;
  private TrainerSnapshots snapshots;
  private TrainingForward forward = TrainingForward.IMPERATIVE;
  /** Empty if no layer sums over the ranks. */
  private Optional<RankSums> rankSums = Optional.empty();
  private CutNetwork cut = CutNetwork.NONE;
  /** Batches that were trained before the run resumed. */
  private long batchesBehind;

  /** The last evaluations that are numbers, once a pass has no steps left by {@code max_steps}; empty before. */
  private final Map<String, Float> lastEvaluations = new HashMap<>();
  private final RepeatedTests repeatedTests = new RepeatedTests();
  private boolean closed;

  /**
   * Creates a trainer. Refuses a stock DJL optimizer and more than one device. Call {@link #initialize} next.
   *
   * @param model with its block set; one per replica
   * @param config with a {@link RegattaOptimizer} as its optimizer
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
    passes = TrainingPasses.of(replica, trainingData, this::countOthersSteps);
    steps = passes.steps();
    iterations = new Iterations(trainingData, steps, times);
    optimizer = (RegattaOptimizer) config.getOptimizer();
    embeddings = new Embeddings(model.getBlock());
    step = new TrainingStep(embeddings, iterations, steps, times);
    embeddings.attach((table, dim, ids, training) -> initialized().rows(table, dim, ids, training), getManager(),
        step.examples()::clicks);
  }

  /**
   * Initializes the model, registers it with the shards and takes over the values that rank 0 drew. From here on all
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
      session.host().ifPresent(host -> PartLoop.run(session, host, new PartModel(session.job(), getModel().getBlock(), shapes,
          getLoss(), getManager(), times.clock())));
      initialize(dense, shapes);
    } catch (RuntimeException | Error e) {
      if (values == null) { // these close it with this trainer
        dense.close();
      }
      throw e;
    }
  }

  private void initialize(DenseParameters dense, Shape[] shapes) {
    List<SparseTableSpec> tables = session.job().over(embeddings.tables(sparseOptimizer()));
    Exchanges.refuseTables(strategy, tables);
    embeddings.told(tables);
    ModelSpec model = new ModelSpec(session.job().seed(), dense.variables(),
        Exchanges.update(session, strategy, optimizer.spec()), tables);
    registered = ModelRegistration.register(replica, strategy, passes, model, dense.read());
    TrainerStart own = start(session.trainer().rank());
    replica.group().steps().resume(own.clock(), own.progress(), registered.start().examples());
    FrozenValues frozen = new FrozenValues(dense);
    if (!passes.keeps(() -> new RankState(session.ownShards(), replica.group().steps(), times, frozen))) { // all ranks begin with those of the rank that took the snapshot
      frozen.take(SnapshotState.of(registered.start()).frozen());
    }
    cut = CutNetwork.of(getModel().getBlock(), shapes, getLoss(), replica, strategy.trainer(), times, steps::made);
    Exchange exchange = Exchanges.of(replica, strategy, registered.client(), optimizer.spec(), times);
    values = new ReplicaValues(dense, frozen, exchange, times, cut::isHere);
    restoreProgress(registered.start(), own.progress());
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

  /** Returns the clock and the progress with which a rank begins. */
  private TrainerStart start(int rank) {
    return ModelRegistration.at(replica, strategy, registered.start()).trainers().stream().filter(t -> t.rank() == rank).findFirst()
        .orElse(new TrainerStart(rank, 0, TrainerProgress.NONE));
  }

  /** Restores the progress of the run; batches that were trained before are skipped. */
  private void restoreProgress(StartingPoint start, TrainerProgress before) {
    int rank = session.trainer().rank();
    steps.resumeAt(before.replicas().isEmpty() ? 0 : before.replicas().get(replica.replica()).localSteps());
    batchesBehind = passes.resume(start, steps.made());
    snapshots = new TrainerSnapshots(replica, registered, values, passes, trainingData, iterations);
    if (start.resume()) {
      RankTensors.restore(start, rank, session.worldSize(), values.exchange().kept());
      snapshots.drawAnew();
    }
  }

  /** Returns the job file's optimizer for sparse tables, if it has one; otherwise the TrainingConfig's. */
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

  // ---- called by DJL

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
        if (passes.areOwn() && rankSums.isEmpty()) { // elastic passes and sums over ranks cannot take one
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
    return iterations.over(dataset, batches, this::stepWithoutGradient);
  }

  /** Returns the evaluations of the last pass that had steps: passes after {@code max_steps} would make them NaN. */
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
    return new TimedCollector(cut.collector(Engines.newGradientCollector()), times, values == null ? null : values.exchange().losses());
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

  /** @param labels null if the program has not given them */
  private NDList forward(NDList data, NDList labels, NDList inputs, Function<NDList, NDList> imperative) {
    if (!cut.isRemote()) { // the part's parameters here take no part in training passes
      initialized().trained();
    }
    step.forward(data, labels);
    long begin = times.clock().nanos();
    long mark = times.outsideOfWaits();
    NDList out = cut.forward(new CutNetwork.Pass(data, labels, step.examples().labels()), () -> forward.forward(inputs, imperative));
    times.addSince(StepTimes.Part.FORWARD, mark);
    times.span("forward", begin);
    return out;
  }

  /** Returns the loss to train with; heter workers may compute it. */
  @Override
  public Loss getLoss() {
    return cut.loss(super.getLoss());
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
   * step. Blocks as the mode requires.
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

  private void stepWithoutGradient() {
    if (step.makeWithoutGradient(initialized())) {
      repeatedTests.stepped();
      snapshots.stepped();
    }
  }

  // ---- called by programs

  /**
   * Declares that the next iteration of this data set is for training. It is needed only for a run that resumes from a
   * snapshot; without it, the first data set that is iterated over counts as the training data.
   */
  public void trainsOn(Dataset dataset) {
    iterations.trainsOn(dataset);
  }

  /**
   * Sets the number of examples of the next {@link #step}, its weight in the mean over replicas and ranks. It is needed
   * only if the data do not come from {@link #iterateDataset} and their first dimension is not the number of examples.
   */
  public void setExamples(long count) {
    step.examples().give(count);
  }

  /**
   * Sets the clicks of the examples whose forward passes precede the next {@link #step}, one number per example: 0, 1,
   * or a count. It is needed only if a table has statistics and the batch's first array of labels does not hold the
   * clicks.
   */
  public void setClicks(float[] ofExamples) {
    step.examples().giveClicks(ofExamples);
  }

  /**
   * Returns the steps of the whole run so far, as this replica counts them. In sync mode, after it has met the others,
   * these include the steps for which it had no data.
   */
  public long steps() {
    return steps.made();
  }

  /** Returns the examples trained so far by this replica. */
  public long examples() {
    return step.examples().trained();
  }

  /** Returns the times of this replica, by part of a step. */
  public StepTimes times() {
    return times;
  }

  /** Returns the wall clock of this replica's training so far, from the first forward pass to the last step, s. */
  public double seconds() {
    return times.seconds();
  }

  /**
   * Returns true while the program is at data that were trained before the snapshot from which the run resumes: the
   * work that follows them has been done.
   */
  public boolean isBehind() {
    return trainingData.isBehind();
  }

  /**
   * Returns the batches of its training data that this trainer had trained, since the run's beginning, when the run
   * resumed from a snapshot. They are not trained again. 0 in a new run.
   */
  public long batchesBehind() {
    return batchesBehind;
  }

  /**
   * Returns the partitions of the training data that a position of the job (a replica of a trainer) reads; empty if the
   * data sets do not know them.
   */
  public List<DataShare> sharesOf(int position) {
    return trainingData.sharesOf(position);
  }

  /**
   * Returns the progress with which a rank began this incarnation of the run; {@code NONE} before {@link #initialize}
   * and in a new run.
   */
  public TrainerProgress startOf(int rank) {
    return registered == null ? TrainerProgress.NONE : start(rank).progress();
  }

  /**
   * Returns the id that distinguishes this run's snapshots and models from others; later runs have higher ids. Null
   * before {@link #initialize}.
   */
  public String run() {
    return registered == null ? null : registered.run();
  }

  /**
   * Returns the client of the shards, for saving and for questions about placement. Null before {@link #initialize}.
   */
  public ParameterClient client() {
    return registered == null ? null : registered.client();
  }

  /** Returns the tables that the model has on the servers. */
  public List<SparseTableSpec> tables() {
    initialized();
    return client().job().model().sparse();
  }

  /** Returns the values of the parameters that are not trained (such as running means), by name: this replica's own. */
  public Map<String, float[]> frozenValues() {
    return initialized().frozen().values();
  }

  /** Returns metrics of the exchange for the result of the run, by name. */
  public Map<String, Double> exchangeFigures() {
    return values == null ? Map.of() : values.exchange().figures();
  }

  // ---- called by the worker outside of steps

  /** Returns this trainer's part in snapshots of its job; empty before {@link #initialize}. */
  public Optional<TrainerSnapshots> snapshots() {
    return Optional.ofNullable(snapshots);
  }

  /**
   * Continues, after replicas have met outside of steps, with the values of the step that they have agreed on. Called
   * by the {@link io.regatta.training.Worker}.
   */
  public void resumed() {
    if (values != null) {
      values.resumed();
      RankSteps ofRank = replica.group().steps();
      if (passes.areOwn() && client().job().mode().hasRounds() && ofRank.pushesPerStep() == 1) {
        resumeFromAgreed(ofRank.steps());
      }
    }
  }

  private void resumeFromAgreed(long agreed) {
    long due = session.job().snapshots().lastDue(steps.made(), agreed);
    if (due > 0) { // as in a run that resumes from the snapshot that the others have taken meanwhile
      snapshots.drawAnew(due);
    }
    steps.resumeFrom(agreed);
    trainingData.onMeeting(steps.made(), !steps.areEnough() && iterations.isBetweenPasses());
  }

  /** Counts steps of the others in which this rank has taken part without an example, in an elastic job. */
  private void countOthersSteps() {
    initialized();
    resumed();
    if (steps.countOthers()) {
      snapshots.stepped();
    }
  }

  /** Flushes what the servers do not have yet (geo); works on a closed trainer too. */
  public void handIn() {
    if (values != null) {
      values.exchange().handIn();
    }
  }

  /** Takes over the servers' newest values. */
  public void newest() {
    initialized().newest();
  }

  /** Returns a copy of the dense parameters as this rank received them last. Works on a closed trainer too. */
  public float[] lastDense() {
    return initialized().exchange().last();
  }

  /**
   * Averages the parameters that are not trained (running means) over the ranks in collective mode; all ranks must call
   * it. Does nothing in other modes. Works on a closed trainer too.
   */
  public void averageFrozen() {
    if (values != null) {
      values.averageFrozen();
    }
  }

  /**
   * Calls {@link #handIn}, then {@link #newest}, for this replica alone. To bring all replicas to the same values, use
   * {@link io.regatta.training.Worker#settle}.
   */
  public void flush() {
    handIn();
    newest();
  }

  /** Returns true once {@link #close} has been called; the model may then be closed as well. */
  public boolean isClosed() {
    return closed;
  }

  /** Closes the trainer; the others no longer wait for this replica's steps. The rank leaves when its program ends. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    embeddings.close();
    rankSums.ifPresent(RankSums::close);
    cut.close();
    forward.close();
    if (values != null) {
      values.close();
    }
    super.close();
  }
}
