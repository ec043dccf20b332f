package io.regatta.core.collective;

import io.regatta.core.dense.NonFinite;

/**
 * A check for NaN and infinity among the elements of a sum, as they are reduced and as they arrive. They are in the
 * first-level cache at that moment. A partial sum that is not finite does not become so again. Belongs to the thread
 * that carries the call out; read after the call.
 */
final class FiniteWatch {
  private final float[] marks = NonFinite.marks(Tensor.Workspace.ELEMENTS);
  /** Number of final elements. Each element of an all-reduce becomes final at a rank once: reduced there, or copied. */
  private long last;

  /** Checks elements, which are partial sums, or final. */
  void look(float[] elements, int n) {
    NonFinite.mark(elements, n, marks);
  }

  /** Counts elements that have been checked and are final. */
  void done(int count) {
    last += count;
  }

  /** Returns true if all elements have been checked, and are finite. */
  boolean isFinite(int size) {
    return last == size && NonFinite.isClear(marks);
  }
}
