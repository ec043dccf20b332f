package io.regatta.training.model;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.AbstractBlock;
import ai.djl.training.ParameterStore;
import ai.djl.util.PairList;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.model.TableLife;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.reduce.DistinctIds;
import io.regatta.core.reduce.SlotPooling;
import io.regatta.core.reduce.SparseGradients;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.TableConfig;
import io.regatta.training.exchange.push.Rows;
import io.regatta.training.rank.FleetTrainer;
import java.nio.FloatBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.function.BiConsumer;

/**
 * A DJL block over a sparse table of the servers: forward pulls the rows of the ids, {@link FleetTrainer#step} pushes
 * their gradients, summed over repeated ids. Used on its trainer's model thread. It has no DJL parameters: the rows are
 * on the servers. It must be reachable from the model's block through {@code getChildren()}, where the trainer finds
 * it.
 *
 * <p>Input: one array {@code [batch, slots]} (or {@code [batch]}) of int64 or int32 ids. The id -1
 * ({@link DistinctIds#PADDING}) means no id: zeros, and no gradient. Output: {@code [batch, slots, dim]} float32.
 *
 * <p>With {@link Builder#optSlots} a slot holds several ids and is the sum of their rows. The input is then {@code
 * [batch, columns]}, optionally with a second float32 array of that shape, the factor of each row. With {@link
 * Builder#optColumns} the block uses only some columns of the input.
 */
public final class DistributedEmbedding extends AbstractBlock {

  /** The services of a trainer to the block during a step. */
  interface Step {

    /** Returns the distinct ids of some columns of an array, or of all (null); they may be known from the prefetch. */
    DistinctIds distinct(NDArray ids, int[] columns);

    /** Returns the manager of the current step; the trainer closes it when the next step begins. */
    NDManager scope();

    /** Returns the clicks of the batch in forward, one per example. */
    float[] clicks(String table);
  }

  private final String table;
  private final int dim;
  private final InitializerSpec initializer;
  private final OptimizerSpec optimizer;
  private final TableLife life;
  private final double l2;
  private final int inputIndex;
  /** Columns of the ids that are used; null for all. */
  private final int[] columns;
  /** Null if each position of the input is a slot. */
  private final SlotPooling pooling;
  private final HostCopy host = new HostCopy();
  private final RowGradients gradients;
  private RowSource source;
  /** Null without a trainer. */
  private Step step;
  /** Null: nobody observes lookups. */
  private BiConsumer<NDList, NDArray> observer;
  /** Number of counts after the gradient of a pushed row. */
  private int counts;

  private DistributedEmbedding(Builder b) {
    if (b.table == null || b.table.isBlank()) {
      throw new InvalidInput("DistributedEmbedding: a table name is missing; call setTable");
    }
    TableConfig job = b.job == null ? null : b.job.tables().get(b.table);
    dim = job != null && job.dim() > 0 ? job.dim() : b.dim;
    if (dim < 1) {
      throw new InvalidInput("DistributedEmbedding of table " + b.table + ": dim must be at least 1, not " + dim);
    }
    table = b.table;
    float bound = (float) (1 / Math.sqrt(dim));
    initializer = b.initializer == null ? InitializerSpec.uniform(-bound, bound) : b.initializer;
    optimizer = b.optimizer;
    life = b.life;
    l2 = b.l2;
    columns = b.columns;
    inputIndex = b.inputIndex;
    pooling = b.slots == null ? null : new SlotPooling(b.slots);
    gradients = new RowGradients(table, dim, pooling, host);
  }

  public static Builder builder() {
    return new Builder();
  }

  /** Returns the name of the sparse table. */
  public String table() {
    return table;
  }

  /** Returns the values per row. */
  public int dim() {
    return dim;
  }

  /** Returns the index of the array of ids in a batch's data; -1 if unknown: rows are then pulled in forward only. */
  public int inputIndex() {
    return inputIndex;
  }

