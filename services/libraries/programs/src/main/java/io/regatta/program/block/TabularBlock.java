package io.regatta.program.block;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.nn.core.Linear;
import ai.djl.nn.norm.Dropout;
import ai.djl.training.ParameterStore;
import ai.djl.training.initializer.NormalInitializer;
import ai.djl.training.loss.Loss;
import ai.djl.util.PairList;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.Layout;
import io.regatta.training.config.ModelConfig;
import io.regatta.training.config.ModelConfig.Part;
import io.regatta.training.config.regularization.RegularizationConfig;
import io.regatta.training.cut.Heter;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * A network over declared features, as the sum of the logits of its parts: {@link LinearLogit}, the pairs of a
 * {@link FactorizationMachine}, a {@link CrossNetwork} with a linear layer, and {@link ReluLayers}. They share the
 * vectors of the ids. Logistic regression is the linear part alone; a factorization machine (Rendle, 2010) adds pairs;
 * wide and deep (Cheng et al., 2016) is linear and relu layers; DeepFM (Guo et al., 2017) all three; DCN-v2 in its parallel
 * form (Wang et al., 2021) crosses and relu layers. If the network has pairs, a dense feature is a field with a vector;
 * otherwise relu layers and crosses see the dense features themselves behind the vectors of the slots.
 *
 * <p>Input: the arrays of a batch, {@code [batch, dense]} float32, {@code [batch, columns]} int64 and
 * {@code [batch, columns]} float32, without those that the layout lacks. Output: logits float32 {@code [batch, outputs]}. Heter
 * workers compute the relu layers. Its loss has L2 by part. Used on its trainer's model thread.
 */
public final class TabularBlock extends AbstractBlock implements BlockLoss {

  private final Layout layout;
  private final ModelConfig config;
  private final int outputs;
  /** Width of the input of crosses and relu layers. */
  private final int width;
  /** Null: the network has no such part. */
  private final LinearLogit linear;
  private final FieldVectors vectors;
  private final CrossNetwork cross;
  private final Linear crossLogit;
  private final Block deep;
  /** Null: no dropout. */
  private final Block vectorDropout;
  private final Block crossDropout;

  /** Creates the network with one output. */
  public TabularBlock(Layout layout, ModelConfig config) {
    this(layout, config, 1);
  }

  /**
   * Creates the network.
   *
   * @param layout widths of an example
   * @param config the network; a sum of parts
   * @param outputs logits of an example; a factorization machine has vectors for each
   */
  public TabularBlock(Layout layout, ModelConfig config, int outputs) {
    this.layout = layout;
    this.config = config;
    this.outputs = outputs;
    RegularizationConfig regularization = config.regularization();
    if (config.kind().parts().isEmpty()) {
      throw new InvalidInput("model.kind is missing: give the network, such as deepfm");
    }
    linear = has(Part.LINEAR) ? addChildBlock("linear", new LinearLogit(layout, outputs, regularization.l2Linear())) : null;
    boolean pairs = has(Part.PAIRS);
    boolean anyVectors = pairs || layout.slots() > 0 && (has(Part.CROSS) || has(Part.DEEP));
    int vector = config.embedding() * (pairs ? outputs : 1);
    vectors = anyVectors ? addChildBlock("vectors",
        new FieldVectors(layout, vector, (float) config.embeddingBound(), pairs, regularization.l2Embedding())) : null;
    width = (vectors == null ? 0 : vectors.fields() * vector) + (pairs ? 0 : layout.dense());
    cross = has(Part.CROSS) ? addChildBlock("cross", new CrossNetwork(width, config.crossLayers(), config.crossRank())) : null;
    crossLogit = cross == null ? null : addChildBlock("cross_logit", Linear.builder().setUnits(outputs).build());
    if (crossLogit != null) {
      crossLogit.setInitializer(new NormalInitializer((float) (1 / Math.sqrt(width))), Parameter.Type.WEIGHT);
    }
    deep = has(Part.DEEP) ? addChildBlock("deep", Heter.remote(
        ReluLayers.of(width, config.hidden(), outputs, config.gain(), config.dropout()), 1,
        (ofDeep, others) -> new NDList(others.get(0).add(ofDeep.get(0))))) : null;
    vectorDropout = vectors == null ? null : dropout("vector_dropout", regularization.embeddingDropout());
    crossDropout = cross == null ? null : dropout("cross_dropout", regularization.crossDropout());
  }

