package io.regatta.program.network;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDArrays;
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
import io.regatta.program.block.ReluLayers;
import io.regatta.training.config.ModelConfig;
import io.regatta.training.cut.Heter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Two towers: relu layers make a vector of the user's features, and others one of the item's. Both are divided by their
 * lengths. Source: Yi et al., "Sampling-Bias-Corrected Neural Modeling for Large Corpus Item Recommendations", RecSys 2019.
 * Input: the arrays of a batch. Output: float32 {@code [batch, 2 × width]}, the user's vector, then the item's. Heter
 * workers compute the layers. Used on its trainer's model thread.
 */
public final class TwoTowersBlock extends AbstractBlock implements BlockLoss {

  private static final float SMALLEST_SQUARE = 1e-12f;

  /**
   * The fields of one tower.
   *
   * @param slots their numbers
   * @param dense places of dense features
   */
  public record Fields(List<Integer> slots, List<Integer> dense) {

    public Fields {
      slots = List.copyOf(slots);
      dense = List.copyOf(dense);
    }
  }

  /** The layers of both towers, from {@code [batch, width]} of each to their vectors side by side. */
  private static final class Towers extends AbstractBlock {

    private final Block user;
    private final Block item;
    private final int vector;

    Towers(int ofUser, int ofItem, ModelConfig config) {
      List<Integer> hidden = config.hidden();
      vector = hidden.get(hidden.size() - 1);
      List<Integer> relu = hidden.subList(0, hidden.size() - 1);
      user = addChildBlock("user", ReluLayers.of(ofUser, relu, vector, config.gain(), config.dropout()));
      item = addChildBlock("item", ReluLayers.of(ofItem, relu, vector, config.gain(), config.dropout()));
    }

    @Override
    protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training,
        PairList<String, Object> params) {
      NDArray ofUser = user.forward(store, new NDList(inputs.get(0)), training).singletonOrThrow();
      NDArray ofItem = item.forward(store, new NDList(inputs.get(1)), training).singletonOrThrow();
      return new NDList(NDArrays.concat(new NDList(unit(ofUser), unit(ofItem)), 1));
    }

    private static NDArray unit(NDArray vectors) {
      return vectors.div(vectors.square().sum(new int[] {1}, true).add(SMALLEST_SQUARE).sqrt());
    }

    @Override
    protected void initializeChildBlocks(NDManager manager, DataType dataType, Shape... inputShapes) {
      user.initialize(manager, dataType, inputShapes[0]);
      item.initialize(manager, dataType, inputShapes[1]);
    }

    @Override
    public Shape[] getOutputShapes(Shape[] inputShapes) {
      return new Shape[] {new Shape(inputShapes[0].get(0), 2L * vector)};
    }
  }

  private final Layout layout;
  private final int dim;
  private final double l2;
  private final Fields user;
  private final Fields item;
  /** Null: the layout has no slots. */
  private final FieldVectors vectors;
  private final Block towers;

  /** Creates the network. */
  public TwoTowersBlock(Layout layout, Fields user, Fields item, ModelConfig config) {
    this.layout = layout;
    this.user = user;
    this.item = item;
    dim = config.embedding();
    l2 = config.regularization().l2Deep();
    vectors = layout.slots() == 0 ? null : addChildBlock("vectors", new FieldVectors(layout, dim, (float) config.embeddingBound(), false,
        config.regularization().l2Embedding()));
    towers = addChildBlock("towers", Heter.remote(new Towers(width(user), width(item), config)));
  }

  /** Returns the loss with the L2 of both towers. */
  @Override
  public Loss over(Loss ofOutputs) {
    Map<Parameter, Double> penalties = new LinkedHashMap<>();
    RegularizedLoss.weights(towers).forEach(weight -> penalties.put(weight, l2));
    return RegularizedLoss.over(ofOutputs, penalties);
  }

  private int width(Fields fields) {
    return fields.slots.size() * dim + fields.dense.size();
  }

  @Override
  protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training,
      PairList<String, Object> params) {
    NDArray slots = vectors == null ? null : vectors.forward(store, inputs, training).singletonOrThrow();
    NDArray dense = FieldInputs.dense(layout, inputs);
    return towers.forward(store, new NDList(flat(user, slots, dense), flat(item, slots, dense)), training);
  }

  private static NDArray flat(Fields fields, NDArray slots, NDArray dense) {
    NDList parts = new NDList();
    fields.slots.forEach(slot -> parts.add(slots.get(":, " + slot)));
    fields.dense.forEach(at -> parts.add(dense.get(":, " + at + ":" + (at + 1))));
    return NDArrays.concat(parts, 1);
  }

  @Override
  protected void initializeChildBlocks(NDManager manager, DataType dataType, Shape... inputShapes) {
    if (vectors != null) {
      vectors.initialize(manager, dataType, inputShapes);
    }
    long batch = inputShapes[0].get(0);
    towers.initialize(manager, dataType, new Shape(batch, width(user)), new Shape(batch, width(item)));
  }

  @Override
  public Shape[] getOutputShapes(Shape[] inputShapes) {
    long batch = inputShapes[0].get(0);
    return towers.getOutputShapes(new Shape[] {new Shape(batch, width(user)), new Shape(batch, width(item))});
  }
}
