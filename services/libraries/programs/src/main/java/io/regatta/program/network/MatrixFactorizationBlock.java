package io.regatta.program.network;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.nn.Parameter;
import ai.djl.training.ParameterStore;
import ai.djl.training.initializer.Initializer;
import ai.djl.util.PairList;
import io.regatta.core.init.InitializerSpec;
import io.regatta.data.Layout;
import io.regatta.program.block.FieldInputs;
import io.regatta.training.config.ModelConfig;
import io.regatta.training.model.DistributedEmbedding;

/**
 * Matrix factorization with biases: a bias, one of the user, one of the item, and the inner product of their vectors.
 * Source: Koren, Bell and Volinsky, "Matrix Factorization Techniques for Recommender Systems", Computer 42(8), 2009. The biases of
 * ids are in the table {@code weights}, initially 0, the vectors in the table {@code embedding}. The bias of all is
 * learned, too, where the paper takes the mean. Input: the arrays of a batch; output: float32 {@code [batch, 1]}. Used on
 * its trainer's model thread.
 */
public final class MatrixFactorizationBlock extends AbstractBlock {

  private final Layout layout;
  private final DistributedEmbedding vectors;
  private final DistributedEmbedding biases;
  private final Parameter bias;

  /**
   * Creates the network.
   *
   * @param user column of the user's id, counted from 0
   * @param item column of the item's id
   */
  public MatrixFactorizationBlock(Layout layout, int user, int item, ModelConfig config) {
    this.layout = layout;
    float bound = (float) config.embeddingBound();
    double l2 = config.regularization().l2Embedding();
    vectors = addChildBlock("vectors", embedding("embedding", config.embedding(), InitializerSpec.uniform(-bound, bound), l2, user, item));
    biases = addChildBlock("biases", embedding("weights", 1, InitializerSpec.zeros(), l2, user, item));
    bias = addParameter(Parameter.builder().setName("bias").setType(Parameter.Type.BIAS).optShape(new Shape(1))
        .optInitializer(Initializer.ZEROS).build());
  }

  private DistributedEmbedding embedding(String table, int dim, InitializerSpec initial, double l2, int user, int item) {
    return DistributedEmbedding.builder().setTable(table).setDim(dim).optInitializer(initial)
        .optInputIndex(FieldInputs.index(layout)).optL2(l2).optColumns(user, item).build();
  }

  @Override
  protected NDList forwardInternal(ParameterStore store, NDList inputs, boolean training,
      PairList<String, Object> params) {
    NDList ids = new NDList(FieldInputs.ids(layout, inputs).get(0));
    NDArray rows = vectors.forward(store, ids, training).singletonOrThrow();
    NDArray product = rows.get(":, 0").mul(rows.get(":, 1")).sum(new int[] {1}, true);
    NDArray ofIds = biases.forward(store, ids, training).singletonOrThrow().sum(new int[] {1});
    return new NDList(product.add(ofIds).add(store.getValue(bias, product.getDevice(), training)));
  }

  @Override
  protected void initializeChildBlocks(NDManager manager, DataType dataType, Shape... inputShapes) {
    Shape ids = new Shape(inputShapes[0].get(0), layout.columns());
    vectors.initialize(manager, dataType, ids);
    biases.initialize(manager, dataType, ids);
  }

  @Override
  public Shape[] getOutputShapes(Shape[] inputShapes) {
    return new Shape[] {new Shape(inputShapes[0].get(0), 1)};
  }
}
