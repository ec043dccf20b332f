package io.regatta.core.collective.compress;

import java.util.Arrays;

/**
 * One rank's side of deep gradient compression (Lin et al., 2018): what of its gradients it has not sent yet, and its
 * momentum. With gradient g, momentum factor m, velocity u and residual v, for each element:
 *
 * <pre>
 * u = m u + g;  v = v + u              momentum correction (with Nesterov's form: v = v + g + m u)
 * sent = v;  v = 0;  u = 0             for the k largest |v|: error feedback, and momentum factor masking
 * </pre>
 *
 * <p>Who gets the ranks' sums makes plain SGD steps with them: momentum is in them. A gradient that is sent whole sends
 * v for all elements and keeps u, so that the sum is that of momentum SGD. Sent and residual are together what has been
 * accumulated: nothing is lost, it comes later. Works on one flat vector, on any part of it at a time. Belongs to one
 * thread.
 */
public final class GradientCompressor {

  private final float momentum;
  private final boolean nesterov;
  /** Null without momentum: it would be the gradient. */
  private final float[] velocity;
  private final float[] residual;
  private final TopK topK = new TopK();
  private int[] selected = new int[0];

  /** Nothing has been accumulated. */
  public GradientCompressor(int numel, float momentum, boolean nesterov) {
    this.momentum = momentum;
    this.nesterov = nesterov;
    velocity = momentum == 0 ? null : new float[numel];
    residual = new float[numel];
  }

  /** Accumulates the gradient of the elements {@code [at .. at + n)}, finite ones, which is {@code g[0 .. n)}. */
  public void accumulate(float[] g, int at, int n) {
    float m = momentum;
    float[] v = residual;
    if (velocity == null) {
      for (int i = 0; i < n; i++) {
        v[at + i] += g[i];
      }
      return;
    }
    float[] u = velocity;
    for (int i = 0; i < n; i++) {
      float now = m * u[at + i] + g[i];
      u[at + i] = now;
      v[at + i] += nesterov ? g[i] + m * now : now;
    }
  }

  /** Takes out all that has been accumulated of {@code [at .. at + n)}; the velocity stays. */
  public void takeWhole(int at, int n, float[] out) {
    System.arraycopy(residual, at, out, 0, n);
    Arrays.fill(residual, at, at + n, 0);
  }

  /**
   * Takes the k largest of {@code [at .. at + n)} out, with their velocity.
   *
   * @param pairs gets them from {@code first} on, by rising index, see {@link SparsePairs}
   */
  public void takeLargest(int at, int n, int k, long[] pairs, int first) {
    if (selected.length < k) {
      selected = new int[k];
    }
    topK.select(residual, at, n, k, selected, 0);
    for (int i = 0; i < k; i++) {
      int index = selected[i];
      pairs[first + i] = SparsePairs.pair(index, residual[index]);
      residual[index] = 0;
      if (velocity != null) {
        velocity[index] = 0;
      }
    }
  }

  /**
   * The step in which these were sent has been dropped: they are sent later. Values that are not finite were put there
   * to have it dropped, and are passed over.
   */
  public void giveBack(long[] pairs, int from, int to) {
    for (int i = from; i < to; i++) {
      float value = SparsePairs.value(pairs[i]);
      residual[SparsePairs.index(pairs[i])] += Float.isFinite(value) ? value : 0;
    }
  }

  /** The residual of each element. Live: written into, it is what is sent from then on. */
  public float[] residual() {
    return residual;
  }

  /** The velocity of each element, live; null without momentum. */
  public float[] velocity() {
    return velocity;
  }

  /** What has not been sent of one element. */
  float residual(int index) {
    return residual[index];
  }
}
