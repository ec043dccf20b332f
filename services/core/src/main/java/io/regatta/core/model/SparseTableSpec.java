package io.regatta.core.model;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.optim.OptimizerSpec;

/**
 * A table of rows of {@code dim} float32 values under 64-bit ids. Rows are born on first pull.
 *
 * @param name unique within the job
 * @param dim values per row
 * @param initializer birth of a row
 * @param optimizer update rule of the rows
 */
public record SparseTableSpec(String name, int dim, InitializerSpec initializer, OptimizerSpec optimizer) {

  public SparseTableSpec {
    if (name.isBlank() || dim < 1) {
      throw new InvalidInput("sparse table '" + name + "' needs a name and a dim of at least 1, not " + dim);
    }
  }
}
