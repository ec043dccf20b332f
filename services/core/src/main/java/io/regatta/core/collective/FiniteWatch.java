package io.regatta.core.collective;

import io.regatta.core.dense.NonFinite;

/**
 * Looks for NaN and infinity among the elements of a sum while they are in the first-level cache anyway, as they are reduced and as they
 * come: a partial sum that is not finite does not become so again. Belongs to the thread that carries the call out; read behind it.
 */
final class FiniteWatch {
  private final float[] marks = NonFinite.marks(Tensor.Workspace.ELEMENTS);
  /** Each element of an all-reduce becomes final at a rank once: reduced there, or copied. */
  private long last;

  /** These elements are partial sums, or final. */
  void look(float[] elements, int n) {
    NonFinite.mark(elements, n, marks);
  }

  /** So many elements that have been looked at are final. */
  void done(int count) {
    last += count;
  }

  /** Whether all elements have been looked at, and are finite. */
  boolean isFinite(int size) {
    return last == size && NonFinite.isClear(marks);
  }
}