  /** Returns the rows of an example's output, as far as configured; 0 if the block takes any number of columns. */
  public int slots() {
    return pooling != null ? pooling.slots() : columns == null ? 0 : columns.length;
  }

  /** Returns the columns of the ids that are used; null for all. */
  int[] columns() {
    return columns;
  }

  /** Returns the table as the program declares it. */
  public SparseTableSpec spec(OptimizerSpec jobDefault) {
    OptimizerSpec own = optimizer == null ? jobDefault : optimizer;
    return new SparseTableSpec(table, dim, initializer, l2 == 0 ? own : own.decayed(l2), life);
  }

  /** Sets the source of rows without a trainer, for inference. A trainer attaches itself. */
  public void attach(RowSource rows) {
    attach(rows, null);
  }

  /** Attaches the block to a trainer. */
  void attach(RowSource rows, Step trainers) {
    source = rows;
    step = trainers;
  }

  /** Sets the number of counts of a pushed row, from the servers' declaration of the table. */
  void counts(int perRow) {
    counts = perRow;
  }

  /** Notifies an observer of the inputs and the rows of each lookup; null: nobody. */
  void observe(BiConsumer<NDList, NDArray> ofLookups) {
    observer = ofLookups;
  }

  @Override
  protected NDList forwardInternal(ParameterStore parameterStore, NDList inputs, boolean training,
      PairList<String, Object> params) {
    NDArray rows = lookUp(inputs, training);
    if (observer != null) {
      observer.accept(inputs, rows);
    }
    return new NDList(rows);
  }

  /** Returns the rows of the ids. */
  NDArray lookUp(NDList inputs, boolean training) {
    NDArray ids = inputs.get(0);
    if (source == null) {
      throw new IllegalStateException("DistributedEmbedding of table " + table + " has no trainer: it was not found "
          + "among the children of the model's block, or no FleetTrainer was made for that model; for inference "
          + "attach a RowSource");
    }
    float[] factors = factors(inputs);
    DistinctIds known = step == null ? IdColumns.distinct(ids, columns) : step.distinct(ids, columns);
    float[] values = source.rows(table, dim, known.ids(), training);
    NDManager scope = training && step != null ? step.scope() : ids.getManager();
    NDArray rows = scope.create(outputShape(ids.getShape()), DataType.FLOAT32);
    int n = Math.toIntExact(rows.size());
    FloatBuffer buffer = host.staging(n);
    if (pooling != null) {
      pooling.pool(known, values, dim, factors, buffer);
    } else {
      gather(known, values, buffer);
    }
    rows.set(host.slice(n));
    if (training) {
      rows.setRequiresGradient(true);
      gradients.add(known, factors, rows, counts == 0 ? null : step.clicks(table));
    }
    return rows;
  }

  /** Returns the factors of the rows, one per id; null if the input has none. */
  private float[] factors(NDList inputs) {
    if (inputs.size() > (pooling == null ? 1 : 2)) {
      throw new InvalidInput("DistributedEmbedding of table " + table + " takes ids" + (pooling == null ? "" : " and values")
          + ", but was given " + inputs.size() + " arrays" + (pooling == null ? "; values need optSlots" : ""));
    }
    if (inputs.size() == 1) {
      return null;
    }
    if (!inputs.get(1).getShape().equals(inputs.get(0).getShape())) {
      throw new InvalidInput("DistributedEmbedding of table " + table + ": the values have the shape "
          + inputs.get(1).getShape() + ", but the ids " + inputs.get(0).getShape());
    }
    return IdColumns.some(inputs.get(0), inputs.get(1).toFloatArray(), columns);
  }

  private void gather(DistinctIds known, float[] values, FloatBuffer out) {
    for (int position : known.position()) {
      if (position >= 0) {
        out.put(values, position * dim, dim);
      } else {
        for (int k = 0; k < dim; k++) {
          out.put(0f);
        }
      }
    }
  }

