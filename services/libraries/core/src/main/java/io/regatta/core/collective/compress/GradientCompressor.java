package io.regatta.core.collective.compress;

import java.util.Arrays;

/**
 * One rank's side of deep gradient compression (Lin et al., 2018): the part of its gradients that is not sent yet, and
 * its momentum. It works on one flat vector, on any part of it at a time. Belongs to one thread.
 *
 * <p>Let g be the gradient of an element, m the momentum factor, u the velocity and v the residual. Accumulation
 * corrects for momentum; with Nesterov's form it adds g + m u to v instead of u. The k largest |v| are then sent, with
 * error feedback and momentum factor masking. In formulas:
 *
 * <pre>
 * u = m u + g;  v = v + u              each element
 * sent = v;  v = 0;  u = 0             the k largest |v|.
 * </pre>
 *
 * <p>The receiver of the ranks' sums makes plain SGD steps with them: momentum is included. A gradient that is sent
 * whole sends v for all elements and keeps u, so that the sum is that of momentum SGD. Sent and residual values
 * together are all that has been accumulated: nothing is lost, it is only sent later.
 */
public final class GradientCompressor {

  private final float momentum;
  private final boolean nesterov;
  /** Null without momentum: it would be the gradient. */
  private final float[] velocity;
  private final float[] residual;
  private final TopK topK = new TopK();
  private int[] selected = new int[0];

  /** Creates a compressor that has accumulated nothing. */
  public GradientCompressor(int numel, float momentum, boolean nesterov) {
    this.momentum = momentum;
    this.nesterov = nesterov;
    velocity = momentum == 0 ? null : new float[numel];
    residual = new float[numel];
  }

  /**
   * Accumulates the gradient of the elements {@code [at .. at + n)}, which must be finite and is in {@code g[0 .. n)}.
   */
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

  /** Removes all that has been accumulated of {@code [at .. at + n)} into {@code out}; the velocity stays. */
  public void takeWhole(int at, int n, float[] out) {
    System.arraycopy(residual, at, out, 0, n);
    Arrays.fill(residual, at, at + n, 0);
  }

  /**
   * Removes the k largest elements of {@code [at .. at + n)}, with their velocity.
   *
   * @param pairs receives them, starting at {@code first}, by rising index, see {@link SparsePairs}
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
   * Takes back elements whose step has been dropped, so that they are sent later. Values that are not finite were put
   * there to have the step dropped, and are ignored.
   */
  public void giveBack(long[] pairs, int from, int to) {
    for (int i = from; i < to; i++) {
      float value = SparsePairs.value(pairs[i]);
      residual[SparsePairs.index(pairs[i])] += Float.isFinite(value) ? value : 0;
    }
  }

  /** Returns the residual of each element. It is live: values written into it are sent from then on. */
  public float[] residual() {
    return residual;
  }

  /** Returns the velocity of each element, live; null without momentum. */
  public float[] velocity() {
    return velocity;
  }

  /** Returns the part of one element that has not been sent. */
  float residual(int index) {
    return residual[index];
  }
}
