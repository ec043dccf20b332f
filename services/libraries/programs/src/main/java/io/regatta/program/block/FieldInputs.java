package io.regatta.program.block;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import io.regatta.core.init.InitializerSpec;
import io.regatta.data.Layout;
import io.regatta.training.model.DistributedEmbedding;

/**
 * The arrays of a batch of a layout, by their meaning: dense float32 {@code [batch, dense]}, ids int64
 * {@code [batch, columns]} and the ids' values float32 {@code [batch, columns]}, of which a layout may lack any but one.
 * Stateless.
 */
public final class FieldInputs {

  private FieldInputs() {}

  /** Returns the dense features; null if the layout has none. */
  public static NDArray dense(Layout layout, NDList inputs) {
    return layout.dense() > 0 ? inputs.get(0) : null;
  }

  /** Returns the ids and, if the layout has them, their values: the input of an {@link #embedding}. */
  public static NDList ids(Layout layout, NDList inputs) {
    int at = index(layout);
    return layout.valued() ? new NDList(inputs.get(at), inputs.get(at + 1)) : new NDList(inputs.get(at));
  }

  /** Returns the index of the array of ids. */
  public static int index(Layout layout) {
    return layout.dense() > 0 ? 1 : 0;
  }

  /** Returns an embedding of a layout's ids, one vector per slot. */
  public static DistributedEmbedding embedding(Layout layout, String table, int dim, InitializerSpec initial, double l2) {
    DistributedEmbedding.Builder builder = DistributedEmbedding.builder().setTable(table).setDim(dim).optInitializer(initial)
        .optInputIndex(index(layout)).optL2(l2);
    return layout.pooled() ? builder.optSlots(layout.widths()).build() : builder.build();
  }
}
