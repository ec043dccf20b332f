package io.regatta.core.model;

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
public record SparseTableSpec(String name, int dim, InitializerSpec initializer, OptimizerSpec optimizer) {}
