package io.regatta.program.network;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Activation;
import ai.djl.nn.Parameter;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.ParameterStore;
import ai.djl.training.initializer.NormalInitializer;
import ai.djl.util.PairList;
import java.util.List;

/**
 * The pooling of a history by a candidate: the sum of the history's vectors, each times a weight that small layers
 * compute from it and the candidate's vector. Source: Zhou et al., "Deep Interest Network for Click-Through Rate
 * Prediction", KDD 2018. The weights are not normalized, so their sum tells how strong an interest is. The layers see both vectors,
 * their difference and their product, and are sigmoid layers, as in the authors' code. Input: the candidate
 * {@code [batch, dim]}, the history {@code [batch, length, dim]}, and {@code [batch, length]}, 1 where the history has a
 * value and 0 elsewhere. Output: {@code [batch, dim]}. Used on its trainer's model thread.
 */
public final class AttentionPooling extends AbstractBlock {

  private static final int PARTS = 4;

  private final int dim;
  private final SequentialBlock layers = new SequentialBlock();

  /**
   * Creates the layers.
   *
   * @param dim floats of a vector
   * @param hidden widths of the sigmoid layers
   */
  public AttentionPooling(int dim, List<Integer> hidden) {
    this.dim = dim;
    int fanIn = PARTS * dim;
    for (int units : hidden) {
      layers.add(layer(units, fanIn)).add(Activation::sigmoid);
      fanIn = units;
    }
    addChildBlock("layers", layers.add(layer(1, fanIn)));
  }

  private static Linear layer(int units, int fanIn) {
    Linear layer = Linear.builder().setUnits(units).build();
    layer.setInitializer(new NormalInitializer((float) (1 / Math.sqrt(fanIn))), Parameter.Type.WEIGHT);
    return layer;
  }

  @Override
  protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training,
      PairList<String, Object> params) {
    NDArray history = inputs.get(1);
    long batch = history.getShape().get(0);
    long length = history.getShape().get(1);
    NDArray candidate = inputs.get(0).expandDims(1).add(history.zerosLike());
    NDArray seen = NDArrays.concat(new NDList(candidate, history, candidate.sub(history), candidate.mul(history)), 2)
        .reshape(batch * length, (long) PARTS * dim);
    NDArray weights = layers.forward(store, new NDList(seen), training).singletonOrThrow().reshape(batch, length)
        .mul(inputs.get(2)).expandDims(2);
    return new NDList(history.mul(weights).sum(new int[] {1}));
  }

  @Override
  protected void initializeChildBlocks(NDManager manager, DataType dataType, Shape... inputShapes) {
    layers.initialize(manager, dataType, new Shape(1, (long) PARTS * dim));
  }

  @Override
  public Shape[] getOutputShapes(Shape[] inputShapes) {
    return new Shape[] {inputShapes[0]};
  }
}
