package io.regatta.core.optim;

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
record FtrlRule(Regularization regularization, float beta, float l1, float l2, float initialAccumulator)
    implements Optimizer {

  private static final int Z = 0;
  private static final int N = 1;

  @Override
  public int slots() {
    return 2;
  }

  @Override
  public float initialSlot(int k) {
    return k == N ? initialAccumulator : 0;
  }

  @Override
  public void applyWhole(float[] w, float[][] slots, float[] g, float lr, long updates) {
    update(w, 0, slots[Z], 0, slots[N], 0, g, 0, w.length, lr);
  }

  @Override
  public void apply(float[] w, int wOff, float[] s, int sOff, int slotStride, float[] g, int gOff, int n, float lr,
      long updates) {
    update(w, wOff, s, sOff, s, sOff + slotStride, g, gOff, n, lr);
  }

  /** Updates in one loop for both methods: its branches keep it from being vectorized in any case. */
  private void update(float[] w, int wOff, float[] zs, int zOff, float[] ns, int nOff, float[] g, int gOff, int count,
      float lr) {
    if (lr == 0) {
      return;
    }
    for (int i = 0; i < count; i++) {
      float x = w[wOff + i];
      float d = Regularization.apply(g[gOff + i], x, regularization.limit(), regularization.decay());
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
