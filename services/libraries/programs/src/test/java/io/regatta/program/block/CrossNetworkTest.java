package io.regatta.program.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.training.ParameterStore;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.training.model.Engines;
import java.util.Random;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class CrossNetworkTest {

  @BeforeAll
  static void engine() {
    Engines.start("auto", 1);
  }

  private static float[] outputs(Block block, float[] x, Shape shape, float[]... parameters) {
    try (NDManager manager = NDManager.newBaseManager()) {
      block.initialize(manager, DataType.FLOAT32, shape);
      for (int i = 0; i < parameters.length; i++) {
        block.getParameters().get(i).getValue().getArray().set(parameters[i]);
      }
      NDArray in = manager.create(x, shape);
      return block.forward(new ParameterStore(manager, false), new NDList(in), false).singletonOrThrow().toFloatArray();
    }
  }

  /**
   * Computes two layers with x = (1, 2), W = ((1, 2), (3, 4)), b = (0.5, -1). W x + b = (5.5, 10), so layer 1 gives (1, 2) ⊙ (5.5, 10)
   * + (1, 2) = (6.5, 22). Layer 2 with W = the identity and b = 0: (1, 2) ⊙ (6.5, 22) + (6.5, 22) = (13, 66).
   */
  @Test
  void isTheRecurrenceByHand() {
    float[] transposed = {1, 3, 2, 4};
    assertThat(outputs(new CrossNetwork(2, 2, 0), new float[] {1, 2}, new Shape(1, 2), transposed, new float[] {0.5f, -1},
        new float[] {1, 0, 0, 1}, new float[] {0, 0})).containsExactly(13, 66);
  }

  /** Computes one layer with V = (1, 2)ᵀ, U = (3, -1)ᵀ: Vᵀ x = 5, U 5 = (15, -5), + b (0, 1) = (15, -4), ⊙ x + x = (16, -6). */
  @Test
  void aLowRankIsAProductOfTwoMatrices() {
    assertThat(outputs(new CrossNetwork(2, 1, 1), new float[] {1, 2}, new Shape(1, 2), new float[] {1, 2}, new float[] {3, -1},
        new float[] {0, 1})).containsExactly(16, -6);
  }

  @Test
  void aFactorizationMachineIsTheSumOverAllPairs() {
    Random random = new Random(11);
    float[] vectors = new float[3 * 5 * 4];
    for (int i = 0; i < vectors.length; i++) {
      vectors[i] = random.nextFloat() - 0.5f;
    }
    float[] logits = outputs(new FactorizationMachine(), vectors, new Shape(3, 5, 4));
    for (int example = 0; example < 3; example++) {
      double sum = 0;
      for (int i = 0; i < 5; i++) {
        for (int j = i + 1; j < 5; j++) {
          for (int k = 0; k < 4; k++) {
            sum += (double) vectors[(example * 5 + i) * 4 + k] * vectors[(example * 5 + j) * 4 + k];
          }
        }
      }
      assertThat((double) logits[example]).isCloseTo(sum, within(1e-6));
    }
  }

  @Test
  void refusesNoLayers() {
    assertThatThrownBy(() -> new CrossNetwork(2, 0, 0)).isInstanceOf(InvalidInput.class).hasMessageContaining("layers=0");
  }
}
