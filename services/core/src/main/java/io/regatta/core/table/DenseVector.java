package io.regatta.core.table;

import io.regatta.core.model.ParameterHash;
import io.regatta.core.optim.Optimizer;
import io.regatta.core.optim.OptimizerSpec;
import java.util.Arrays;

/**
 * One shard's part of the flat dense vector with its optimizer slots: n float32 values, and n
 * floats per slot. Owned by the thread of its shard; not thread-safe. Callers check lengths.
 */
public final class DenseVector {

  private final float[] values;
  private final float[][] slots;
  private final Optimizer optimizer;

  /** Starts from a copy of {@code initial}. */
  public DenseVector(float[] initial, OptimizerSpec spec) {
    optimizer = Optimizer.of(spec);
    slots = new float[optimizer.slots()][initial.length];
    for (int k = 0; k < slots.length; k++) {
      Arrays.fill(slots[k], optimizer.initialSlot(k));
    }
    values = initial.clone();
  }

  /** Number of elements. */
  public int size() {
    return values.length;
  }

  /** One optimizer step; see {@link Optimizer#applyWhole}. */
  public void update(float[] gradient, float lr, long updates) {
    optimizer.applyWhole(values, slots, gradient, lr, updates);
  }

  /** Adds a delta to the values; the optimizer takes no part (geo). */
  public void add(float[] delta) {
    for (int i = 0; i < values.length; i++) {
      values[i] += delta[i];
    }
  }

  /** A copy of the values. */
  public float[] copy() {
    return values.clone();
  }

  /** Hash of the elements {@code [off .. off+n)}, which are those from {@code variableOffset} on of a variable. */
  public long digest(String variable, int variableOffset, int off, int n) {
    return ParameterHash.dense(variable, variableOffset, values, off, n);
  }
}
