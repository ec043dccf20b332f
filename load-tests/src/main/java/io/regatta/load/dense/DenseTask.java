package io.regatta.load.dense;

import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.optim.OptimizerSpec;
import java.util.Arrays;
import java.util.List;

/**
 * What every kind does alike: a shard's vector of so many floats, from which SGD takes the same gradient again and
 * again. All values are small multiples of 2^-10, so that the weights after n pushes are exact in whatever order a kind
 * computes them: {@code initial - n * RATE * gradient}.
 *
 * @param elements of the vector
 * @param chunkBytes payload bytes of a chunk on the wire, in both directions
 */
public record DenseTask(int elements, int chunkBytes) {

  /** Learning rate. */
  public static final float RATE = 0x1p-10f;

  int chunkElements() {
    return chunkBytes / Float.BYTES;
  }

  /** The same for Regatta. */
  public ModelSpec model() {
    return new ModelSpec(1, List.of(new DenseVariable("w", List.of(elements))), OptimizerSpec.sgd(RATE), List.of());
  }

  /** The weights at the beginning. */
  public float[] initial() {
    float[] w = new float[elements];
    for (int i = 0; i < elements; i++) {
      w[i] = i % 13;
    }
    return w;
  }

  /** What is pushed each time. */
  public float[] gradient() {
    float[] g = new float[elements];
    for (int i = 0; i < elements; i++) {
      g[i] = i % 7 - 3;
    }
    return g;
  }

  /** Throws if these are not the weights after so many pushes. */
  public void check(float[] weights, long pushes) {
    float[] expected = initial();
    float[] g = gradient();
    for (int i = 0; i < elements; i++) {
      expected[i] -= pushes * RATE * g[i];
    }
    int wrong = Arrays.mismatch(expected, weights);
    if (wrong >= 0) {
      throw new IllegalStateException("after " + pushes + " pushes weight " + wrong + " of " + elements + " is "
          + (wrong < weights.length ? weights[wrong] : "missing") + " but must be "
          + (wrong < elements ? expected[wrong] : "no more"));
    }
  }
}
