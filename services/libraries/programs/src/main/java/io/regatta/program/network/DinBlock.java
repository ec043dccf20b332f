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
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.reduce.DistinctIds;
import io.regatta.data.Layout;
import io.regatta.program.block.BlockLoss;
import io.regatta.program.block.FieldInputs;
import io.regatta.program.block.RegularizedLoss;
import io.regatta.program.block.ReluLayers;
import io.regatta.training.config.ModelConfig;
import io.regatta.training.cut.Heter;
import io.regatta.training.model.DistributedEmbedding;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The deep interest network (Zhou et al., KDD 2018): each history becomes one vector by the {@link AttentionPooling} of
 * its candidate. These, the pooled vectors of the other slots and the dense features are the input of relu layers (the
 * paper has PReLU or Dice). All vectors are rows of the table {@code embedding}. Input: the arrays of a batch. Output:
 * float32 {@code [batch, outputs]}. Heter workers compute the relu layers. Used on its trainer's model thread.
 */
public final class DinBlock extends AbstractBlock implements BlockLoss {

  private final Layout layout;
  private final int outputs;
  private final int dim;
  private final double l2;
  private final DistributedEmbedding embedding;
  /** Pooling of each history, by its slot. */
  private final Map<Integer, AttentionPooling> attention = new TreeMap<>();
  private final Map<Integer, Integer> candidates;
  private final Block deep;

  /**
   * Creates the network.
   *
   * @param layout widths of an example
   * @param candidates for the slot of each history, the slot of its candidate, which has one id
   */
  public DinBlock(Layout layout, Map<Integer, Integer> candidates, ModelConfig config, int outputs) {
    if (candidates.isEmpty()) {
      throw new InvalidInput("model.kind: din needs a history: declare a feature of kind sequence, with the table of the candidate's "
          + "feature, as in history: {kind: sequence, table: item} beside item: {kind: id}");
    }
    this.layout = layout;
    this.outputs = outputs;
    this.candidates = Map.copyOf(candidates);
    dim = config.embedding();
    l2 = config.regularization().l2Deep();
    float bound = (float) config.embeddingBound();
    embedding = addChildBlock("embedding", DistributedEmbedding.builder().setTable("embedding").setDim(dim)
        .optInitializer(InitializerSpec.uniform(-bound, bound)).optInputIndex(FieldInputs.index(layout))
        .optL2(config.regularization().l2Embedding()).build());
    for (int slot : new TreeMap<>(candidates).keySet()) {
      attention.put(slot, addChildBlock("attention" + slot, new AttentionPooling(dim, config.attention())));
    }
    deep = addChildBlock("deep", Heter.remote(ReluLayers.of(width(), config.hidden(), outputs, config.gain(), config.dropout())));
  }

  /** Returns the loss with the L2 of the relu layers. */
  @Override
  public Loss over(Loss ofOutputs) {
    Map<Parameter, Double> penalties = new LinkedHashMap<>();
    RegularizedLoss.weights(deep).forEach(weight -> penalties.put(weight, l2));
    return RegularizedLoss.over(ofOutputs, penalties);
  }

  private int width() {
    return layout.slots() * dim + layout.dense();
  }

  @Override
  protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training,
      PairList<String, Object> params) {
    NDList idsAndValues = FieldInputs.ids(layout, inputs);
    NDArray ids = idsAndValues.get(0);
    NDArray rows = embedding.forward(store, new NDList(ids), training).singletonOrThrow();
    NDArray values = layout.valued() ? idsAndValues.get(1) : null;
    NDList parts = new NDList();
    int[] from = offsets();
    for (int slot = 0; slot < layout.slots(); slot++) {
      String columns = ":, " + from[slot] + ":" + from[slot + 1];
      NDArray own = rows.get(columns);
      if (attention.containsKey(slot)) {
        NDArray candidate = rows.get(":, " + from[candidates.get(slot)]);
        NDArray there = ids.get(columns).neq(DistinctIds.PADDING).toType(DataType.FLOAT32, false);
        parts.add(attention.get(slot).forward(store, new NDList(candidate, own, there), training).singletonOrThrow());
      } else {
        parts.add((values == null ? own : own.mul(values.get(columns).expandDims(2))).sum(new int[] {1}));
      }
    }
    if (layout.dense() > 0) {
      parts.add(FieldInputs.dense(layout, inputs));
    }
    return deep.forward(store, new NDList(NDArrays.concat(parts, 1)), training);
  }

  private int[] offsets() {
    List<Integer> widths = layout.widths();
    int[] from = new int[widths.size() + 1];
    for (int i = 0; i < widths.size(); i++) {
      from[i + 1] = from[i] + widths.get(i);
    }
    return from;
  }

  @Override
  protected void initializeChildBlocks(NDManager manager, DataType dataType, Shape... inputShapes) {
    long batch = inputShapes[0].get(0);
    embedding.initialize(manager, dataType, new Shape(batch, layout.columns()));
    attention.forEach((slot, pooling) -> pooling.initialize(manager, dataType, new Shape(batch, dim),
        new Shape(batch, layout.widths().get(slot), dim), new Shape(batch, layout.widths().get(slot))));
    deep.initialize(manager, dataType, new Shape(batch, width()));
  }

  @Override
  public Shape[] getOutputShapes(Shape[] inputShapes) {
    return new Shape[] {new Shape(inputShapes[0].get(0), outputs)};
  }
}
