package io.regatta.training.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.EasyTrain;
import ai.djl.training.GradientCollector;
import ai.djl.training.ParameterStore;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.util.PairList;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.reduce.SparseGradients;
import io.regatta.training.config.Strategy;
import io.regatta.training.optimizer.RegattaOptimizer;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.rank.Toy;
import io.regatta.training.replica.ReplicaContext;
import io.regatta.training.session.LocalSession;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

public class DistributedEmbeddingTest {

  private static final int BATCH = 6;
  private static final int SLOTS = 3;
  private static final float RATE = 0.05f;

  /** y = bias + Σ over slots and dims of the rows of one or two embeddings, all in tables of that dim. */
  public static final class SumOfRows extends AbstractBlock {
    private final List<DistributedEmbedding> embeddings = new ArrayList<>();
    private final Linear bias = Linear.builder().setUnits(1).build();
    private final int dim;

  public   SumOfRows(int dim, int inputIndex, String... tables) {
      this.dim = dim;
      for (int i = 0; i < tables.length; i++) {
        embeddings.add(addChildBlock("e" + i, DistributedEmbedding.builder().setTable(tables[i]).setDim(dim)
            .optInitializer(InitializerSpec.uniform(-1, 1)).optInputIndex(inputIndex).build()));
      }
      addChildBlock("bias", bias);
    }

    @Override
    protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training,
        PairList<String, Object> params) {
      NDArray out = null;
      for (DistributedEmbedding e : embeddings) {
        NDArray rows = e.forward(store, new NDList(inputs.get(0)), training).singletonOrThrow();
        NDArray sum = rows.reshape(inputs.get(0).getShape().get(0), SLOTS * dim).sum(new int[] {1}, true);
        out = out == null ? sum : out.add(sum);
      }
      NDArray zeros = out.zerosLike();
      return new NDList(out.add(bias.forward(store, new NDList(zeros), training).singletonOrThrow()));
    }

    @Override
    protected void initializeChildBlocks(NDManager manager, DataType type, Shape... shapes) {
      embeddings.forEach(e -> e.initialize(manager, type, shapes[0]));
      bias.initialize(manager, type, new Shape(shapes[0].get(0), 1));
    }

