package io.regatta.program.network;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Block;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import io.regatta.program.block.ReluLayers;
import io.regatta.training.config.ModelConfig;

/**
 * Clicks and conversions after clicks (ESMM; Ma et al., "Entire Space Multi-Task Model: An Effective Approach for
 * Estimating Post-Click Conversion Rate", SIGIR 2018). One tower of relu layers estimates the rate of clicks, another that
 * of conversions after a click. The rate of a click with conversion is their product, which all rows train. Input:
 * {@code [batch, width]}; output: {@code [batch, 2]}, the log odds of a click, and of a click with conversion. Used on its
 * trainer's model thread.
 */
public final class ConversionLogits extends AbstractBlock {

  private final Block clicks;
  private final Block conversions;

  /**
   * Creates the towers.
   *
   * @param width floats of the input
   */
  public ConversionLogits(int width, ModelConfig config) {
    clicks = addChildBlock("clicks", ReluLayers.of(width, config.hidden(), 1, config.gain(), config.dropout()));
    conversions = addChildBlock("conversions", ReluLayers.of(width, config.hidden(), 1, config.gain(), config.dropout()));
  }

  @Override
  protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training,
      PairList<String, Object> params) {
    NDArray a = clicks.forward(store, inputs, training).singletonOrThrow();
    NDArray b = conversions.forward(store, inputs, training).singletonOrThrow();
    return new NDList(NDArrays.concat(new NDList(a, both(a, b)), 1));
  }

  /**
   * Returns the log odds of σ(a)·σ(b), {@code −log(e^−a + e^−b + e^(−a−b))}, without overflow: the greatest term is taken
   * out of the sum.
   */
  static NDArray both(NDArray a, NDArray b) {
    NDArray terms = NDArrays.concat(new NDList(a.neg(), b.neg(), a.add(b).neg()), 1);
    NDArray most = terms.max(new int[] {1}, true).stopGradient();
    return terms.sub(most).exp().sum(new int[] {1}, true).log().add(most).neg();
  }

  @Override
  protected void initializeChildBlocks(NDManager manager, DataType dataType, Shape... inputShapes) {
    clicks.initialize(manager, dataType, inputShapes[0]);
    conversions.initialize(manager, dataType, inputShapes[0]);
  }

  @Override
  public Shape[] getOutputShapes(Shape[] inputShapes) {
    return new Shape[] {new Shape(inputShapes[0].get(0), 2)};
  }
}
