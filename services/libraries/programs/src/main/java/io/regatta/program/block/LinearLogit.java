package io.regatta.program.block;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Parameter;
import ai.djl.training.ParameterStore;
import ai.djl.training.initializer.Initializer;
import ai.djl.util.PairList;
import io.regatta.core.init.InitializerSpec;
import io.regatta.data.Layout;
import io.regatta.training.model.DistributedEmbedding;
import java.util.List;

/**
 * Linear functions of an example: for each output a weight per id in the table {@code weights} (its dimension is the
 * number of outputs), times the id's value if the layout has values, a weight per dense feature, and a bias, all
 * initially 0. Input: the arrays of a batch,
 * {@code [batch, dense]} float32, {@code [batch, columns]} int64 and {@code [batch, columns]} float32, without those that
 * the layout lacks. Output: logits float32 {@code [batch, outputs]}. Used on its trainer's model thread.
 */
public final class LinearLogit extends AbstractBlock {

  private final Layout layout;
  private final int outputs;
  private final DistributedEmbedding idWeights;
  private final Parameter denseWeights;
  private final Parameter bias;

  /** Creates one linear function. */
  public LinearLogit(Layout layout) {
    this(layout, 1, 0);
  }

  /**
   * Creates linear functions.
   *
   * @param layout widths of an example
   * @param l2 of the rows of the table; see {@link #weights} for the other weights
   */
  public LinearLogit(Layout layout, int outputs, double l2) {
    this.layout = layout;
    this.outputs = outputs;
    idWeights = layout.slots() == 0 ? null
        : addChildBlock("id_weights", FieldInputs.embedding(layout, "weights", outputs, InitializerSpec.zeros(), l2));
    denseWeights = layout.dense() == 0 ? null : addParameter(Parameter.builder().setName("dense_weights")
        .setType(Parameter.Type.WEIGHT).optShape(new Shape(layout.dense(), outputs)).optInitializer(Initializer.ZEROS).build());
    bias = addParameter(Parameter.builder().setName("bias").setType(Parameter.Type.BIAS).optShape(new Shape(outputs))
        .optInitializer(Initializer.ZEROS).build());
  }

  /** Returns the weights of dense features, which the L2 of the table does not cover. */
  List<Parameter> weights() {
    return denseWeights == null ? List.of() : List.of(denseWeights);
  }

  @Override
  protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training,
      PairList<String, Object> params) {
    NDArray logits = null;
    if (denseWeights != null) {
      NDArray dense = FieldInputs.dense(layout, inputs);
      logits = dense.dot(store.getValue(denseWeights, dense.getDevice(), training));
    }
    if (idWeights != null) {
      NDArray ofIds = idWeights.forward(store, FieldInputs.ids(layout, inputs), training).singletonOrThrow()
          .sum(new int[] {1});
      logits = logits == null ? ofIds : logits.add(ofIds);
    }
    return new NDList(logits.add(store.getValue(bias, logits.getDevice(), training)));
  }

  @Override
  protected void initializeChildBlocks(NDManager manager, DataType dataType, Shape... inputShapes) {
    if (idWeights != null) {
      idWeights.initialize(manager, dataType, new Shape(inputShapes[0].get(0), layout.columns()));
    }
  }

  @Override
  public Shape[] getOutputShapes(Shape[] inputShapes) {
    return new Shape[] {new Shape(inputShapes[0].get(0), outputs)};
  }
}