  private Shape outputShape(Shape ids) {
    if (pooling == null) {
      return columns == null ? ids.add(dim) : new Shape(ids.get(0), columns.length, dim);
    }
    if (ids.dimension() != 2 || (columns == null ? ids.get(1) : columns.length) != pooling.columns()) {
      throw new InvalidInput("DistributedEmbedding of table " + table + ": its slots hold " + pooling.columns()
          + " ids together, but the ids have the shape " + ids);
    }
    return new Shape(ids.get(0), pooling.slots(), dim);
  }

  /** Adds the gradients of this step's forward passes to the collector, and clears them. */
  void takeGradients(SparseGradients out) {
    gradients.take(counts, out);
  }

  /** Drops forward passes without a step. */
  void forget() {
    gradients.forget();
  }

  @Override
  public Shape[] getOutputShapes(Shape[] inputShapes) {
    return new Shape[] {outputShape(inputShapes[0])};
  }

  /** Builder of a {@link DistributedEmbedding}; {@code table} and {@code dim} are required. */
  public static final class Builder {

    private String table;
    private int dim;
    private InitializerSpec initializer;
    private OptimizerSpec optimizer;
    private TableLife life = TableLife.NONE;
    private double l2;
    private JobConfig job;
    private int[] columns;
    private int inputIndex = -1;
    private List<Integer> slots;

    private Builder() {}

    /** Sets the name of the table, unique within the job; blocks of the same name share their rows. */
    public Builder setTable(String name) {
      this.table = name;
      return this;
    }

    /** Sets the values per row. */
    public Builder setDim(int values) {
      this.dim = values;
      return this;
    }

    /** Sets the initial values of a row; default: uniform in ±1/sqrt(dim). */
    public Builder optInitializer(InitializerSpec spec) {
      this.initializer = Objects.requireNonNull(spec);
      return this;
    }

    /** Sets the update rule of the rows; default: the job's {@code sparse_optimizer}, or else the TrainingConfig's. */
    public Builder optOptimizer(OptimizerSpec spec) {
      this.optimizer = Objects.requireNonNull(spec);
      return this;
    }

    /**
     * Sets the L2 of the rows, in place of the optimizer's {@code weight_decay}: an update of a row adds this times the row
     * to its gradient. Rows that no batch names stay as they are. Default: 0, the optimizer's.
     */
    public Builder optL2(double lambda) {
      if (!(lambda >= 0)) {
        throw new InvalidInput("DistributedEmbedding: the L2 of rows must be at least 0, not " + lambda);
      }
      this.l2 = lambda;
      return this;
    }

    /** Sets the admission and expiry of rows; default: rows are created at their first pull and stay. */
    public Builder optLife(TableLife spec) {
      this.life = Objects.requireNonNull(spec);
      return this;
    }

    /** Sets the job. If its section for this table gives {@code dim}, that is the block's. */
    public Builder optJob(JobConfig config) {
      this.job = config;
      return this;
    }

    /** Sets the columns of the ids that the block uses, counted from 0; default: all. See {@link SlotEmbeddings}. */
    public Builder optColumns(int... ofIds) {
      if (ofIds.length == 0 || Arrays.stream(ofIds).anyMatch(c -> c < 0)) {
        throw new InvalidInput("DistributedEmbedding: columns " + Arrays.toString(ofIds) + " must be at least one, counted "
            + "from 0");
      }
      this.columns = ofIds.clone();
      return this;
    }

    /**
     * Sets the index of the array with this block's ids in a batch's data, so that the next batch's rows can be pulled
     * in advance. Without it rows are pulled in forward only.
     */
    public Builder optInputIndex(int index) {
      this.inputIndex = index;
      return this;
    }

    /**
     * Sets slots of several ids, each of which becomes the sum over its ids.
     *
     * @param widths id positions of each slot, side by side in the input; {@code Layout.widths()} of a data set
     */
    public Builder optSlots(List<Integer> widths) {
      this.slots = List.copyOf(widths);
      return this;
    }

    public DistributedEmbedding build() {
      return new DistributedEmbedding(this);
    }
  }
}
