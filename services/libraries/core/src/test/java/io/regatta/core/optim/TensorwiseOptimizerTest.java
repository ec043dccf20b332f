package io.regatta.core.optim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** LAMB and LARS against the algorithms of their papers, written down once more on whole tensors in double. */
class TensorwiseOptimizerTest {

  private static final float RATE = 0.02f;
  private static final float DECAY = 0.01f;
  private static final int STEPS = 10;
  private static final int MATRIX = 2;

  /** Returns the new weights of one step; a whole tensor in double. */
  private interface Paper {
    void step(double[] w, double[][] slots, double[] g, int t);
  }

  private static Paper lamb(double beta1, double beta2, double epsilon, double decay, double most, boolean adapt) {
    return (w, slots, g, t) -> {
      double[] u = new double[w.length];
      double weights = 0;
      double updates = 0;
      for (int i = 0; i < w.length; i++) {
        slots[0][i] = beta1 * slots[0][i] + (1 - beta1) * g[i];
        slots[1][i] = beta2 * slots[1][i] + (1 - beta2) * g[i] * g[i];
        double m = slots[0][i] / (1 - Math.pow(beta1, t));
        double v = slots[1][i] / (1 - Math.pow(beta2, t));
        u[i] = m / (Math.sqrt(v) + epsilon) + decay * w[i];
        weights += w[i] * w[i];
        updates += u[i] * u[i];
      }
      double ratio = adapt && weights > 0 && updates > 0 ? Math.min(most, Math.sqrt(weights) / Math.sqrt(updates)) : 1;
      for (int i = 0; i < w.length; i++) {
        w[i] -= RATE * ratio * u[i];
      }
    };
  }

  private static Paper lars(double momentum, double coefficient, double epsilon, double decay, double most, boolean adapt) {
    return (w, slots, g, t) -> {
      double weights = 0;
      double gradients = 0;
      for (int i = 0; i < w.length; i++) {
        weights += w[i] * w[i];
        gradients += g[i] * g[i];
      }
      double norm = Math.sqrt(weights);
      double ratio = adapt && weights > 0 && gradients > 0
          ? Math.min(most, coefficient * norm / (Math.sqrt(gradients) + decay * norm + epsilon)) : 1;
      for (int i = 0; i < w.length; i++) {
        slots[0][i] = momentum * slots[0][i] + RATE * ratio * (g[i] + decay * w[i]);
        w[i] -= slots[0][i];
      }
    };
  }

  private static float[] gaussian(Random random, int n) {
    float[] out = new float[n];
    for (int i = 0; i < n; i++) {
      out[i] = (float) random.nextGaussian();
    }
    return out;
  }

  private static double[] wide(float[] narrow) {
    double[] out = new double[narrow.length];
    for (int i = 0; i < out.length; i++) {
      out[i] = narrow[i];
    }
    return out;
  }

  /** Trains a tensor that is visited in two pieces, and returns its weights. */
  private static float[] train(TensorwiseOptimizer optimizer, float decay, int dimensions, float[] start, long seed, int cut) {
    float[] w = start.clone();
    float[][] slots = new float[optimizer.slots().size()][w.length];
    Random random = new Random(seed);
    for (int t = 1; t <= STEPS; t++) {
      float[] g = gaussian(random, w.length);
      UpdateStep step = new UpdateStep(RATE, t, Float.POSITIVE_INFINITY, decay);
      TensorNorms norms = new TensorNorms(dimensions);
      optimizer.measure(w, slots, g, 0, cut, step, norms);
      optimizer.measure(w, slots, g, cut, w.length, step, norms);
      optimizer.apply(w, slots, g, 0, cut, step, norms);
      optimizer.apply(w, slots, g, cut, w.length, step, norms);
    }
    return w;
  }

  private static void assertIsPapers(Paper paper, TensorwiseOptimizer optimizer, float decay, int dimensions, float[] start) {
    double[] w = wide(start);
    double[][] slots = new double[optimizer.slots().size()][w.length];
    Random random = new Random(5);
    for (int t = 1; t <= STEPS; t++) {
      paper.step(w, slots, wide(gaussian(random, w.length)), t);
    }
    float[] ours = train(optimizer, decay, dimensions, start, 5, w.length / 3);
    for (int i = 0; i < w.length; i++) {
      assertThat((double) ours[i]).as("element %d", i).isCloseTo(w[i], within(1e-6 * Math.max(1, Math.abs(w[i]))));
    }
    assertThat(ours).isNotEqualTo(start);
  }

