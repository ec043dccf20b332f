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
import ai.djl.nn.core.Linear;
import ai.djl.training.ParameterStore;
import ai.djl.training.initializer.NormalInitializer;
import ai.djl.util.PairList;
import io.regatta.program.block.ReluLayers;
import io.regatta.training.config.ModelConfig;
import java.util.ArrayList;
import java.util.List;

/**
 * Experts that several labels share, with a gate for each label (MMoE; Ma et al., "Modeling Task Relationships in
 * Multi-task Learning with Multi-gate Mixture-of-Experts", KDD 2018). Each expert is some relu layers. A label's gate is a
 * softmax of a linear function of the input without bias, and weighs the experts; further layers make the label's outputs
 * of the sum. Input: {@code [batch, width]}; output: {@code [batch, outputs]}, label by label. Used on its trainer's model
 * thread.
 */
public final class MixtureOfExperts extends AbstractBlock {

  private final int last;
  private final int outputs;
  private final List<Block> experts = new ArrayList<>();
  private final List<Block> gates = new ArrayList<>();
  private final List<Block> towers = new ArrayList<>();

  /**
   * Creates the layers.
   *
   * @param width floats of the input
   * @param ofLabels outputs of each label
   */
  public MixtureOfExperts(int width, ModelConfig config, List<Integer> ofLabels) {
    List<Integer> hidden = config.hidden();
    last = hidden.get(hidden.size() - 1);
    outputs = ofLabels.stream().mapToInt(each -> each).sum();
    for (int i = 0; i < config.experts(); i++) {
      experts.add(addChildBlock("expert" + i, new SequentialBlock().add(ReluLayers.of(width, hidden.subList(0, hidden.size() - 1), last,
          config.gain(), config.dropout())).add(Activation::relu)));
    }
    for (int i = 0; i < ofLabels.size(); i++) {
      Linear gate = Linear.builder().setUnits(config.experts()).optBias(false).build();
      gate.setInitializer(new NormalInitializer((float) (1 / Math.sqrt(width))), Parameter.Type.WEIGHT);
      gates.add(addChildBlock("gate" + i, gate));
      towers.add(addChildBlock("tower" + i, ReluLayers.of(last, config.tower(), ofLabels.get(i), config.gain(), config.dropout())));
    }
  }

  @Override
  protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training,
      PairList<String, Object> params) {
    NDList each = new NDList();
    experts.forEach(expert -> each.add(expert.forward(store, inputs, training).singletonOrThrow()));
    NDArray all = NDArrays.stack(each, 1);
    NDList ofLabels = new NDList();
    for (int i = 0; i < gates.size(); i++) {
      NDArray gate = gates.get(i).forward(store, inputs, training).singletonOrThrow().softmax(1).expandDims(2);
      ofLabels.add(towers.get(i).forward(store, new NDList(all.mul(gate).sum(new int[] {1})), training).singletonOrThrow());
    }
    return new NDList(NDArrays.concat(ofLabels, 1));
  }

  @Override
  protected void initializeChildBlocks(NDManager manager, DataType dataType, Shape... inputShapes) {
    experts.forEach(expert -> expert.initialize(manager, dataType, inputShapes[0]));
    gates.forEach(gate -> gate.initialize(manager, dataType, inputShapes[0]));
    towers.forEach(tower -> tower.initialize(manager, dataType, new Shape(inputShapes[0].get(0), last)));
  }

  @Override
  public Shape[] getOutputShapes(Shape[] inputShapes) {
    return new Shape[] {new Shape(inputShapes[0].get(0), outputs)};
  }
}
