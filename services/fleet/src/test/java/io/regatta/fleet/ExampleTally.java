package io.regatta.fleet;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.ParameterStore;
import ai.djl.training.dataset.Batch;
import ai.djl.training.initializer.Initializer;
import ai.djl.training.loss.Loss;
import ai.djl.util.PairList;
import io.regatta.core.exchange.Mode;
import io.regatta.core.init.InitializerSpec;
import io.regatta.data.IndexedSource;
import io.regatta.data.Layout;
import io.regatta.data.LoaderOptions;
import io.regatta.data.SlotBatch;
import io.regatta.snapshot.SnapshotKind;
import io.regatta.snapshot.Snapshots;
import io.regatta.training.FetchHandler;
import io.regatta.training.TrainingProgram;
import io.regatta.training.Worker;
import io.regatta.training.cut.Heter;
import io.regatta.training.dataset.SlotArrays;
import io.regatta.training.dataset.SlotDataset;
import io.regatta.training.model.DistributedEmbedding;
import io.regatta.training.rank.FleetTrainer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.LongStream;

/**
 * A training program whose parameters count the trained examples. Each example has a number, a dense weight and, with
 * servers, a row of its own. The loss is minus the mean of weight, row and bias, so each gradient is constant. An
 * update moves the bias by the learning rate, and the weights and rows of its examples by their part of it. All values
 * are exact in float32.
 */
final class ExampleTally implements TrainingProgram {

  static final int EXAMPLES = 24;
  static final int BATCH = 2;
  static final String TABLE = "tally";
  static final String CUT = "cut here by the test";
  static final long NEVER = Long.MAX_VALUE;

  private static final long SECONDS = 60; // for what hangs; it measures nothing

  /** One trained batch. */
  record Trained(int pass, int rank, List<Long> examples) {}

  /**
   * The end of one life of the run, and the snapshots that it asks for.
   *
   * @param steps local steps by rank, after which a trainer fails, when all that fail are there ({@link #NEVER}: it
   *     does not); empty: the run trains to its end
   * @param snapshots directory in which a whole snapshot must be before any trainer fails
   * @param leastStep of that snapshot; 0: none is needed
   * @param asked kinds of the snapshots that all replicas ask for, by local step
   */
  record Life(List<Long> steps, Path snapshots, long leastStep, Map<Long, SnapshotKind> asked) {}

  private final Life life;
  private final CountDownLatch cut;
  /** True if the network has a mark at which it can be cut. */
  private boolean cutNetwork;
  private final List<Trained> trained = Collections.synchronizedList(new ArrayList<>());

  ExampleTally(Life life) {
    this(life, 1);
  }

  /** @param replicas of each trainer that fails, all of which are waited for: none is cut off within a step */
  ExampleTally(Life life, int replicas) {
    this.life = life;
    cut = new CountDownLatch(replicas * (int) life.steps().stream().filter(step -> step < NEVER).count());
  }

  /** Marks the network: the bias is after the cut, all else before it. */
  ExampleTally marked() {
    cutNetwork = true;
    return this;
  }

  /** Returns the batches that this life has trained. */
  List<Trained> trained() {
    return List.copyOf(trained);
  }

  @Override
  public void run(Worker worker) throws Exception {
    LoaderOptions options = LoaderOptions.inOrder(BATCH).shard(worker.shardIndex(), worker.shardCount());
    try (Model model = Model.newInstance("tally", worker.device());
        SlotDataset data = new SlotDataset(new Numbers(), options)) {
      boolean tables = worker.job().mode() != Mode.COLLECTIVE;
      model.setBlock(cutNetwork ? new CutTally() : new Tally(tables));
      try (FleetTrainer trainer = worker.distributedTrainer(model,
          new DefaultTrainingConfig(new MinusMean()).optOptimizer(worker.optimizer()))) {
        trainer.initialize(SlotArrays.shapes(data.layout(), BATCH));
        for (int pass = 0; pass < worker.job().epochs(); pass++) {
          worker.trainFromDataset(trainer, data, new Observer(worker, trainer, pass), 1000, false);
        }
        worker.snapshot(trainer, SnapshotKind.FULL);
      }
    }
  }

  /** Notes each batch, asks for snapshots and cuts the run, on one model thread. */
  private final class Observer implements FetchHandler {

    private final Worker worker;
    private final FleetTrainer trainer;
    private final int pass;

    Observer(Worker worker, FleetTrainer trainer, int pass) {
      this.worker = worker;
      this.trainer = trainer;
      this.pass = pass;
    }

    @Override
    public void trained(Batch batch, NDList predictions, float loss) {
      List<Long> examples = LongStream.of(batch.getData().get(0).toLongArray()).boxed().toList();
      trained.add(new Trained(pass, worker.rank(), examples));
      SnapshotKind asked = life.asked().get(trainer.steps());
      if (asked != null) {
        worker.snapshot(trainer, asked);
      }
      if (!life.steps().isEmpty() && trainer.steps() >= life.steps().get(worker.rank())) {
        awaitAll();
        awaitSnapshot();
        throw new IllegalStateException(CUT);
      }
    }