    @Override
    public Shape[] getOutputShapes(Shape[] inputShapes) {
      return new Shape[] {new Shape(inputShapes[0].get(0), 1)};
    }
  }

  @BeforeAll
  static void engine() {
    Engines.start("auto", 1);
  }

  /** ids far apart and negative, each several times per batch. */
  private static long[] ids(int batches, long seed) {
    Random random = new Random(seed);
    long[] ids = new long[batches * BATCH * SLOTS];
    for (int i = 0; i < ids.length; i++) {
      ids[i] = (random.nextInt(7) - 3) * 0x1234_5678_9ABCL;
    }
    return ids;
  }

  private static float[] labels(int batches) {
    float[] y = new float[batches * BATCH];
    for (int i = 0; i < y.length; i++) {
      y[i] = i % 5 - 2;
    }
    return y;
  }

  /**
   * Returns the table after SGD, computed directly: the mean over the batch of (y - ŷ)² has the gradient 2(ŷ - y)/batch
   * per example.
   */
  private static Map<Long, double[]> byHand(int batches, long[] ids, float[] labels, int dim, int blocks) {
    Map<Long, double[]> table = new HashMap<>();
    float[] row = new float[dim];
    for (long id : ids) {
      InitializerSpec.uniform(-1, 1).fill(1, "t", id, row, 0, dim);
      double[] r = new double[dim];
      for (int k = 0; k < dim; k++) {
        r[k] = row[k];
      }
      table.put(id, r);
    }
    double bias = 0;
    for (int b = 0; b < batches; b++) {
      Map<Long, double[]> gradient = new HashMap<>();
      double biasGradient = 0;
      for (int i = b * BATCH; i < (b + 1) * BATCH; i++) {
        double predicted = bias;
        for (int s = 0; s < SLOTS; s++) {
          for (double v : table.get(ids[i * SLOTS + s])) {
            predicted += blocks * v;
          }
        }
        double error = 2 * (predicted - labels[i]) / BATCH;
        biasGradient += error;
        for (int s = 0; s < SLOTS; s++) {
          double[] g = gradient.computeIfAbsent(ids[i * SLOTS + s], id -> new double[dim]);
          for (int k = 0; k < dim; k++) {
            g[k] += blocks * error;
          }
        }
      }
      bias -= RATE * biasGradient;
      gradient.forEach((id, g) -> {
        for (int k = 0; k < g.length; k++) {
          table.get(id)[k] -= RATE * g[k];
        }
      });
    }
    return table;
  }

  private static Map<Long, float[]> trained(int batches, SumOfRows block, DataType idType) throws Exception {
    long[] ids = ids(batches, 3);
    try (LocalSession session = new LocalSession(Toy.job()); Model model = Model.newInstance("sum")) {
      model.setBlock(block);
      try (FleetTrainer trainer = new FleetTrainer(model, Toy.config(RegattaOptimizer.of("sgd", RATE)), Strategy.sync(),
          ReplicaContext.single(session))) {
        trainer.initialize(new Shape(BATCH, SLOTS));
        NDManager manager = trainer.getManager();
        NDArray idArray = manager.create(ids, new Shape((long) batches * BATCH, SLOTS));
        EasyTrain.fit(trainer, 1, new ArrayDataset.Builder().setData(idArray.toType(idType, false))
            .optLabels(manager.create(labels(batches), new Shape((long) batches * BATCH, 1)))
            .setSampling(BATCH, false).build(), null);
        Map<Long, float[]> rows = new HashMap<>();
        trainer.client().export("t", slice -> {
          collect(slice, block.dim, rows);
          return CompletableFuture.completedFuture(null);
        }).join();
        return rows;
      }
    }
  }

  private static void collect(SparseRows slice, int dim, Map<Long, float[]> rows) {
    for (int i = 0; i < slice.ids().length; i++) {
      float[] row = new float[dim];
      System.arraycopy(slice.values(), i * dim, row, 0, dim);
      rows.put(slice.ids()[i], row);
    }
  }

  private static void assertSame(Map<Long, float[]> rows, Map<Long, double[]> expected) {
    assertThat(rows).containsOnlyKeys(expected.keySet());
    expected.forEach((id, row) -> {
      for (int k = 0; k < row.length; k++) {
        assertThat((double) rows.get(id)[k]).as("id %d, value %d", id, k).isCloseTo(row[k], within(2e-4));
      }
    });
  }

  @Test
  void repeatedIdsGetTheSumOfTheirGradients() throws Exception {
    assertSame(trained(4, new SumOfRows(2, -1, "t"), DataType.INT64), byHand(4, ids(4, 3), labels(4), 2, 1));
  }

  @Test
  void prefetchedRowsAreTheRowsOfTheStep() throws Exception {
    Map<Long, float[]> pulledInForward = trained(5, new SumOfRows(4, -1, "t"), DataType.INT64);
    Map<Long, float[]> prefetched = trained(5, new SumOfRows(4, 0, "t"), DataType.INT64);
    assertThat(prefetched).containsOnlyKeys(pulledInForward.keySet());
    prefetched.forEach((id, row) -> assertThat(row).containsExactly(pulledInForward.get(id)));
  }

  @Test
  void blocksMayShareATable() throws Exception {
    assertSame(trained(3, new SumOfRows(2, 0, "t", "t"), DataType.INT64), byHand(3, ids(3, 3), labels(3), 2, 2));
  }

  @Test
  void evaluationPullsWithoutAGradient() {
    try (LocalSession session = new LocalSession(Toy.job()); Model model = Model.newInstance("sum")) {
      model.setBlock(new SumOfRows(2, -1, "t"));
      try (FleetTrainer trainer = new FleetTrainer(model, Toy.config(RegattaOptimizer.of("sgd", RATE)), Strategy.sync(),
          ReplicaContext.single(session))) {
        trainer.initialize(new Shape(1, SLOTS));
        NDArray ids = trainer.getManager().create(new long[] {5, 5, 9}, new Shape(1, SLOTS));
        float[] row = new float[2];
        double sum = 0;
        for (long id : ids.toLongArray()) {
          InitializerSpec.uniform(-1, 1).fill(1, "t", id, row, 0, 2);
          sum += row[0] + row[1];
        }
        NDArray out = trainer.evaluate(new NDList(ids)).singletonOrThrow();
        assertThat((double) out.getFloat()).isCloseTo(sum, within(1e-5));
        try (GradientCollector collector = trainer.newGradientCollector()) {
          collector.backward(trainer.forward(new NDList(ids)).singletonOrThrow().sum());
        }
        trainer.step();
        float after = trainer.evaluate(new NDList(ids)).singletonOrThrow().getFloat();
        // five: twice in the batch, so gradient 2 in each of 2 values, and it is read twice; nine: 1, read once; bias 1
        assertThat((double) after).isCloseTo(sum - RATE * (2 * 2 * 2 + 2 * 1 + 1), within(1e-4));
      }
    }
  }

  @Test
  void blocksThatDisagreeAboutATableAreRefused() {
    SequentialBlock block = new SequentialBlock()
        .add(DistributedEmbedding.builder().setTable("t").setDim(2).build())
        .add(DistributedEmbedding.builder().setTable("t").setDim(3).build());
    assertThatThrownBy(() -> new Embeddings(block).tables(OptimizerSpec.sgd(1))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("disagree about table t");
  }

  /** A linear function of two slots with values: the gradients are known exactly, and padding has none. */
  @Test
  void slotsOfSeveralIdsAreSumsAndPaddingIsNothing() {
    DistributedEmbedding block = DistributedEmbedding.builder().setTable("t").setDim(1).optSlots(List.of(2, 1)).build();
    block.attach((table, dim, ids, training) -> twos(ids.length));
    try (NDManager manager = NDManager.newBaseManager()) {
      NDList in = new NDList(manager.create(new long[] {5, 9, 5, 7, -1, -1}, new Shape(2, 3)),
          manager.create(new float[] {1, 0.5f, 3, -2, 0, 0}, new Shape(2, 3)));
      ParameterStore store = new ParameterStore(manager, false);
      NDArray out;
      try (GradientCollector collector = manager.getEngine().newGradientCollector()) {
        out = block.forward(store, in, true).singletonOrThrow();
        collector.backward(out.mul(manager.create(new float[] {1, 10, 100, 1000}, new Shape(2, 2, 1))).sum());
      }
      assertThat(out.getShape()).isEqualTo(new Shape(2, 2, 1));
      assertThat(out.toFloatArray()).containsExactly(3f, 6f, -4f, 0f);
      SparseGradients gradients = new SparseGradients();
      block.takeGradients(gradients);
      SparseRows rows = gradients.toRows().get(0);
      assertThat(rows.ids()).containsExactly(5, 9, 7);
      assertThat(rows.values()).as("5: once in the first slot, 3 times in the second").containsExactly(1 + 3 * 10f, 0.5f, -200f);
      assertThatThrownBy(() -> block.forward(store, new NDList(manager.create(new long[2], new Shape(1, 2))), false))
          .isInstanceOf(InvalidInput.class).hasMessageContaining("its slots hold 3 ids together");
    }
  }

  @Test
  void paddingInSlotsOfOneIdIsZeros() {
    DistributedEmbedding block = DistributedEmbedding.builder().setTable("t").setDim(2).build();
    block.attach((table, dim, ids, training) -> twos(ids.length * dim));
    try (NDManager manager = NDManager.newBaseManager()) {
      NDArray out = block.forward(new ParameterStore(manager, false),
          new NDList(manager.create(new long[] {4, -1, 4}, new Shape(1, 3))), false).singletonOrThrow();
      assertThat(out.toFloatArray()).containsExactly(2f, 2f, 0f, 0f, 2f, 2f);
    }
  }

  private static float[] twos(int n) {
    float[] twos = new float[n];
    Arrays.fill(twos, 2);
    return twos;
  }

  @Test
  void floatIdsAreRefused() {
    try (LocalSession session = new LocalSession(Toy.job()); Model model = Model.newInstance("sum")) {
      model.setBlock(new SumOfRows(2, -1, "t"));
      try (FleetTrainer trainer = new FleetTrainer(model, Toy.config(RegattaOptimizer.of("sgd", RATE)), Strategy.sync(),
          ReplicaContext.single(session))) {
        trainer.initialize(new Shape(1, SLOTS));
        NDArray ids = trainer.getManager().create(new float[] {5, 5, 9}, new Shape(1, SLOTS));
        assertThatThrownBy(() -> trainer.evaluate(new NDList(ids))).isInstanceOf(InvalidInput.class)
            .hasMessageContaining("int64 or int32, not float32");
      }
    }
  }
}
