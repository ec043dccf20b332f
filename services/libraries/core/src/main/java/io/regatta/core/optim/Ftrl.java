package io.regatta.core.optim;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;

/**
 * FTRL-Proximal (McMahan et al., "Ad click prediction: a view from the trenches", 2013, algorithm 1), per coordinate.
 * Stateless, any thread.
 *
 * <ul>
 * <li>{@code σ = (√(n+g²) - √n) / α}; {@code z += g - σ·w}; {@code n += g²}.
 * <li>Weight: {@code w = 0} where |z| ≤ λ₁, else {@code -(z - sgn(z)·λ₁) / ((β+√n)/α + λ₂)}.
 * </ul>
 *
 * <p>Two slots: z and n, n from {@code initialAccumulator}. The learning rate α should not change: z remembers sums
 * that were taken at it. At a rate of 0 nothing changes. With λ₁ = 0 the rule is w -= g / ((β+√n)/α + λ₂), Adagrad's.
 *
 * <p>Once updated, a weight is a function of z and n alone. A weight that an initializer or a file has set is not: it
 * is recognised by z = 0 beside a weight other than 0 (z = 0 gives 0). Its z is first set to the value that gives that
 * weight, so that training resumes from it.
 */
@UpdateRule(formula = "σ = (√(n + g²) − √n)/η; z ← z + g − σ·w; n ← n + g²; w ← 0 where |z| ≤ λ₁, else −(z − sgn(z)·λ₁) / ((β + √n)/η + λ₂)",
    source = "FTRL-Proximal: McMahan et al. 2013, algorithm 1")
public record Ftrl(
    @Hyperparameter(value = "1", doc = "β, added to √n; the learning rate is the paper's α.")
    float beta,
    @Hyperparameter(value = "0", doc = "λ₁, weight of the L1 norm, which makes weights exactly 0.")
    float l1,
    @Hyperparameter(value = "0", doc = "λ₂, weight of the squared L2 norm as in the paper: half of what TensorFlow and Paddle call l2.")
    float l2,
    @Hyperparameter(value = "0", doc = "Value that n starts with.")
    float initialAccumulator)
    implements ElementwiseOptimizer {

  private static final int Z = 0;
  private static final int N = 1;

  /** Refuses hyperparameters that would divide by 0. */
  public Ftrl {
    if (beta + initialAccumulator + l2 == 0) {
      throw new InvalidInput("optimizer ftrl: beta is " + beta
          + ", it must not be 0 where initial_accumulator and l2 are: they divide");
    }
  }

  @Override
  public List<Slot> slots() {
    return List.of(new Slot("z", 0), new Slot("n", initialAccumulator));
  }

  @Override
  public void applyWhole(float[] w, float[][] slots, float[] g, UpdateStep step) {
    update(w, 0, slots[Z], 0, slots[N], 0, g, 0, w.length, step);
  }

  @Override
  public void apply(float[] w, int wOff, float[] s, int sOff, int slotStride, float[] g, int gOff, int n,
      UpdateStep step) {
    update(w, wOff, s, sOff, s, sOff + slotStride, g, gOff, n, step);
  }

  /** Updates in one loop for both methods: its branches keep it from being vectorized in any case. */
  private void update(float[] w, int wOff, float[] zs, int zOff, float[] ns, int nOff, float[] g, int gOff, int count,
      UpdateStep step) {
    float lr = step.rate();
    float limit = step.limit();
    float decay = step.decay();
    if (lr == 0) {
      return;
    }
    for (int i = 0; i < count; i++) {
      float x = w[wOff + i];
      float d = UpdateStep.regularized(g[gOff + i], x, limit, decay);
      float before = ns[nOff + i];
      float after = before + d * d;
      float rootBefore = (float) Math.sqrt(before);
      float rootAfter = (float) Math.sqrt(after);
      float z = zs[zOff + i];
      if (z == 0 && x != 0) {
        z = -(x * divisor(rootBefore, lr) + Math.copySign(l1, x));
      }
      z += d - (rootAfter - rootBefore) / lr * x;
      zs[zOff + i] = z;
      ns[nOff + i] = after;
      w[wOff + i] = (0 - Math.copySign(Math.max(Math.abs(z) - l1, 0), z)) / divisor(rootAfter, lr); // 0 - 0 is not -0
    }
  }

  private float divisor(float rootOfN, float lr) {
    return (beta + rootOfN) / lr + l2;
  }
}
