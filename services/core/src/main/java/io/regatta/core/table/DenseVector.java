package io.regatta.core.table;

import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.model.ParameterHash;
import io.regatta.core.optim.Optimizer;
import io.regatta.core.optim.OptimizerSpec;
import java.util.Arrays;

/**
 * One shard's part of the flat dense vector with its optimizer slots: n float32 values, and slots × n floats, slot
 * after slot. Owned by the thread of its shard; not thread-safe. Callers check lengths.
 */
public final class DenseVector {

  private final float[] values;
  private final float[] slots;
  private final Optimizer optimizer;

  /**
   * Starts from a copy of {@code initial}.
   *
   * @throws Overloaded if the slots do not fit into one array
   */
  public DenseVector(float[] initial, OptimizerSpec spec) {
    optimizer = Optimizer.of(spec);
    int n = initial.length;
    slots = new float[slotFloats(n, optimizer)];
    for (int k = 0; k < optimizer.slots(); k++) {
      Arrays.fill(slots, k * n, (k + 1) * n, optimizer.initialSlot(k));
    }
    values = initial.clone();
  }

  /** Refuses a vector whose optimizer state one array cannot hold, before anything is allocated. */
  public static void checkFits(int n, OptimizerSpec spec) {
    slotFloats(n, Optimizer.of(spec));
  }

  private static int slotFloats(int n, Optimizer optimizer) {
    long floats = (long) n * optimizer.slots();
    if (floats > Integer.MAX_VALUE - 8) {
      throw new Overloaded("a dense vector of " + n + " elements with " + optimizer.slots()
          + " optimizer slots each does not fit on one shard; use more shards");
    }
    return (int) floats;
  }

  /** Number of elements. */
  public int size() {
    return values.length;
  }

  /** One optimizer step; see {@link Optimizer#apply}. */
  public void update(float[] gradient, float lr, long updates) {
    optimizer.apply(values, 0, slots, 0, values.length, gradient, 0, values.length, lr, updates);
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
