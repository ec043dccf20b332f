package io.regatta.program.block;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Parameter;
import ai.djl.training.ParameterStore;
import ai.djl.training.initializer.NormalInitializer;
import ai.djl.util.PairList;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.init.InitializerSpec;
import io.regatta.data.Layout;
import io.regatta.training.model.DistributedEmbedding;
import java.util.List;

/**
 * A vector for each field of an example: for a slot, the sum of its ids' rows in the table {@code embedding}, each times
 * its value if the layout has values; optionally, for a dense feature, a vector of its own times the feature's value, as
 * in DeepFM (Guo et al., 2017). Input: the arrays of a batch, {@code [batch, dense]} float32, {@code [batch, columns]}
 * int64 and {@code [batch, columns]} float32, without those that the layout lacks. Output: float32
 * {@code [batch, fields, dim]}, slots first. Used on its trainer's model thread.
 */
public final class FieldVectors extends AbstractBlock {

  private final Layout layout;
  private final int dim;
  private final DistributedEmbedding embedding;
  private final Parameter denseVectors;

  /**
   * Creates the vectors.
   *
   * @param layout widths of an example
   * @param dim floats of a vector
   * @param bound ids' vectors start uniform in ±bound, those of dense features normal with this deviation
   * @param ofDense true if dense features have vectors
   * @throws InvalidInput if no field would have a vector
   */
  public FieldVectors(Layout layout, int dim, float bound, boolean ofDense) {
    this(layout, dim, bound, ofDense, 0);
  }

  /**
   * Creates the vectors.
   *
   * @param l2 of the rows of the table; see {@link #weights} for the other vectors
   */
  public FieldVectors(Layout layout, int dim, float bound, boolean ofDense, double l2) {
    this.layout = layout;
    this.dim = dim;
    boolean both = ofDense && layout.dense() > 0;
    if (layout.slots() == 0 && !both) {
      throw new InvalidInput("vectors of fields need a slot, or vectors of dense features; the layout has " + layout.dense()
          + " dense features and no slot");
    }
    embedding = layout.slots() == 0 ? null : addChildBlock("embedding",
        FieldInputs.embedding(layout, "embedding", dim, InitializerSpec.uniform(-bound, bound), l2));
    denseVectors = !both ? null : addParameter(Parameter.builder().setName("dense_vectors").setType(Parameter.Type.WEIGHT)
        .optShape(new Shape(1, layout.dense(), dim)).build());
    if (denseVectors != null) {
      denseVectors.setInitializer(new NormalInitializer(bound));
    }
  }

  /** Returns the number of vectors of an example. */
  public int fields() {
    return layout.slots() + (denseVectors == null ? 0 : layout.dense());
  }

  /** Returns the vectors of dense features, which the L2 of the table does not cover. */
  List<Parameter> weights() {
    return denseVectors == null ? List.of() : List.of(denseVectors);
  }

  @Override
  protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training,
      PairList<String, Object> params) {
    NDArray ofIds = embedding == null ? null
        : embedding.forward(store, FieldInputs.ids(layout, inputs), training).singletonOrThrow();
    if (denseVectors == null) {
      return new NDList(ofIds);
    }
    NDArray dense = FieldInputs.dense(layout, inputs);
    NDArray ofDense = dense.expandDims(2).mul(store.getValue(denseVectors, dense.getDevice(), training));
    return new NDList(ofIds == null ? ofDense : ofIds.concat(ofDense, 1));
  }

  @Override
  protected void initializeChildBlocks(NDManager manager, DataType dataType, Shape... inputShapes) {
    if (embedding != null) {
      embedding.initialize(manager, dataType, new Shape(inputShapes[0].get(0), layout.columns()));
    }
  }

  @Override
  public Shape[] getOutputShapes(Shape[] inputShapes) {
    return new Shape[] {new Shape(inputShapes[0].get(0), fields(), dim)};
  }
}
