package io.regatta.program.network;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.nn.SequentialBlock;
import ai.djl.training.ParameterStore;
import ai.djl.training.loss.Loss;
import ai.djl.util.PairList;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.Layout;
import io.regatta.program.block.BlockLoss;
import io.regatta.program.block.FieldInputs;
import io.regatta.program.block.FieldVectors;
import io.regatta.program.block.RegularizedLoss;
import io.regatta.program.block.ReluLayers;
import io.regatta.training.config.ModelConfig;
import io.regatta.training.cut.Heter;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * DLRM (Naumov et al., "Deep Learning Recommendation Model for Personalization and Recommendation Systems", 2019): relu
 * layers make a vector of the dense features, as wide as those of the ids. The inner products of all pairs of vectors,
 * beside the vector of the dense features, are the input of further relu layers. Input: the arrays of a batch. Output:
 * float32 {@code [batch, outputs]}. Heter workers compute the upper layers. Used on its trainer's model thread.
 */
public final class DlrmBlock extends AbstractBlock implements BlockLoss {

  private final Layout layout;
  private final int outputs;
  private final int dim;
  private final double l2;
  private final FieldVectors vectors;
  /** Null: there are no dense features. */
  private final Block bottom;
  private final Block top;

  /**
   * Creates the network.
   *
   * @param layout widths of an example, with at least one slot
   */
  public DlrmBlock(Layout layout, ModelConfig config, int outputs) {
    if (layout.slots() + (layout.dense() > 0 ? 1 : 0) < 2 || layout.slots() == 0) {
      throw new InvalidInput("model.kind: dlrm multiplies vectors of ids: declare two features with ids, or one and a number");
    }
    this.layout = layout;
    this.outputs = outputs;
    dim = config.embedding();
    l2 = config.regularization().l2Deep();
    vectors = addChildBlock("vectors", new FieldVectors(layout, dim, (float) config.embeddingBound(), false,
        config.regularization().l2Embedding()));
    bottom = layout.dense() == 0 ? null : addChildBlock("bottom", new SequentialBlock()
        .add(ReluLayers.of(layout.dense(), config.bottom(), dim, config.gain(), 0)).add(Activation::relu));
    top = addChildBlock("top", Heter.remote(ReluLayers.of(width(), config.hidden(), outputs, config.gain(), config.dropout())));
  }

  /** Returns the loss with the L2 of both stacks of relu layers. */
  @Override
  public Loss over(Loss ofOutputs) {
    Map<Parameter, Double> penalties = new LinkedHashMap<>();
    RegularizedLoss.weights(bottom).forEach(weight -> penalties.put(weight, l2));
    RegularizedLoss.weights(top).forEach(weight -> penalties.put(weight, l2));
    return RegularizedLoss.over(ofOutputs, penalties);
  }

  private int width() {
    int fields = layout.slots() + (bottom == null ? 0 : 1);
    return fields * (fields - 1) / 2 + (bottom == null ? 0 : dim);
  }

  @Override
  protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training,
      PairList<String, Object> params) {
    NDArray fields = vectors.forward(store, inputs, training).singletonOrThrow();
    NDList parts = new NDList();
    if (bottom != null) {
      NDArray dense = bottom.forward(store, new NDList(FieldInputs.dense(layout, inputs)), training).singletonOrThrow();
      parts.add(dense);
      fields = dense.expandDims(1).concat(fields, 1);
    }
    NDArray products = fields.batchDot(fields.transpose(0, 2, 1));
    for (int row = 1; row < fields.getShape().get(1); row++) {
      parts.add(products.get(":, " + row + ", :" + row));
    }
    return top.forward(store, new NDList(NDArrays.concat(parts, 1)), training);
  }

  @Override
  protected void initializeChildBlocks(NDManager manager, DataType dataType, Shape... inputShapes) {
    long batch = inputShapes[0].get(0);
    vectors.initialize(manager, dataType, inputShapes);
    if (bottom != null) {
      bottom.initialize(manager, dataType, new Shape(batch, layout.dense()));
    }
    top.initialize(manager, dataType, new Shape(batch, width()));
  }

  @Override
  public Shape[] getOutputShapes(Shape[] inputShapes) {
    return new Shape[] {new Shape(inputShapes[0].get(0), outputs)};
  }
}
