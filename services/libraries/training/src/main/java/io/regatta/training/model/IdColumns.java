package io.regatta.training.model;

import ai.djl.ndarray.NDArray;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.reduce.DistinctIds;

/** The selection of columns of id arrays {@code [batch, columns]} for {@link DistributedEmbedding}. Stateless. */
final class IdColumns {

  private IdColumns() {}

  /** Returns the distinct ids of these columns of an array {@code [batch, columns]}, or of all if null. */
  static DistinctIds distinct(NDArray ids, int[] columns) {
    long[] all = longs(ids);
    if (columns == null) {
      return DistinctIds.of(all);
    }
    int[] from = places(ids, all.length, columns);
    long[] some = new long[from.length];
    for (int i = 0; i < some.length; i++) {
      some[i] = all[from[i]];
    }
    return DistinctIds.of(some);
  }

  /** Returns the indices of these columns in the flat array, example after example. */
  private static int[] places(NDArray ids, int elements, int[] columns) {
    int batch = (int) ids.getShape().get(0);
    int width = batch == 0 ? 0 : elements / batch;
    int[] places = new int[batch * columns.length];
    for (int i = 0; i < places.length; i++) {
      int column = columns[i % columns.length];
      if (column >= width) {
        throw new InvalidInput("DistributedEmbedding takes column " + column + " of ids that have " + width
            + " columns, counted from 0; correct optColumns");
      }
      places[i] = i / columns.length * width + column;
    }
    return places;
  }

  /** Returns the ids of an int64 or int32 array, row-major. */
  private static long[] longs(NDArray ids) {
    return switch (ids.getDataType()) {
      case INT64 -> ids.toLongArray();
      case INT32 -> {
        int[] narrow = ids.toIntArray();
        long[] wide = new long[narrow.length];
        for (int i = 0; i < narrow.length; i++) {
          wide[i] = narrow[i];
        }
        yield wide;
      }
      default -> throw new InvalidInput("DistributedEmbedding takes ids as int64 or int32, not "
          + ids.getDataType() + "; a float32 cannot hold ids above 2^24 exactly");
    };
  }

  /** Returns the elements of an array of the ids' shape that are in these columns, row-major; all if null. */
  static float[] some(NDArray ids, float[] all, int[] columns) {
    if (columns == null) {
      return all;
    }
    int[] from = places(ids, all.length, columns);
    float[] some = new float[from.length];
    for (int i = 0; i < some.length; i++) {
      some[i] = all[from[i]];
    }
    return some;
  }
}
