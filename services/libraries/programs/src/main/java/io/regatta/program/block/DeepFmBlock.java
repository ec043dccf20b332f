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
import ai.djl.training.initializer.NormalInitializer;
import ai.djl.util.PairList;
import io.regatta.core.init.InitializerSpec;
import io.regatta.data.Layout;
import io.regatta.training.cut.Heter;
import io.regatta.training.model.DistributedEmbedding;
import java.util.List;

/**
 * DeepFM (Guo et al., "DeepFM: A Factorization-Machine based Neural Network for CTR Prediction", 2017). Every slot and
 * every dense feature is a field with a vector of {@code embedding} floats: the vector of its id, or its own vector
 * times the feature's value. The logit is the sum of a weight per id and per dense feature, of the products of all
 * pairs of fields' vectors, and of relu layers over the vectors. Input: dense float32 {@code [batch, dense]} and int64
 * ids {@code [batch, slots]}; output: logits {@code [batch, 1]}. Used on its trainer's model thread.
 */
public final class DeepFmBlock extends AbstractBlock {

  private static final int IDS_INPUT = 1;

  private final Layout layout;
  private final int dim;
  private final Linear weights;
  private final DistributedEmbedding idWeights;
  private final DistributedEmbedding embedding;
  private final Parameter denseVectors;
  private final Block deep;

  /**
   * @param layout widths of an example
   * @param embeddingDim floats of a field's vector
   * @param bound ids' vectors start uniform in ±bound
   * @param hidden widths of the relu layers
   * @param gain of the layers' initial values, see {@link ReluLayers}
   */
  public DeepFmBlock(Layout layout, int embeddingDim, float bound, List<Integer> hidden, double gain) {
    this.layout = layout;
    dim = embeddingDim;
    weights = addChildBlock("weights", Linear.builder().setUnits(1).build());
    weights.setInitializer(new NormalInitializer((float) (1 / Math.sqrt(fields()))), Parameter.Type.WEIGHT);
    idWeights = addChildBlock("id_weights", DistributedEmbedding.builder().setTable("weights").setDim(1)
        .optInitializer(InitializerSpec.zeros()).optInputIndex(IDS_INPUT).build());
    embedding = addChildBlock("embedding", DistributedEmbedding.builder().setTable("embedding").setDim(dim)
        .optInitializer(InitializerSpec.uniform(-bound, bound)).optInputIndex(IDS_INPUT).build());
    denseVectors = addParameter(Parameter.builder().setName("dense_vectors").setType(Parameter.Type.WEIGHT)
        .optShape(new Shape(1, layout.dense(), dim)).build());
    denseVectors.setInitializer(new NormalInitializer(bound));
    deep = addChildBlock("deep", Heter.remote(ReluLayers.of(fields() * dim, hidden, 1, gain), 1,
        (ofDeep, others) -> new NDList(others.get(0).add(ofDeep.get(0)))));
  }

  private int fields() {
    return layout.dense() + layout.slots();
  }

  @Override
  protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training,
      PairList<String, Object> params) {
    NDArray dense = inputs.get(0);
    NDList ids = new NDList(inputs.get(IDS_INPUT));
    long batch = dense.getShape().get(0);
    NDArray ofIds = embedding.forward(store, ids, training).singletonOrThrow();
    NDArray ofDense = dense.expandDims(2).mul(store.getValue(denseVectors, dense.getDevice(), training));
    NDArray vectors = ofIds.concat(ofDense, 1);
    NDArray logits = weights.forward(store, new NDList(dense), training).singletonOrThrow()
        .add(idWeights.forward(store, ids, training).singletonOrThrow().sum(new int[] {1}))
        .add(pairs(vectors));
    return deep.forward(store, new NDList(vectors.reshape(batch, (long) fields() * dim), logits), training);
  }

  /**
   * Returns the Σ of the inner products of all pairs of fields: half of (Σ v)² − Σ v², summed over the vectors' floats.
   */
  private static NDArray pairs(NDArray vectors) {
    NDArray sum = vectors.sum(new int[] {1});
    NDArray squares = vectors.square().sum(new int[] {1});
    return sum.square().sub(squares).sum(new int[] {1}, true).mul(0.5f);
  }

  @Override
  protected void initializeChildBlocks(NDManager manager, DataType dataType, Shape... inputShapes) {
    long batch = inputShapes[0].get(0);
    weights.initialize(manager, dataType, new Shape(batch, layout.dense()));
    idWeights.initialize(manager, dataType, new Shape(batch, layout.slots()));
    embedding.initialize(manager, dataType, new Shape(batch, layout.slots()));
    deep.initialize(manager, dataType, new Shape(batch, (long) fields() * dim), new Shape(batch, 1));
  }

  @Override
  public Shape[] getOutputShapes(Shape[] inputShapes) {
    return new Shape[] {new Shape(inputShapes[0].get(0), 1)};
  }
}