    @Override
    public void fetched(long step, Map<String, Double> values) {}
  }

  /** Waits until every trainer is where it is to fail. */
  private void awaitAll() {
    cut.countDown();
    try {
      if (!cut.await(SECONDS, TimeUnit.SECONDS)) {
        throw new IllegalStateException("after " + SECONDS + " s, trainers are not at the steps " + life.steps());
      }
    } catch (InterruptedException e) {
      throw new IllegalStateException("stopped while others train", e);
    }
  }

  private void awaitSnapshot() {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
    try {
      while (life.leastStep() > 0 && Snapshots.list(life.snapshots(), skipped -> { }).stream()
          .noneMatch(found -> found.manifest().step() >= life.leastStep())) {
        if (System.nanoTime() > deadline || Thread.interrupted()) {
          throw new IllegalStateException("no snapshot of step " + life.leastStep() + " or later in "
              + life.snapshots());
        }
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(1));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Numbers from 0 to {@link #EXAMPLES}, each one example. */
  private static final class Numbers extends IndexedSource {

    @Override
    public String name() {
      return "numbers";
    }

    @Override
    public Layout layout() {
      return new Layout(0, 1);
    }

    @Override
    public long size() {
      return EXAMPLES;
    }

    @Override
    public boolean parse(Example example, SlotBatch into, int row) {
      into.ids()[row] = example.index();
      into.labels()[row] = 0;
      return true;
    }
  }

  private static final class MinusMean extends Loss {

    MinusMean() {
      super("minus mean");
    }

    @Override
    public NDArray evaluate(NDList labels, NDList predictions) {
      return predictions.singletonOrThrow().mean().neg();
    }
  }

  /** Weight, row and bias of an example, summed. */
  private static final class Tally extends AbstractBlock {

    private final Parameter weight;
    /** Null if it is not of this block. */
    private final Parameter bias;
    private final DistributedEmbedding rows;

    Tally(boolean tables) {
      this(tables, true);
    }

    Tally(boolean tables, boolean hasBias) {
      weight = addParameter(Parameter.builder().setName("weight").setType(Parameter.Type.WEIGHT)
          .optShape(new Shape(EXAMPLES, 1)).build());
      bias = !hasBias ? null : addParameter(Parameter.builder().setName("bias").setType(Parameter.Type.BIAS)
          .optShape(new Shape(1)).build());
      weight.setInitializer(Initializer.ZEROS);
      if (hasBias) {
        bias.setInitializer(Initializer.ZEROS);
      }
      rows = !tables ? null : addChildBlock(TABLE, DistributedEmbedding.builder().setTable(TABLE).setDim(1)
          .optInitializer(InitializerSpec.zeros()).optInputIndex(0).build());
    }

    @Override
    protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training,
        PairList<String, Object> params) {
      NDArray ids = inputs.singletonOrThrow();
      NDArray w = store.getValue(weight, ids.getDevice(), training);
      long examples = ids.getShape().get(0);
      NDArray sum = ids.reshape(examples).oneHot(EXAMPLES, DataType.FLOAT32).dot(w);
      if (bias != null) {
        sum = sum.add(store.getValue(bias, ids.getDevice(), training));
      }
      if (rows != null) {
        sum = sum.add(rows.forward(store, new NDList(ids), training).singletonOrThrow().reshape(examples, 1));
      }
      return new NDList(sum);
    }

    @Override
    protected void initializeChildBlocks(NDManager manager, DataType type, Shape... inputs) {
      if (rows != null) {
        rows.initialize(manager, type, inputs[0]);
      }
    }

    @Override
    public Shape[] getOutputShapes(Shape[] inputs) {
      return new Shape[] {new Shape(inputs[0].get(0), 1)};
    }
  }

  /** The same sum, of which the bias is added after a cut. */
  private static final class CutTally extends AbstractBlock {

    private final Tally before = addChildBlock("before", new Tally(true, false));
    private final Block after = addChildBlock("after", Heter.remote(new Bias()));

    @Override
    protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training,
        PairList<String, Object> params) {
      return after.forward(store, before.forward(store, inputs, training), training);
    }

    @Override
    protected void initializeChildBlocks(NDManager manager, DataType type, Shape... inputs) {
      before.initialize(manager, type, inputs);
      after.initialize(manager, type, before.getOutputShapes(inputs));
    }

    @Override
    public Shape[] getOutputShapes(Shape[] inputs) {
      return before.getOutputShapes(inputs);
    }
  }

  private static final class Bias extends AbstractBlock {

    private final Parameter bias = addParameter(Parameter.builder().setName("bias").setType(Parameter.Type.BIAS)
        .optShape(new Shape(1)).build());

    Bias() {
      bias.setInitializer(Initializer.ZEROS);
    }

    @Override
    protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training,
        PairList<String, Object> params) {
      NDArray sum = inputs.singletonOrThrow();
      return new NDList(sum.add(store.getValue(bias, sum.getDevice(), training)));
    }

    @Override
    public Shape[] getOutputShapes(Shape[] inputs) {
      return inputs;
    }
  }
}