  private Block dropout(String name, double rate) {
    return rate == 0 ? null : addChildBlock(name, Dropout.builder().optRate((float) rate).build());
  }

  /** Returns the loss with the L2 of all parameters that are in no table. */
  @Override
  public Loss over(Loss ofOutputs) {
    RegularizationConfig regularization = config.regularization();
    Map<Parameter, Double> penalties = new LinkedHashMap<>();
    if (linear != null) {
      linear.weights().forEach(weight -> penalties.put(weight, regularization.l2Linear()));
    }
    if (vectors != null) {
      vectors.weights().forEach(weight -> penalties.put(weight, regularization.l2Embedding()));
    }
    RegularizedLoss.weights(cross).forEach(weight -> penalties.put(weight, regularization.l2Cross()));
    RegularizedLoss.weights(crossLogit).forEach(weight -> penalties.put(weight, regularization.l2Cross()));
    RegularizedLoss.weights(deep).forEach(weight -> penalties.put(weight, regularization.l2Deep()));
    return RegularizedLoss.over(ofOutputs, penalties);
  }

  private boolean has(Part part) {
    return config.kind().parts().contains(part);
  }

  @Override
  protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training,
      PairList<String, Object> params) {
    NDArray fields = vectors == null ? null : vectors.forward(store, inputs, training).singletonOrThrow();
    if (vectorDropout != null) {
      fields = vectorDropout.forward(store, new NDList(fields), training).singletonOrThrow();
    }
    NDArray logits = linear == null ? null : linear.forward(store, inputs, training).singletonOrThrow();
    if (has(Part.PAIRS)) {
      logits = logits.add(FactorizationMachine.pairs(fields, outputs));
    }
    NDArray flat = cross == null && deep == null ? null : flat(fields, inputs);
    if (cross != null) {
      NDArray crosses = cross.forward(store, new NDList(flat), training).singletonOrThrow();
      if (crossDropout != null) {
        crosses = crossDropout.forward(store, new NDList(crosses), training).singletonOrThrow();
      }
      logits = crossLogit.forward(store, new NDList(crosses), training).singletonOrThrow();
    }
    return deep == null ? new NDList(logits) : deep.forward(store, new NDList(flat, logits), training);
  }

  /** Returns the input of crosses and relu layers, {@code [batch, width]}. */
  private NDArray flat(NDArray fields, NDList inputs) {
    NDArray flat = fields == null ? null : fields.reshape(inputs.head().getShape().get(0), -1);
    NDArray dense = has(Part.PAIRS) ? null : FieldInputs.dense(layout, inputs);
    return flat == null ? dense : dense == null ? flat : flat.concat(dense, 1);
  }

  @Override
  protected void initializeChildBlocks(NDManager manager, DataType dataType, Shape... inputShapes) {
    long batch = inputShapes[0].get(0);
    if (linear != null) {
      linear.initialize(manager, dataType, inputShapes);
    }
    if (vectors != null) {
      vectors.initialize(manager, dataType, inputShapes);
    }
    if (cross != null) {
      cross.initialize(manager, dataType, new Shape(batch, width));
      crossLogit.initialize(manager, dataType, new Shape(batch, width));
    }
    if (vectorDropout != null) {
      vectorDropout.initialize(manager, dataType, new Shape(batch, vectors.fields(), config.embedding() * (has(Part.PAIRS) ? outputs : 1)));
    }
    if (crossDropout != null) {
      crossDropout.initialize(manager, dataType, new Shape(batch, width));
    }
    if (deep != null) {
      deep.initialize(manager, dataType, new Shape(batch, width), new Shape(batch, outputs));
    }
  }

  @Override
  public Shape[] getOutputShapes(Shape[] inputShapes) {
    return new Shape[] {new Shape(inputShapes[0].get(0), outputs)};
  }
}
