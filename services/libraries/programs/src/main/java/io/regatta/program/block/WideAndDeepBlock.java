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
import ai.djl.training.ParameterStore;
import ai.djl.training.initializer.TruncatedNormalInitializer;
import ai.djl.util.PairList;
import io.regatta.core.init.InitializerSpec;
import io.regatta.data.Layout;
import io.regatta.training.cut.Heter;
import io.regatta.training.model.DistributedEmbedding;
import java.util.List;

/**
 * Wide and deep (Cheng et al., "Wide &amp; Deep Learning for Recommender Systems", 2016). Input: dense float32
 * {@code [batch, dense]} and int64 ids {@code [batch, slots]}; output: logits {@code [batch, 1]}. Wide: a linear
 * function of the dense features and, optionally, one weight per sparse id. Deep: embeddings of all ids and the dense
 * features through fully connected relu layers. Initial values: wide {@code TruncatedNormal(1/√dense)} and layers
 * {@code Normal(gain/√fan_in)} as in FleetX's example (gain 1), biases 0. Used on its trainer's model thread.
 */
public final class WideAndDeepBlock extends AbstractBlock {

  private static final int IDS_INPUT = 1;

  private final Layout layout;
  private final int width;
  private final Linear wide;
  private final DistributedEmbedding wideWeights;
  private final DistributedEmbedding embedding;
  private final Block deep;

  /**
   * Creates the network.
   *
   * @param layout widths of an example
   * @param embeddingDim values per id in the deep part
   * @param bound embeddings start uniform in ±bound
   * @param hidden widths of the relu layers
   * @param gain of the layers' initial values, see {@link ReluLayers}
   * @param sparseWide true for a weight per id in the wide part (starting at 0)
   */
  public WideAndDeepBlock(Layout layout, int embeddingDim, float bound, List<Integer> hidden, double gain,
      boolean sparseWide) {
    this.layout = layout;
    width = layout.dense() + layout.slots() * embeddingDim;
    wide = addChildBlock("wide", Linear.builder().setUnits(1).build());
    wide.setInitializer(new TruncatedNormalInitializer((float) (1 / Math.sqrt(layout.dense()))),
        Parameter.Type.WEIGHT);
    wideWeights = sparseWide ? addChildBlock("wide_ids", DistributedEmbedding.builder().setTable("wide").setDim(1)
        .optInitializer(InitializerSpec.zeros()).optInputIndex(IDS_INPUT).build()) : null;
    embedding = addChildBlock("embedding", DistributedEmbedding.builder().setTable("embedding").setDim(embeddingDim)
        .optInitializer(InitializerSpec.uniform(-bound, bound)).optInputIndex(IDS_INPUT).build());
    deep = addChildBlock("deep", Heter.remote(ReluLayers.of(width, hidden, 1, gain), 1,
        (ofDeep, ofWide) -> new NDList(ofWide.get(0).add(ofDeep.get(0)))));
  }

  @Override
  protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training,
      PairList<String, Object> params) {
    NDArray dense = inputs.get(0);
    NDArray ids = inputs.get(IDS_INPUT);
    long batch = dense.getShape().get(0);
    NDArray logits = wide.forward(store, new NDList(dense), training).singletonOrThrow();
    if (wideWeights != null) {
      NDArray weights = wideWeights.forward(store, new NDList(ids), training).singletonOrThrow();
      logits = logits.add(weights.sum(new int[] {1}));
    }
    NDArray rows = embedding.forward(store, new NDList(ids), training).singletonOrThrow();
    NDArray features = rows.reshape(batch, width - layout.dense()).concat(dense, 1);
    return deep.forward(store, new NDList(features, logits), training);
  }

  @Override
  protected void initializeChildBlocks(NDManager manager, DataType dataType, Shape... inputShapes) {
    long batch = inputShapes[0].get(0);
    wide.initialize(manager, dataType, new Shape(batch, layout.dense()));
    if (wideWeights != null) {
      wideWeights.initialize(manager, dataType, new Shape(batch, layout.slots()));
    }
    embedding.initialize(manager, dataType, new Shape(batch, layout.slots()));
    deep.initialize(manager, dataType, new Shape(batch, width), new Shape(batch, 1));
  }

  @Override
  public Shape[] getOutputShapes(Shape[] inputShapes) {
    return new Shape[] {new Shape(inputShapes[0].get(0), 1)};
  }
}
