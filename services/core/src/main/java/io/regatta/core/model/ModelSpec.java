package io.regatta.core.model;

import io.regatta.core.optim.OptimizerSpec;
import java.util.List;

/**
 * All that lives on servers for one job: the dense variables, in the order that lays out the flat dense vector, and
 * the sparse tables. Every trainer of a job registers the same one; {@link #digest} is how a shard sees that.
 *
 * @param seed of the sparse initializers
 * @param dense variables in flat order
 * @param denseOptimizer update rule of all dense variables
 * @param sparse sparse tables
 */
public record ModelSpec(long seed, List<DenseVariable> dense, OptimizerSpec denseOptimizer,
    List<SparseTableSpec> sparse) {

  /** Elements of the flat dense vector: all variables one after another. */
  public int denseNumel() {
    int n = 0;
    for (DenseVariable v : dense) {
      n = Math.addExact(n, v.numel());
    }
    return n;
  }

  /** A short stable fingerprint (hex) of names, shapes, dims, initializers, optimizers and seed. */
  public String digest() {
    throw new UnsupportedOperationException("TODO core helper");
  }
}
