package io.regatta.program.block;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import io.regatta.core.init.InitializerSpec;
import io.regatta.training.model.DistributedEmbedding;

/**
 * The skip-gram model: for each of some words, a score of how well it fits near a given word, the inner product of two
 * rows of one table. The table holds words by their number, and, as words near others, by their number plus the
 * dictionary's size. Input: int64 ids {@code [batch, 1 + others]}; output: {@code [batch, others]}. Used on its
 * trainer's model thread.
 */
public final class SkipGramBlock extends AbstractBlock {

  private final DistributedEmbedding embedding;

  /** @param dim floats of a word's embedding */
  public SkipGramBlock(int dim) {
    float bound = 0.5f / dim;
    embedding = addChildBlock("embedding", DistributedEmbedding.builder().setTable("words").setDim(dim)
        .optInitializer(InitializerSpec.uniform(-bound, bound)).optInputIndex(0).build());
  }

  @Override
  protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training,
      PairList<String, Object> params) {
    NDArray rows = embedding.forward(store, new NDList(inputs.get(0)), training).singletonOrThrow();
    NDList parts = rows.split(new long[] {1}, 1);
    return new NDList(parts.get(0).mul(parts.get(1)).sum(new int[] {2}));
  }

  @Override
  protected void initializeChildBlocks(NDManager manager, DataType dataType, Shape... inputShapes) {
    embedding.initialize(manager, dataType, inputShapes[0]);
  }

  @Override
  public Shape[] getOutputShapes(Shape[] inputShapes) {
    return new Shape[] {new Shape(inputShapes[0].get(0), inputShapes[0].get(1) - 1)};
  }
}
