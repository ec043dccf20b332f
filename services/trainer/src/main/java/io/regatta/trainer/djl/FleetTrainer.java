package io.regatta.trainer.djl;

import ai.djl.Model;
import ai.djl.engine.EngineException;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;
import ai.djl.training.Trainer;
import ai.djl.training.TrainingConfig;
import ai.djl.training.TrainingResult;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import ai.djl.translate.TranslateException;
import io.regatta.core.client.ParameterClient;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.hash.Mix64;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.protocol.snapshot.SnapshotKind;
import io.regatta.trainer.config.Execution;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.config.Strategy;
import io.regatta.trainer.data.DataCursor;
import io.regatta.trainer.data.SlotDataset;
import io.regatta.trainer.session.ElasticPasses;
import io.regatta.trainer.session.ElasticRank;
import io.regatta.trainer.session.TrainerSession;
import io.regatta.trainer.snapshot.Kept;
import io.regatta.trainer.snapshot.RankTensors;
import io.regatta.trainer.snapshot.SnapshotRun;
import io.regatta.trainer.snapshot.StartingPoint;
import java.io.IOException;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

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
  /** Data sets that have been trained on; they end at the job's {@code max_steps}. */
  private final TrainingData trainingData;

  private DenseParameters dense;
  private ParameterClient client;
  private Exchange exchange;
  /** Null: training passes run operator by operator. */
  private SymbolicForward graphs;
  /** Null: no layer sums over the ranks. */
  private RankSums rankSums;
  private NDManager stepScope;
  private LookAhead iteration;
  private LookAhead trainedFrom;
  /** The last one over training data, from its beginning on. */
  private LookAhead pass;
  /** The data sets of these two. */
  private Dataset iterated;
  private Dataset trainedOn;
  /** What the next iteration is said to train on; null: nothing is said. */
  private Dataset toldToTrain;
  private long examplesGiven = -1;
  private long examplesSeen;
  private long steps;
  /** Batches that a run which goes on had trained before. */
  private long batchesBehind;
  /** Null if this replica takes none. */
  private SnapshotRun snapshots;
  /** What its snapshots are told from another run's by. */
  private String run;
  private long examples;
  private long firstNanos;
  private long stepBegan;
  private long lastStepNanos;
  private boolean forwarded;
  /** Of the batch in forward, or null; and what they say of clicks, once somebody asks. */
  private NDList labels;
  private float[] clicks;
  private float[] clicksGiven;
  /** Of the last pass with steps, once a pass has none left by {@code max_steps}; null before. */
  private Map<String, Float> lastEvaluations;
  /** Null before {@link #initialize}. */
  private FrozenValues frozen;
  private boolean closed;

  /**
   * Refuses a stock DJL optimizer and more than one device. Call {@link #initialize} next.
   *
   * @param model with its block set; one per replica
   * @param config with one of {@link Sgd}, {@link Momentum}, {@link Adagrad}, {@link Adam}, {@link Ftrl} as its optimizer
   * @param strategy the same on every rank
   */
  public FleetTrainer(Model model, TrainingConfig config, Strategy strategy, ReplicaContext replica) {
    super(Enrolment.prepared(model, config), config);
    this.strategy = strategy;
    this.replica = replica;
    session = replica.session();
    trainingData = new TrainingData(session.worldSize() * replica.group().size());
    times = new StepTimes(session.trace(), replica.replica());
    optimizer = (RegattaOptimizer) config.getOptimizer();
    embeddings = new Embeddings(model.getBlock());
    embeddings.attach(this::rows, this::stepScope, this::clicks);
  }

  /**
   * Initializes the model, registers it with the shards and takes over the values that rank 0 drew: from here on all
   * ranks are equal.
   */
  @Override
  public void initialize(Shape... shapes) {
    if (exchange != null) {
      throw new IllegalStateException("this trainer is initialized already");
    }
    HostCopy host = new HostCopy();
    float[] drawn = Engines.seeded(session.job().seed(), () -> {
      super.initialize(shapes);
      dense = new DenseParameters(getModel().getBlock(), host);
      frozen = new FrozenValues(dense);
      return dense.read();
    });
    List<SparseTableSpec> tables = session.job().over(embeddings.tables(sparseOptimizer()));
    Enrolment.refuseTables(strategy, tables);
    embeddings.told(tables);
    ModelSpec model = new ModelSpec(session.job().seed(), dense.variables(),
        Enrolment.update(session, strategy, optimizer.spec()), tables);
    Enrolment.Registered registered = Enrolment.register(replica, strategy, model, drawn);
    client = registered.client();
    boolean given = session.elastic().map(rank -> rank.keeps(
        new RankState(session.ownShards(), replica.group().steps(), frozen))).orElse(false);
    if (!given) { // all ranks begin with those of the one that took the snapshot
      frozen.take(Kept.of(registered.start()).frozen());
    }
    exchange = Enrolment.exchange(replica, strategy, client, optimizer.spec(), times);
    exchange.onJoined(this::snapshotOfOthersStep);
    goOn(registered);
    dense.lends(exchange.underWay() + 1, exchange.floatsBehind());
    rankSums = RankSums.attach(getModel().getBlock(), session);
    if (rankSums != null) {
      replica.group().beforeJoining(rankSums::outside);
    }
    if (session.job().execution() == Execution.SYMBOLIC) {
      graphs = Engines.symbolic(getModel().getBlock(), getManager().getEngine());
    }
    dense.write(exchange.start());
  }

  /** Takes over how far the run was; batches that were trained then are passed over. */
  private void goOn(Enrolment.Registered registered) {
    StartingPoint start = registered.start();
    int rank = session.trainer().rank();
    replica.group().steps().resumeAtStep(start.steps());
    steps = replica.group().steps().steps(); // of a newcomer to an elastic job those that the others have made
    batchesBehind = steps;
    if (session.elastic().isEmpty()) {
      trainingData.goOn(start, rank, session.worldSize());
      batchesBehind = start.batches(rank, session.worldSize());
    }
    run = registered.run();
    if (session.job().snapshots().isOn() && replica.replica() == 0) {
      snapshots = snapshotRun();
    }
    if (start.resume()) {
      RankTensors.restore(start, rank, session.worldSize(), exchange.kept());
      drawAnew();
    }
  }

  private SnapshotRun snapshotRun() {
    return new SnapshotRun(session, client.job(), run, replica.group().steps().pushesPerStep(), replica.group().snapshots(),
        this::kept);
  }

  /**
   * All ranks are at this step, and one takes a snapshot next, to which each hands over what it keeps of gradients. All ranks call it,
   * outside of other calls.
   */
  public void handOver() {
    Map<String, float[]> own = exchange.kept();
    if (!own.isEmpty() && session.isLowest()) {
      snapshots().handedOver(own);
    } else if (!own.isEmpty()) {
      SnapshotRun.handOver(session, own);
    }
  }

  private SnapshotRun snapshots() {
    if (snapshots == null) {
      snapshots = snapshotRun();
    }
    return snapshots;
  }

  /** What of this trainer's own a run that goes on from here needs. */
  private Kept kept() {
    ElasticPasses passes = session.elastic().map(ElasticRank::passes).orElse(null);
    return passes == null || !passes.isUnderWay() ? new Kept(frozenValues(), -1, new long[0])
        : new Kept(frozenValues(), passes.pass(), passes.ledger());
  }

  /**
   * The engine's random numbers from here on are a function of seed, rank and step: drawn at the step of each snapshot by
   * the run that takes it, and by those that go on from it.
   */
  public void drawAnew() {
    Engines.seeded(Mix64.mix(session.job().seed() + Mix64.GOLDEN * (steps * session.worldSize() + session.trainer().rank())),
        () -> null);
  }

  /** The job file's, if it has one for sparse tables; otherwise what the TrainingConfig says for all parameters. */
  private OptimizerSpec sparseOptimizer() {
    JobConfig job = session.job();
    return job.sparseOptimizer().equals(job.optimizer()) ? optimizer.spec() : job.sparseOptimizer().toSpec(job.replicas());
  }

  // ---- what DJL calls

  @Override
  public Iterable<Batch> iterateDataset(Dataset dataset) throws IOException, TranslateException {
    if (dataset instanceof SlotDataset slots) {
      slots.trace(session.trace());
      if (exchange != null && client.job().mode() == Mode.SYNC && trainingData.isTraining(dataset)) {
        slots.trainInSteps();
        if (session.elastic().isEmpty() && rankSums == null) { // these have a way of their own, and none
          slots.giveEmptyBatches();
        }
      }
    }
    boolean told = toldToTrain == dataset;
    toldToTrain = null;
    Iterable<Batch> batches = session.elastic().isPresent() ? elastically(dataset)
        : trainingData.isBehind(dataset) ? List.of() : super.iterateDataset(dataset);
    long limit = session.job().maxSteps();
    if (limit > 0 && steps >= limit && trainingData.has(dataset) && lastEvaluations == null) {
      lastEvaluations = Map.copyOf(super.getTrainingResult().getEvaluations());
    }
    return () -> {
      iterated = dataset;
      if (iteration != null) {
        iteration.close();
      }
      Iterator<Batch> left = batches.iterator();
      trainingData.passOver(dataset, left);
      iteration = new LookAhead(left, times, this::isEnough, () -> trainingData.add(dataset), this::stepWithNothing);
      if (trainingData.has(dataset)) {
        iteration.markTrained();
      }
      if (told) {
        iteration.markSteps();
      }
      if (trainingData.isTraining(dataset)) {
        pass = iteration;
      }
      return iteration;
    };
  }

  /** In an elastic job training data are dealt as the ranks agree, all others to those who are there now. */
  private Iterable<Batch> elastically(Dataset dataset) throws IOException, TranslateException {
    if (!trainingData.isTraining(dataset)) {
      return dataset instanceof SlotDataset slots && slots.options().shards() > 1
          ? slots.getData(getManager(), session.trainer().rank(), session.worldSize()) : super.iterateDataset(dataset);
    }
    if (!(dataset instanceof SlotDataset slots && slots.canBeDealt())) {
      throw new InvalidInput("job " + session.job().job() + " is elastic (collective.min_trainers), but its training data, a "
          + dataset.getClass().getName() + ", cannot be dealt anew when trainers are lost: give it a SlotDataset over a source whose "
          + "examples are counted, read in order");
    }
    joined(replica.group()::joinOthersSteps); // a program may have left the pass before
    trainingData.beginPass(dataset);
    int pass = slots.beginPass().pass();
    ElasticPasses passes = session.elastic().orElseThrow().passes();
    if (!passes.begin(slots.allExamples(), slots.options().batchSize(), slots.options().dropLast())) {
      return List.of();
    }
    ElasticExchange elastic = (ElasticExchange) exchange;
    return () -> new DealtBatches(passes, slots, pass, getManager(), this::isEnough,
        () -> joined(elastic::join), () -> joined(elastic::joinForAnEmptyBatch));
  }

  private boolean isEnough() {
    return session.job().maxSteps() > 0 && steps >= session.job().maxSteps();
  }

  /** This rank has no example for a step of the others, which counts all the same. */
  private void joined(Runnable join) {
    join.run();
    resumed();
    countSteps();
  }

  /** In an elastic job all steps of the run, which are those of all ranks. */
  private void countSteps() {
    long made = replica.group().steps().steps();
    if (made > steps) {
      steps = made;
      session.stepped(steps);
      snapshotIfDue();
    }
  }

  /** Who takes the snapshots has run out of data, and the others train on. */
  private void snapshotOfOthersStep() {
    long made = replica.group().steps().steps();
    if (session.job().snapshots().isDue(made)) {
      handOver();
      if (snapshots != null && session.isLowest()) {
        snapshots.stepped(made, session.elastic().isPresent() ? null : trainingData.place(made));
      }
    }
  }

  private void snapshotIfDue() {
    if (session.job().snapshots().isDue(steps)) {
      handOver();
      if (snapshots != null && session.isLowest()) {
        snapshots.stepped(steps, session.elastic().isPresent() ? null : place());
      }
      drawAnew();
    }
  }

  /**
   * Says that the next iteration of this data set is for training. Only a run that goes on from a snapshot needs to know
   * beforehand; if it is not told, it takes the first data set that is iterated over for that.
   */
  public void trainsOn(Dataset dataset) {
    trainingData.add(dataset);
    toldToTrain = dataset;
  }

  /**
   * A pass over the training data is over: takes a snapshot behind it if this rank is to. All ranks have handed in what they
   * trained, and wait until this returns.
   */
  public void passed(int pass) {
    if (snapshots != null) {
      snapshots.passed(pass, replica.group().steps().steps(), behindPass());
    }
  }

  /** Where reading goes on behind a pass, which {@code max_steps} may have ended before its end; null if it is not known. */
  private DataCursor behindPass() {
    long limit = session.job().maxSteps();
    boolean sync = client.job().mode() == Mode.SYNC; // in the others each rank counts its own
    return limit == 0 || sync && steps < limit ? trainingData.behindPass() : sync && session.elastic().isEmpty() ? place() : null;
  }

  /**
   * Batches of its training data that this trainer had behind it when the run went on from a snapshot, since the
   * run's beginning: they are not trained again. 0 in a run that has begun anew.
   */
  public long batchesBehind() {
    return batchesBehind;
  }

  /** Where reading goes on, if all ranks make the same steps; null if it is not known. */
  private DataCursor place() {
    return trainingData.after(trainedOn, trainedFrom, steps);
  }

  /** Takes a snapshot that the program asks for. All ranks have handed in what they trained, and wait until this returns. */
  public void snapshot(SnapshotKind kind) {
    initialized();
    snapshots().asked(kind, replica.group().steps().steps(), place());
  }

  /** Waits until the snapshots that this trainer has taken are written, or have failed. */
  public void endSnapshots() {
    if (snapshots != null) {
      snapshots.finish();
    }
  }

  /** Takes no more snapshots, and waits for none. */
  public void dropSnapshots() {
    if (snapshots != null) {
      snapshots.close();
      snapshots = null;
    }
  }

  /** The evaluations of the last pass that had steps: those behind {@code max_steps} would make them NaN. */
  @Override
  public TrainingResult getTrainingResult() {
    TrainingResult result = super.getTrainingResult();
    if (lastEvaluations != null) {
      Map<String, Float> known = new HashMap<>(result.getEvaluations());
      lastEvaluations.forEach((name, value) -> known.compute(name, (n, now) -> now == null || now.isNaN() ? value : now));
      result.setEvaluations(known);
    }
    return result;
  }

  @Override
  public GradientCollector newGradientCollector() {
    embeddings.forget();
    endStepScope(); // not at the step's end: outputs and loss that come of rows are theirs who read them after it
    if (rankSums != null) {
      rankSums.begins();
    }
    return new TimedCollector(Engines.newGradientCollector(), times, exchange == null ? null : exchange.losses());
  }

  @Override
  public NDList forward(NDList input) {
    begin(input, null);
    long pulled = times.nanos(StepTimes.Part.PULL);
    long begin = System.nanoTime();
    NDList out = graphs == null ? super.forward(input) : graphs.forward(input, super::forward);
    forwardTook(begin, pulled);
    return out;
  }

  @Override
  public NDList forward(NDList data, NDList labels) {
    begin(data, labels);
    long pulled = times.nanos(StepTimes.Part.PULL);
    long begin = System.nanoTime();
    NDList out = graphs == null ? super.forward(data, labels)
        : graphs.forward(new NDList(data).addAll(labels), both -> super.forward(data, labels));
    forwardTook(begin, pulled);
    return out;
  }

  @Override
  public NDList evaluate(NDList input) {
    if (dense != null) {
      dense.evaluated();
    }
    return super.evaluate(input);
  }

  private void begin(NDList data, NDList itsLabels) {
    initialized();
    dense.trained();
    labels = itsLabels != null || iteration == null ? itsLabels : iteration.labels(data);
    clicks = null;
    if (firstNanos == 0) {
      firstNanos = System.nanoTime();
    }
    if (!forwarded) {
      times.begins(steps);
      stepBegan = System.nanoTime();
    }
    forwarded = true;
    long inBatch = iteration == null ? -1 : iteration.examples(data);
    examplesSeen = inBatch >= 0 ? inBatch : data.get(0).getShape().get(0);
    trainedFrom = iteration;
    trainedOn = iterated;
    if (iteration != null) {
      iteration.markTrained();
      iteration.markSteps();
    }
  }

  private void forwardTook(long begin, long pulledBefore) {
    long pulled = times.nanos(StepTimes.Part.PULL) - pulledBefore;
    times.add(StepTimes.Part.FORWARD, System.nanoTime() - begin - pulled);
    times.span("forward", begin);
  }

  /**
   * Ends a step: pushes the gradients of the last backward pass and sets the parameters to the values for the next
   * step. Blocks as the mode demands.
   */
  @Override
  public void step() {
    initialized();
    if (!forwarded) {
      throw new IllegalStateException("step() without a forward pass since the last one: call trainer.forward(data) "
          + "within a gradient collector of trainer.newGradientCollector(), then its backward(loss), then step()");
    }
    long begin = System.nanoTime();
    long pulledBefore = times.nanos(StepTimes.Part.PULL);
    long readBefore = times.nanos(StepTimes.Part.READ);
    List<SparseIds> next = nextIds();
    exchange.prefetch(next);
    long weight = examplesGiven >= 0 ? examplesGiven : examplesSeen;
    session.elastic().ifPresent(this::refuseUndealt);
    DenseMemory denseGradient = gradients(weight);
    exchange(new Gradients(weight, denseGradient, takeRowGradients()), next);
    times.span("step", stepBegan);
    examples += weight;
    examplesGiven = -1;
    clicksGiven = null;
    forwarded = false;
    times.add(StepTimes.Part.PUSH, System.nanoTime() - begin - (times.nanos(StepTimes.Part.PULL) - pulledBefore)
        - (times.nanos(StepTimes.Part.READ) - readBefore));
    lastStepNanos = System.nanoTime();
    addMetric("step", begin);
    if (session.elastic().isEmpty()) {
      snapshotIfDue();
    } else {
      steps--;
      countSteps();
    }
  }

  /** Trades gradients for the next step's values, and counts the step. */
  private void exchange(Gradients gradients, List<SparseIds> next) {
    DenseMemory values = exchange.step(gradients, next);
    long writing = System.nanoTime();
    dense.write(values);
    times.span("values in", writing, Map.of("bytes", 4L * dense.numel()));
    steps++;
    session.stepped(Math.max(steps, replica.group().steps().steps()));
  }

  /**
   * The others make a step, but all lines of this replica's batch were left out as bad. It takes part with no weight,
   * or it would be a batch ahead of them from here on. Nothing happens while a step is begun: a program that takes
   * batches ahead makes its own.
   */
  private void stepWithNothing() {
    if (!forwarded) {
      trainedFrom = iteration;
      trainedOn = iterated;
      long begin = System.nanoTime();
      exchange(new Gradients(0, dense.noGradients(times, exchange.reader(0)), List.of()), List.of());
      times.add(StepTimes.Part.PUSH, System.nanoTime() - begin);
      snapshotIfDue();
    }
  }

  private void refuseUndealt(ElasticRank rank) {
    if (rank.passes().next().isEmpty()) {
      throw new InvalidInput("job " + session.job().job() + " is elastic, and step " + steps + " trains a batch that trainer "
          + session.trainer().rank() + " was not dealt; take each batch of the training data from trainer.iterateDataset, and make one "
          + "step with it");
    }
  }

  private DenseMemory gradients(long weight) {
    try {
      return dense.readGradients(times, exchange.reader(weight));
    } catch (EngineException e) { // who failed within the engine has kept its reason
      throw rankSums != null && rankSums.failure() != null ? rankSums.failure() : e;
    }
  }

  private List<SparseRows> takeRowGradients() {
    long begin = System.nanoTime();
    List<SparseRows> sparse = embeddings.takeGradients();
    if (times.traced()) {
      times.span("gradients of rows out, summed by id", begin, Map.of("rows",
          sparse.stream().mapToLong(rows -> rows.ids().length).sum()));
    }
    return sparse;
  }

  /** The ids of the batch after this one, if it comes out of the iteration that this step trains on. */
  private List<SparseIds> nextIds() {
    if (embeddings.isEmpty() || trainedFrom == null || trainedFrom != iteration) {
      return List.of();
    }
    Batch next = trainedFrom.peek();
    return next == null ? List.of() : embeddings.wish(next);
  }

  private void initialized() {
    if (exchange == null) {
      throw new IllegalStateException("call trainer.initialize(shapes) first: it registers the model with the shards");
    }
  }

  private float[] rows(String table, int dim, long[] ids, boolean training) {
    initialized();
    if (!training) {
      return exchange.evaluationRows(table, dim, ids);
    }
    long begin = System.nanoTime();
    float[] rows = exchange.rows(table, dim, ids);
    times.span("rows", begin, Map.of("table", table, "rows", ids.length));
    return rows;
  }

  private NDManager stepScope() {
    if (stepScope == null) {
      stepScope = getManager().newSubManager();
    }
    return stepScope;
  }

  private void endStepScope() {
    if (stepScope != null) {
      stepScope.close();
      stepScope = null;
    }
  }

  // ---- what programs may ask and tell

  /**
   * Whether the program is at data that were trained before the snapshot that the run goes on from: what it does behind them has
   * been done.
   */
  public boolean isBehind() {
    return trainingData.isBehind();
  }

  /**
   * Steps so far of the whole run, as this replica counts them; in sync mode, once it has met the others, also those that it
   * had no data for.
   */
  public long steps() {
    return steps;
  }

  /** Examples trained so far by this replica. */
  public long examples() {
    return examples;
  }

  /** Where this replica's time went. */
  public StepTimes times() {
    return times;
  }

  /**
   * Number of examples behind the gradients of the next {@link #step}, its weight in the mean over replicas and ranks.
   * Only needed where the data do not come from {@link #iterateDataset} and their first dimension is not the number of
   * examples.
   */
  public void setExamples(long count) {
    if (count < 0) {
      throw new InvalidInput("the number of examples must not be negative: " + count);
    }
    examplesGiven = count;
  }

  /**
   * Clicks of the examples whose forward passes come before the next {@link #step}, one of each example: 0 or 1, or how
   * often. Only needed where a table has statistics and the batch's first array of labels does not say so.
   */
  public void setClicks(float[] ofExamples) {
    clicksGiven = ofExamples.clone();
  }

  private float[] clicks(String table) {
    if (clicksGiven != null) {
      return clicksGiven;
    }
    if (clicks == null) {
      if (labels == null || labels.isEmpty()) {
        throw new InvalidInput("table " + table + " has statistics, but the labels of this batch are not known here: take "
            + "batches from trainer.iterateDataset, or call forward(data, labels), or trainer.setClicks before forward");
      }
      NDArray first = labels.get(0);
      if (first.getDataType() == DataType.FLOAT32) {
        clicks = first.toFloatArray();
      } else {
        try (NDArray floats = first.toType(DataType.FLOAT32, true)) {
          clicks = floats.toFloatArray();
        }
      }
    }
    return clicks;
  }

  /** Wall clock of this replica's training so far, first forward pass to last step, s. */
  public double seconds() {
    return lastStepNanos == 0 ? 0 : (lastStepNanos - firstNanos) / 1e9;
  }

  /** By which this run's snapshots and models are told from others; those of later runs are higher. Null before {@link #initialize}. */
  public String run() {
    return run;
  }

  /** The client of the shards, for saving and for questions about where what lies. Null before {@link #initialize}. */
  public ParameterClient client() {
    return client;
  }

  /** Values of the parameters that are not trained (such as running means), by name: this replica's own. */
  public Map<String, float[]> frozenValues() {
    initialized();
    return frozen.values();
  }

  /** Whether {@link #close} has been called: the model may be closed as well then. */
  public boolean isClosed() {
    return closed;
  }

  /** The tables that the model has on the servers. */
  public List<SparseTableSpec> tables() {
    initialized();
    return client.job().model().sparse();
  }

  /**
   * After replicas have met outside of steps: goes on with the values of the step that they have agreed on. Called by
   * the {@link io.regatta.trainer.Worker}.
   */
  public void resumed() {
    if (exchange != null && !closed) {
      DenseMemory values = exchange.resumed();
      if (values != null) {
        dense.write(values);
      }
    }
    if (exchange != null && session.elastic().isEmpty() && client.job().mode() == Mode.SYNC
        && replica.group().steps().pushesPerStep() == 1) {
      met(replica.group().steps().steps());
    }
  }

  /** All ranks go on from the same step, also one that had no data for the last ones of the others. */
  private void met(long agreed) {
    long due = session.job().snapshots().lastDue(steps, agreed);
    if (due > 0) { // as a run does that goes on from the snapshot that the others have taken meanwhile
      steps = due;
      drawAnew();
    }
    steps = Math.max(steps, agreed);
    trainingData.met(steps, !isEnough() && (pass == null || pass.isExhausted()));
  }

  /** Hands in what the servers do not have yet (geo); works on a closed trainer too. */
  public void handIn() {
    if (exchange != null) {
      exchange.handIn();
    }
  }

  /** Takes over the servers' newest values. */
  public void newest() {
    initialized();
    DenseMemory values = exchange.newest();
    if (!closed) {
      dense.write(values);
    }
  }

  /**
   * In collective mode, makes the parameters that are not trained (running means) their mean over the ranks, who all must call
   * it; in the others nothing. Works on a closed trainer too.
   */
  public void averageFrozen() {
    if (exchange != null && exchange.averages()) {
      frozen.average(exchange::average);
    }
  }

  /** What the exchange has to tell of itself, for the result of the run: figures by name. */
  public Map<String, Double> exchangeFigures() {
    return exchange == null ? Map.of() : exchange.figures();
  }

  /**
   * {@link #handIn}, then {@link #newest}, for this replica alone. Where all shall see the same, use
   * {@link io.regatta.trainer.Worker#settle}.
   */
  public void flush() {
    handIn();
    newest();
  }

  /** Closes the trainer; nobody waits for this replica's steps any more. The rank leaves when its program ends. */
  @Override
  public void close() {
    if (closed) {
      return;
    }
    closed = true;
    endStepScope();
    if (rankSums != null) {
      rankSums.close();
    }
    if (graphs != null) {
      graphs.close();
    }
    if (dense != null) {
      frozen.close(); // for a model that is saved after its program has closed it
      dense.close();
    }
    super.close();
  }
}
