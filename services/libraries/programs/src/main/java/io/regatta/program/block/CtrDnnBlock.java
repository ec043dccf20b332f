package io.regatta.program.block;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Block;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import io.regatta.core.init.InitializerSpec;
import io.regatta.data.Layout;
import io.regatta.training.cut.Heter;
import io.regatta.training.model.DistributedEmbedding;
import java.util.List;

/**
 * PaddlePaddle's {@code ctr_dnn}: one table of embeddings for all slots, concatenated with the dense features, through
 * relu layers to two scores. Input: dense float32 {@code [batch, dense]} and int64 ids {@code [batch, slots]}; output:
 * {@code [batch, 2]}. Used on its trainer's model thread.
 */
public final class CtrDnnBlock extends AbstractBlock {

  private static final int IDS_INPUT = 1;

  private final Layout layout;
  private final int embedded;
  private final DistributedEmbedding embedding;
  private final Block layers;

  /**
   * @param layout widths of an example
   * @param embeddingDim values per id
   * @param bound embeddings start uniform in ±bound
   * @param hidden widths of the relu layers
   * @param gain of the layers' initial values, see {@link ReluLayers}
   */
  public CtrDnnBlock(Layout layout, int embeddingDim, float bound, List<Integer> hidden, double gain) {
    this.layout = layout;
    embedded = layout.slots() * embeddingDim;
    embedding = addChildBlock("embedding", DistributedEmbedding.builder().setTable("embedding").setDim(embeddingDim)
        .optInitializer(InitializerSpec.uniform(-bound, bound)).optInputIndex(IDS_INPUT).build());
    layers = addChildBlock("layers",
        Heter.remote(ReluLayers.of(embedded + layout.dense(), hidden, BinaryHead.SOFTMAX.width(), gain)));
  }

  @Override
  protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training,
      PairList<String, Object> params) {
    NDArray dense = inputs.get(0);
    NDArray rows = embedding.forward(store, new NDList(inputs.get(IDS_INPUT)), training).singletonOrThrow();
    NDArray features = rows.reshape(dense.getShape().get(0), embedded).concat(dense, 1);
    return layers.forward(store, new NDList(features), training);
  }

  @Override
  protected void initializeChildBlocks(NDManager manager, DataType dataType, Shape... inputShapes) {
    long batch = inputShapes[0].get(0);
    embedding.initialize(manager, dataType, new Shape(batch, layout.slots()));
    layers.initialize(manager, dataType, new Shape(batch, embedded + layout.dense()));
  }

  @Override
  public Shape[] getOutputShapes(Shape[] inputShapes) {
    return new Shape[] {new Shape(inputShapes[0].get(0), BinaryHead.SOFTMAX.width())};
  }
}
