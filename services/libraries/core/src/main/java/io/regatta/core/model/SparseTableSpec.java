package io.regatta.core.model;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.optim.ElementwiseOptimizer;
import io.regatta.core.optim.OptimizerSpec;
import java.util.Objects;

/**
 * The specification of a table of rows of {@code dim} float32 values under 64-bit ids. Rows are created by their first
 * training pull.
 *
 * @param name unique within the job
 * @param dim values per row, 1 to {@value #MAX_DIM}
 * @param initializer initial values of a row
 * @param optimizer update rule of the rows
 * @param life admission and removal of rows
 */
public record SparseTableSpec(String name, int dim, InitializerSpec initializer, OptimizerSpec optimizer,
    TableLife life) {

  /** Largest dimension: one row with its slots still fits a chunk of the wire by far. */
  public static final int MAX_DIM = 1 << 16;

  public SparseTableSpec {
    ModelSpec.requireName("sparse table", name);
    if (dim < 1 || dim > MAX_DIM) {
      throw new InvalidInput("sparse table " + name + " has dim " + dim + ": it must be 1 to " + MAX_DIM);
    }
    Objects.requireNonNull(initializer, "initializer");
    Objects.requireNonNull(optimizer, "optimizer");
    Objects.requireNonNull(life, "life");
    if (!(optimizer.optimizer() instanceof ElementwiseOptimizer)) {
      throw new InvalidInput("sparse table " + name + ": optimizer " + optimizer.name() + " needs norms over whole tensors, and "
          + "the rows of a table never take part in one update together; give sparse_optimizer.kind, for example adagrad");
    }
  }

  /** Returns the same table without what its kinds of initializer, optimizer and life do not use. */
  public SparseTableSpec used() {
    return new SparseTableSpec(name, dim, initializer.used(), optimizer.used(), life.used());
  }

  /** Creates a table whose rows need no admission and are never removed. */
  public SparseTableSpec(String name, int dim, InitializerSpec initializer, OptimizerSpec optimizer) {
    this(name, dim, initializer, optimizer, TableLife.NONE);
  }

  /**
   * Returns the number of floats of a row in a push: its gradient, and in tables with statistics its shows and clicks
   * after that.
   */
  public int pushWidth() {
    return dim + counts();
  }

  /** Returns how many of them, the last ones, are counts. */
  public int counts() {
    return life.statistics() ? TableLife.COUNTS : 0;
  }
}
