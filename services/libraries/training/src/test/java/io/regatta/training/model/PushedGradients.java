package io.regatta.training.model;

import io.regatta.core.exchange.SparseRows;
import io.regatta.core.reduce.SparseGradients;
import java.util.List;

/** The gradients of rows that a step would push, for tests of blocks without a trainer. Stateless; on the model thread. */
public final class PushedGradients {

  private PushedGradients() {}

  /** Returns the gradients of the forward passes since the last call, summed over repeated ids, and forgets them. */
  public static List<SparseRows> of(DistributedEmbedding embedding) {
    SparseGradients gradients = new SparseGradients();
    embedding.takeGradients(gradients);
    return gradients.toRows();
  }
}
