package io.regatta.trainer.djl;

import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;

/**
 * A DJL block over a sparse table of the servers: forward pulls the rows of the ids, {@link FleetTrainer#step} pushes
 * their gradients. Input: one array {@code [batch, slots]} of int64 or int32 ids (any 64-bit value; -1 too). Output:
 * {@code [batch, slots, dim]} float32. Has no DJL parameters. Used on its trainer's model thread.
 */
public final class DistributedEmbedding extends AbstractBlock {

  private DistributedEmbedding(Builder b) {
    throw new UnsupportedOperationException("TODO trainer helper");
  }

  public static Builder builder() {
    return new Builder();
  }

  /** Name of the sparse table. */
  public String table() {
    throw new UnsupportedOperationException("TODO trainer helper");
  }

  /** Values per row. */
  public int dim() {
    throw new UnsupportedOperationException("TODO trainer helper");
  }

  @Override
  protected NDList forwardInternal(ParameterStore parameterStore, NDList inputs, boolean training,
      PairList<String, Object> params) {
    throw new UnsupportedOperationException("TODO trainer helper");
  }

  @Override
  public Shape[] getOutputShapes(Shape[] inputShapes) {
    throw new UnsupportedOperationException("TODO trainer helper");
  }

  /** Builder of a {@link DistributedEmbedding}; {@code table} and {@code dim} are needed. */
  public static final class Builder {

    private String table;
    private int dim;
    private InitializerSpec initializer = InitializerSpec.zeros();
    private OptimizerSpec optimizer;
    private int inputIndex = -1;

    private Builder() {}

    /** Name of the table, unique within the job; blocks of the same name share their rows. */
    public Builder setTable(String name) {
      this.table = name;
      return this;
    }

    /** Values per row. */
    public Builder setDim(int values) {
      this.dim = values;
      return this;
    }

    /** Birth of a row; default: uniform in ±1/sqrt(dim). */
    public Builder optInitializer(InitializerSpec spec) {
      this.initializer = spec;
      return this;
    }

    /** Update rule of the rows; default: the job's {@code sparse_optimizer}. */
    public Builder optOptimizer(OptimizerSpec spec) {
      this.optimizer = spec;
      return this;
    }

    /**
     * Which array of a batch's data holds this block's ids, so that the next batch's rows can be asked for ahead of
     * time. Without it rows are pulled in forward only.
     */
    public Builder optInputIndex(int index) {
      this.inputIndex = index;
      return this;
    }

    public DistributedEmbedding build() {
      return new DistributedEmbedding(this);
    }
  }
}
