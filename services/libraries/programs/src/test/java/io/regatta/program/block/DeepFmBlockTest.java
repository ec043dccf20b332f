package io.regatta.program.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.ParameterStore;
import io.regatta.data.Layout;
import io.regatta.training.model.DistributedEmbedding;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class DeepFmBlockTest {

  private static final int DENSE = 2;
  private static final int SLOTS = 3;
  private static final int DIM = 4;

  /** Without the layers (weights 0) the logit is the formula of a factorization machine, written out. */
  @Test
  void isAFactorizationMachineUnderItsLayers() {
    try (NDManager manager = NDManager.newBaseManager()) {
      DeepFmBlock block = new DeepFmBlock(new Layout(DENSE, SLOTS), DIM, 0.5f, List.of(3), 1);
      block.initialize(manager, DataType.FLOAT32, new Shape(1, DENSE), new Shape(1, SLOTS));
      block.getParameters().forEach(p -> {
        if (p.getKey().contains("deep")) {
          p.getValue().getArray().set(new float[(int) p.getValue().getArray().size()]);
        }
      });
      Random random = new Random(7);
      float[][] rows = new float[SLOTS][DIM];
      float[] weights = new float[SLOTS];
      for (int s = 0; s < SLOTS; s++) {
        weights[s] = random.nextFloat() - 0.5f;
        for (int k = 0; k < DIM; k++) {
          rows[s][k] = random.nextFloat() - 0.5f;
        }
      }
      block.getChildren().forEach(child -> {
        if (child.getValue() instanceof DistributedEmbedding e) {
          e.attach((table, dim, ids, training) -> {
            float[] values = new float[ids.length * dim];
            for (int i = 0; i < ids.length; i++) {
              for (int k = 0; k < dim; k++) {
                values[i * dim + k] = dim == 1 ? weights[(int) ids[i]] : rows[(int) ids[i]][k];
              }
            }
            return values;
          });
        }
      });
      float[] dense = {0.3f, -1.2f};
      NDArray logit = block.forward(new ParameterStore(manager, false),
          new NDList(manager.create(dense, new Shape(1, DENSE)), manager.create(new long[] {0, 1, 2}, new Shape(1, SLOTS))),
          false).singletonOrThrow();

      assertThat(logit.getShape()).isEqualTo(new Shape(1, 1));
      assertThat((double) logit.getFloat()).isCloseTo(machine(block, rows, weights, dense), within(1e-5));
    }
  }

  private static double machine(DeepFmBlock block, float[][] rows, float[] weights, float[] dense) {
    float[] denseWeights = parameter(block, "weights_weight", DENSE);
    float[] denseVectors = parameter(block, "dense_vectors", DENSE * DIM);
    double sum = 0;
    double[][] vectors = new double[SLOTS + DENSE][DIM];
    for (int s = 0; s < SLOTS; s++) {
      sum += weights[s];
      for (int k = 0; k < DIM; k++) {
        vectors[s][k] = rows[s][k];
      }
    }
    for (int d = 0; d < DENSE; d++) {
      sum += denseWeights[d] * dense[d];
      for (int k = 0; k < DIM; k++) {
        vectors[SLOTS + d][k] = denseVectors[d * DIM + k] * dense[d];
      }
    }
    for (int i = 0; i < vectors.length; i++) {
      for (int j = i + 1; j < vectors.length; j++) {
        for (int k = 0; k < DIM; k++) {
          sum += vectors[i][k] * vectors[j][k];
        }
      }
    }
    return sum;
  }

  private static float[] parameter(DeepFmBlock block, String name, int size) {
    float[] values = block.getParameters().stream().filter(p -> p.getKey().contains(name))
        .map(p -> p.getValue().getArray().toFloatArray()).findFirst().orElseThrow();
    assertThat(values).hasSize(size);
    return values;
  }
}
