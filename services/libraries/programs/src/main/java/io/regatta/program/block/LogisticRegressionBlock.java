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

/**
 * Logistic regression on sparse features: a weight per id in a table of dimension 1, initially 0, times the id's value,
 * and a bias. Input: int64 ids {@code [batch, columns]} and, if the layout has them, their float32 values; output:
 * logits {@code [batch, 1]}. Used on its trainer's model thread.
 */
public final class LogisticRegressionBlock extends AbstractBlock {

  private final DistributedEmbedding weights;
  private final Parameter bias;
  private final int slots;

  /** @param layout without dense features */
  public LogisticRegressionBlock(Layout layout) {
    slots = layout.slots();
    weights = addChildBlock("weights", DistributedEmbedding.builder().setTable("weights").setDim(1)
        .optInitializer(InitializerSpec.zeros()).optInputIndex(0).optSlots(layout.widths()).build());
    bias = addParameter(Parameter.builder().setName("bias").setType(Parameter.Type.BIAS)
        .optInitializer(Initializer.ZEROS).build());
  }

  @Override
  protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training,
      PairList<String, Object> params) {
    NDArray sums = weights.forward(store, inputs, training).singletonOrThrow();
    NDArray logits = sums.reshape(sums.getShape().get(0), slots).sum(new int[] {1}, true);
    return new NDList(logits.add(store.getValue(bias, inputs.head().getDevice(), training)));
  }

  @Override
  protected void prepare(Shape[] inputShapes) {
    bias.setShape(new Shape(1));
  }

  @Override
  protected void initializeChildBlocks(NDManager manager, DataType dataType, Shape... inputShapes) {
    weights.initialize(manager, dataType, inputShapes);
  }

  @Override
  public Shape[] getOutputShapes(Shape[] inputShapes) {
    return new Shape[] {new Shape(inputShapes[0].get(0), 1)};
  }
}
