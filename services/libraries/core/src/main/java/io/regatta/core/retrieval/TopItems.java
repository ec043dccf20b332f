package io.regatta.core.retrieval;

import io.regatta.core.error.RegattaException.InvalidInput;

/**
 * The items whose vectors have the largest inner products with a vector, by exact search over all items. Of equal
 * products the item of the smaller number comes first. Immutable; any thread.
 */
public final class TopItems {

  private final float[] vectors;
  private final int dim;
  private final int items;

  /**
   * Creates the search.
   *
   * @param vectors {@code [items × dim]}, row-major; must not change
   */
  public TopItems(float[] vectors, int dim) {
    if (dim < 1 || vectors.length % dim != 0) {
      throw new InvalidInput(vectors.length + " floats are no vectors of " + dim + " floats each");
    }
    this.vectors = vectors;
    this.dim = dim;
    items = vectors.length / dim;
  }

  /** Returns the number of items. */
  public int items() {
    return items;
  }

  /** Returns the inner product of an item's vector with {@code query[from..from + dim)}. */
  public float product(int item, float[] query, int from) {
    float sum = 0;
    for (int i = 0; i < dim; i++) {
      sum += vectors[item * dim + i] * query[from + i];
    }
    return sum;
  }

  /**
   * Returns the numbers of the {@code k} best items, or of all if there are fewer, the best first.
   *
   * @param query holds the vector from {@code from} on
   */
  public int[] best(float[] query, int from, int k) {
    int room = Math.min(k, items);
    int[] best = new int[room];
    float[] products = new float[room];
    int found = 0;
    for (int item = 0; item < items; item++) {
      float product = product(item, query, from);
      if (found < room || product > products[found - 1]) {
        int at = Math.min(found, room - 1);
        while (at > 0 && product > products[at - 1]) {
          products[at] = products[at - 1];
          best[at] = best[at - 1];
          at--;
        }
        products[at] = product;
        best[at] = item;
        found = Math.min(room, found + 1);
      }
    }
    return best;
  }
}
