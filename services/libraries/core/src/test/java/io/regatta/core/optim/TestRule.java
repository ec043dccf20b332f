package io.regatta.core.optim;

import java.util.Arrays;
import java.util.List;
import java.util.Map;

/** An element-wise optimizer of a specification, called with its rate and count of updates. */
public record TestRule(OptimizerSpec spec) {

  /** Returns the rule of this name with some hyperparameters. */
  public static TestRule of(String name, Map<String, ?> hyperparameters, float weightDecay, float clipValue) {
    return new TestRule(new OptimizerSpec(OptimizerRegistry.named(name).of(hyperparameters), LearningRate.constant(1),
        weightDecay, clipValue, 0));
  }

  public static TestRule of(OptimizerSpec spec) {
    return new TestRule(spec);
  }

  /** Returns the names of all element-wise optimizers. */
  public static List<String> names() {
    return OptimizerRegistry.all().stream().filter(t -> t.defaults() instanceof ElementwiseOptimizer)
        .map(OptimizerType::name).toList();
  }

  private ElementwiseOptimizer rule() {
    return (ElementwiseOptimizer) spec.optimizer();
  }

  /** Returns fresh slots for {@code n} weights. */
  public float[][] slots(int n) {
    float[][] slots = new float[slots()][n];
    for (int k = 0; k < slots.length; k++) {
      Arrays.fill(slots[k], initialSlot(k));
    }
    return slots;
  }

  public int slots() {
    return rule().slots().size();
  }

  public float initialSlot(int k) {
    return rule().slots().get(k).initial();
  }

  public void applyWhole(float[] w, float[][] slots, float[] g, float rate, long updates) {
    rule().applyWhole(w, slots, g, spec.step(rate, updates));
  }

  public void apply(float[] w, int wOff, float[] s, int sOff, int slotStride, float[] g, int gOff, int n, float rate,
      long updates) {
    rule().apply(w, wOff, s, sOff, slotStride, g, gOff, n, spec.step(rate, updates));
  }
}
