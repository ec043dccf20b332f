package io.regatta.trainer.djl;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.nn.norm.BatchNorm;
import ai.djl.training.GradientCollector;
import ai.djl.training.ParameterStore;
import ai.djl.training.initializer.Initializer;
import ai.djl.util.Pair;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Random;
import org.assertj.core.data.Offset;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Against the engine's own batch normalisation of the whole batch. */
class SyncBatchNormTest {

  private static final Offset<Float> ROUNDING = Offset.offset(2e-4f);

  /** Outputs, gradients by input and parameters, and running values of two steps on random data. */
  private static Map<String, float[]> trained(Block block, Shape shape) {
    Map<String, float[]> seen = new LinkedHashMap<>();
    try (NDManager manager = NDManager.newBaseManager()) {
      block.setInitializer(Initializer.ONES, Parameter.Type.OTHER);
      block.initialize(manager, DataType.FLOAT32, shape);
      ParameterStore store = new ParameterStore(manager, false);
      Random random = new Random(3);
      for (int step = 0; step < 2; step++) {
        NDArray x = values(manager, shape, random, 3, 2);
        NDArray weights = values(manager, shape, random, 0, 1);
        x.setRequiresGradient(true);
        try (GradientCollector collector = Engines.newGradientCollector()) {
          NDArray y = block.forward(store, new NDList(x), true).singletonOrThrow();
          collector.backward(y.mul(weights).sum());
          seen.put("output " + step, y.toFloatArray());
        }
        seen.put("gradient by input " + step, x.getGradient().toFloatArray());
        for (Pair<String, Parameter> p : block.getParameters()) {
          NDArray array = p.getValue().getArray();
          String name = p.getKey() + " " + step;
          seen.put(p.getValue().requiresGradient() ? "gradient by " + name : name,
              (p.getValue().requiresGradient() ? array.getGradient() : array).toFloatArray());
        }
      }
    }
    return seen;
  }

  private static NDArray values(NDManager manager, Shape shape, Random random, float mean, float deviation) {
    float[] values = new float[(int) shape.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = mean + deviation * (float) random.nextGaussian();
    }
    return manager.create(values, shape);
  }

  @ParameterizedTest
  @CsvSource({"8, 3, 1", "6, 4, 5"})
  void aloneItIsBatchNormalisation(int rows, int channels, int side) {
    Engines.start("MXNet", 1);
    Shape shape = side == 1 ? new Shape(rows, channels) : new Shape(rows, channels, side, side);
    Map<String, float[]> expected = trained(BatchNorm.builder().build(), shape);
    Map<String, float[]> sync = trained(new SyncBatchNorm(), shape);
    assertThat(sync.keySet()).hasSize(12).isEqualTo(expected.keySet());
    expected.forEach((name, values) -> assertThat(sync.get(name)).as(name).containsExactly(values, ROUNDING));
  }
}
