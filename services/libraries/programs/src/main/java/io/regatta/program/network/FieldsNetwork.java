package io.regatta.program.network;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.training.ParameterStore;
import ai.djl.training.loss.Loss;
import ai.djl.util.PairList;
import io.regatta.data.Layout;
import io.regatta.program.block.BlockLoss;
import io.regatta.program.block.FieldInputs;
import io.regatta.program.block.FieldVectors;
import io.regatta.program.block.RegularizedLoss;
import io.regatta.training.config.ModelConfig;
import io.regatta.training.cut.Heter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.IntFunction;

/**
 * A block over the vectors of the slots and the dense features of an example, side by side: {@code [batch, width]}. Input:
 * the arrays of a batch; output: that of the block. Heter workers compute the block. Used on its trainer's model thread.
 */
public final class FieldsNetwork extends AbstractBlock implements BlockLoss {

  private final Layout layout;
  /** Null: the layout has no slots. */
  private final FieldVectors vectors;
  private final int width;
  private final double l2;
  private final Block upper;

  /**
   * Creates the network.
   *
   * @param layout widths of an example
   * @param block creates the block for inputs of a width
   */
  public FieldsNetwork(Layout layout, ModelConfig config, IntFunction<Block> block) {
    this.layout = layout;
    vectors = layout.slots() == 0 ? null : addChildBlock("vectors", new FieldVectors(layout, config.embedding(),
        (float) config.embeddingBound(), false, config.regularization().l2Embedding()));
    l2 = config.regularization().l2Deep();
    width = layout.slots() * config.embedding() + layout.dense();
    upper = addChildBlock("upper", Heter.remote(block.apply(width)));
  }

  /** Returns the loss with the L2 of the block's weights. */
  @Override
  public Loss over(Loss ofOutputs) {
    Map<Parameter, Double> penalties = new LinkedHashMap<>();
    RegularizedLoss.weights(upper).forEach(weight -> penalties.put(weight, l2));
    return RegularizedLoss.over(ofOutputs, penalties);
  }

  @Override
  protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training,
      PairList<String, Object> params) {
    NDArray dense = FieldInputs.dense(layout, inputs);
    if (vectors == null) {
      return upper.forward(store, new NDList(dense), training);
    }
    NDArray flat = vectors.forward(store, inputs, training).singletonOrThrow().reshape(inputs.head().getShape().get(0), -1);
    return upper.forward(store, new NDList(dense == null ? flat : flat.concat(dense, 1)), training);
  }

  @Override
  protected void initializeChildBlocks(NDManager manager, DataType dataType, Shape... inputShapes) {
    if (vectors != null) {
      vectors.initialize(manager, dataType, inputShapes);
    }
    upper.initialize(manager, dataType, new Shape(inputShapes[0].get(0), width));
  }

  @Override
  public Shape[] getOutputShapes(Shape[] inputShapes) {
    return upper.getOutputShapes(new Shape[] {new Shape(inputShapes[0].get(0), width)});
  }
}