  @Test
  void lambIsAlgorithm2OfItsPaper() {
    float[] start = gaussian(new Random(1), 300);
    assertIsPapers(lamb(0.9f, 0.999f, 1e-6f, 0, Double.MAX_VALUE, true), new Lamb(0.9f, 0.999f, 1e-6f, 0, true), 0, MATRIX, start);
    assertIsPapers(lamb(0.8f, 0.99f, 1e-3f, DECAY, Double.MAX_VALUE, true), new Lamb(0.8f, 0.99f, 1e-3f, 0, true), DECAY, MATRIX, start);
    assertIsPapers(lamb(0.8f, 0.99f, 1e-3f, DECAY, Double.MAX_VALUE, true), new Lamb(0.8f, 0.99f, 1e-3f, 0, false), DECAY, 1, start);
  }

  @Test
  void larsIsAlgorithm1OfItsPaper() {
    float[] start = gaussian(new Random(1), 300);
    assertIsPapers(lars(0.9f, 0.001f, 0, 0, Double.MAX_VALUE, true), new Lars(0.9f, 0.001f, 0, 0, true), 0, MATRIX, start);
    assertIsPapers(lars(0.5f, 0.1f, 0.3f, DECAY, Double.MAX_VALUE, true), new Lars(0.5f, 0.1f, 0.3f, 0, true), DECAY, MATRIX, start);
    assertIsPapers(lars(0.5f, 0.1f, 0.3f, DECAY, Double.MAX_VALUE, true), new Lars(0.5f, 0.1f, 0.3f, 0, false), DECAY, 1, start);
  }

  @Test
  void theTrustRatioIsLimited() {
    float[] start = gaussian(new Random(1), 300);
    assertIsPapers(lamb(0.9f, 0.999f, 1e-6f, DECAY, 0.5f, true), new Lamb(0.9f, 0.999f, 1e-6f, 0.5f, true), DECAY, MATRIX, start);
    assertIsPapers(lars(0.9f, 1, 0, DECAY, 0.25f, true), new Lars(0.9f, 1, 0, 0.25f, true), DECAY, MATRIX, start);
  }

  /** Weights of zeros, as a layer can start with, would stay zeros for ever if their norm decided. */
  @Test
  void aTensorOfZerosMovesAsIfItsRatioWereOne() {
    float[] zeros = new float[40];
    assertIsPapers(lamb(0.9f, 0.999f, 1e-6f, DECAY, Double.MAX_VALUE, true), new Lamb(0.9f, 0.999f, 1e-6f, 0, true), DECAY, MATRIX, zeros);
    assertIsPapers(lars(0.9f, 0.001f, 0, DECAY, Double.MAX_VALUE, true), new Lars(0.9f, 0.001f, 0, 0, true), DECAY, MATRIX, zeros);
  }

  @Test
  void vectorsAreExcludedFromDecayAndRatio() {
    float[] start = gaussian(new Random(1), 40);
    for (int dimensions = 0; dimensions < MATRIX; dimensions++) {
      assertIsPapers(lamb(0.9f, 0.999f, 1e-6f, 0, 1, false), new Lamb(0.9f, 0.999f, 1e-6f, 0, true), DECAY, dimensions, start);
      assertIsPapers(lars(0.9f, 0.001f, 0, 0, 1, false), new Lars(0.9f, 0.001f, 0, 0, true), DECAY, dimensions, start);
    }
  }

  @Test
  void gradientsAreClippedBeforeTheyAreMeasured() {
    for (OptimizerType type : OptimizerRegistry.all()) {
      if (type.defaults() instanceof TensorwiseOptimizer optimizer) {
        float[][] ends = new float[2][];
        for (int k = 0; k < 2; k++) {
          ends[k] = new float[] {1, 2, 3};
          float[][] slots = new float[optimizer.slots().size()][3];
          float[] g = k == 0 ? new float[] {-9, 0.25f, 7} : new float[] {-0.5f, 0.25f, 0.5f};
          UpdateStep step = new UpdateStep(RATE, 1, k == 0 ? 0.5f : Float.POSITIVE_INFINITY, DECAY);
          TensorNorms norms = new TensorNorms(MATRIX);
          optimizer.measure(ends[k], slots, g, 0, 3, step, norms);
          optimizer.apply(ends[k], slots, g, 0, 3, step, norms);
        }
        assertThat(ends[0]).as(type.name()).containsExactly(ends[1]).isNotEqualTo(new float[] {1, 2, 3});
      }
    }
  }

  /** So a tensor's bits do not depend on its place in a shard's vector. */
  @Property(tries = 100)
  void whereATensorIsCutDoesNotChangeABit(@ForAll @IntRange(min = 1, max = 200) int n, @ForAll @IntRange(max = 200) int cut,
      @ForAll long seed) {
    float[] start = gaussian(new Random(seed), n);
    for (OptimizerType type : OptimizerRegistry.all()) {
      if (type.defaults() instanceof TensorwiseOptimizer optimizer) {
        assertThat(train(optimizer, DECAY, MATRIX, start, seed, Math.min(n, cut)))
            .containsExactly(train(optimizer, DECAY, MATRIX, start, seed, 0));
      }
    }
  }
}
