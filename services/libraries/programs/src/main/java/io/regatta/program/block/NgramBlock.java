package io.regatta.program.block;

import ai.djl.ndarray.NDArray;
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
import io.regatta.core.init.InitializerSpec;
import io.regatta.training.cut.Heter;
import io.regatta.training.model.DistributedEmbedding;

/**
 * The neural language model of Bengio et al. ("A Neural Probabilistic Language Model", 2003) as in PaddlePaddle's
 * word2vec. The embeddings of all preceding words are from one table; they are concatenated, and pass through a sigmoid
 * layer to a score for every word. Input: int64 ids {@code [batch, before]}; output: {@code [batch, words]}. Used on
 * its trainer's model thread.
 */
public final class NgramBlock extends AbstractBlock {

  private final int before;
  private final int dim;
  private final int words;
  private final DistributedEmbedding embedding;
  private final Block layers;

  /**
   * Creates the network.
   *
   * @param before words from which the next one is predicted
   * @param dim floats of a word's embedding
   * @param hidden width of the sigmoid layer
   * @param words in the dictionary
   */
  public NgramBlock(int before, int dim, int hidden, int words) {
    this.before = before;
    this.dim = dim;
    this.words = words;
    float bound = (float) (1 / Math.sqrt(dim));
    embedding = addChildBlock("embedding", DistributedEmbedding.builder().setTable("words").setDim(dim)
        .optInitializer(InitializerSpec.uniform(-bound, bound)).optInputIndex(0).build());
    layers = addChildBlock("layers", Heter.remote(new SequentialBlock().add(layer(hidden, before * dim))
        .add(Activation::sigmoid).add(layer(words, hidden))));
  }

  private static Linear layer(int units, int fanIn) {
    Linear layer = Linear.builder().setUnits(units).build();
    layer.setInitializer(new NormalInitializer((float) (1 / Math.sqrt(fanIn))), Parameter.Type.WEIGHT);
    return layer;
  }

  @Override
  protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training,
      PairList<String, Object> params) {
    NDArray rows = embedding.forward(store, new NDList(inputs.get(0)), training).singletonOrThrow();
    return layers.forward(store, new NDList(rows.reshape(rows.getShape().get(0), (long) before * dim)), training);
  }

  @Override
  protected void initializeChildBlocks(NDManager manager, DataType dataType, Shape... inputShapes) {
    embedding.initialize(manager, dataType, inputShapes[0]);
    layers.initialize(manager, dataType, new Shape(inputShapes[0].get(0), (long) before * dim));
  }

  @Override
  public Shape[] getOutputShapes(Shape[] inputShapes) {
    return new Shape[] {new Shape(inputShapes[0].get(0), words)};
  }
}
