package io.regatta.core.optim;

/** What every rule does to a gradient element first: limit it by value, then add the L2 term. */
final class GradientShaping {
  private final float clip;
  private final float decay;

  GradientShaping(OptimizerSpec spec) {
    clip = spec.clipValue() > 0 ? spec.clipValue() : Float.POSITIVE_INFINITY;
    decay = spec.weightDecay();
  }

  float shape(float g, float w) {
    return Math.max(-clip, Math.min(clip, g)) + decay * w;
  }
}
