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
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.strategy.push.Rows;
import java.nio.FloatBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;

/**
 * A DJL block over a sparse table of the servers: forward pulls the rows of the ids, {@link FleetTrainer#step} pushes
 * their gradients, summed over repeated ids. Input: one array {@code [batch, slots]} (or {@code [batch]}) of int64 or
 * int32 ids, any value but -1 ({@link DistinctIds#PADDING}), which stands for no id: zeros, and no gradient. Output:
 * {@code [batch, slots, dim]} float32. With {@link Builder#optSlots} a slot holds several ids and is the sum of their rows:
 * the input is {@code [batch, columns]}, if need be with a second array of that shape, float32, the factor of each row.
 * With {@link Builder#optColumns} the block looks at some columns of the input only.
 * Has no DJL parameters: the rows live on the servers. Used on its trainer's model thread; it must be reachable from the
 * model's block through {@code getChildren()}, which is how the trainer finds it.
 */
public final class DistributedEmbedding extends AbstractBlock {

  /** What a trainer lends the block. */
  interface Step {

    /** The distinct ids of some columns of an array, or of all (null), perhaps known from the prefetch. */
    DistinctIds distinct(NDArray ids, int[] columns);

    /** The manager of the current step, which the trainer closes when the next one begins. */
    NDManager scope();

    /** Clicks of the batch that is in forward, one of each example. */
    float[] clicks(String table);
  }

  private final String table;
  private final int dim;
  private final InitializerSpec initializer;
  private final OptimizerSpec optimizer;
  private final TableLife life;
  private final int inputIndex;
  /** Which columns of the ids; null for all. */
  private final int[] columns;
  /** Null: each place of the input is a slot. */
  private final SlotPooling pooling;
  private final HostCopy host = new HostCopy();
  private final RowGradients gradients;
  private RowSource source;
  /** Null without a trainer. */
  private Step step;
  /** Counts behind the gradient of a pushed row. */
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
    columns = b.columns;
    inputIndex = b.inputIndex;
    pooling = b.slots == null ? null : new SlotPooling(b.slots);
    gradients = new RowGradients(table, dim, pooling, host);
  }

  public static Builder builder() {
    return new Builder();
  }

  /** Name of the sparse table. */
  public String table() {
    return table;
  }

  /** Values per row. */
  public int dim() {
    return dim;
  }

  /** Which array of a batch's data holds the ids; -1: not known, rows are pulled in forward only. */
  public int inputIndex() {
    return inputIndex;
  }

  /** Rows that an example's output has, as far as the block was told; 0 if it takes whatever columns come. */
  public int slots() {
    return pooling != null ? pooling.slots() : columns == null ? 0 : columns.length;
  }

  /** Which columns of the ids; null for all. */
  int[] columns() {
    return columns;
  }

  /** The table as the program says. */
  public SparseTableSpec spec(OptimizerSpec jobDefault) {
    return new SparseTableSpec(table, dim, initializer, optimizer == null ? jobDefault : optimizer, life);
  }

  /** Where rows come from when no trainer is attached, for inference. A trainer attaches itself. */
  public void attach(RowSource rows) {
    attach(rows, null);
  }

  /** A trainer takes the block over. */
  void attach(RowSource rows, Step trainers) {
    source = rows;
    step = trainers;
  }

  /** The table as the servers are told: from now on a pushed row has so many counts. */
  void counts(int perRow) {
    counts = perRow;
  }

  @Override
  protected NDList forwardInternal(ParameterStore parameterStore, NDList inputs, boolean training,
      PairList<String, Object> params) {
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
    return new NDList(rows);
  }

  /** The factors of the rows, one for each id; null where the input has none. */
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

  /** Hands the gradients of this step's forward passes to the collector, and forgets them. */
  void takeGradients(SparseGradients out) {
    gradients.take(counts, out);
  }

  /** Forgets forward passes that no step followed. */
  void forget() {
    gradients.forget();
  }

  @Override
  public Shape[] getOutputShapes(Shape[] inputShapes) {
    return new Shape[] {outputShape(inputShapes[0])};
  }

  /** Builder of a {@link DistributedEmbedding}; {@code table} and {@code dim} are needed. */
  public static final class Builder {

    private String table;
    private int dim;
    private InitializerSpec initializer;
    private OptimizerSpec optimizer;
    private TableLife life = TableLife.NONE;
    private JobConfig job;
    private int[] columns;
    private int inputIndex = -1;
    private List<Integer> slots;

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
      this.initializer = Objects.requireNonNull(spec);
      return this;
    }

    /** Update rule of the rows; default: the job's {@code sparse_optimizer}, or else the TrainingConfig's. */
    public Builder optOptimizer(OptimizerSpec spec) {
      this.optimizer = Objects.requireNonNull(spec);
      return this;
    }

    /** How rows come and go; default: they are born and stay. */
    public Builder optLife(TableLife spec) {
      this.life = Objects.requireNonNull(spec);
      return this;
    }

    /** The job, whose section for this table may give {@code dim}: where it does, that is the block's. */
    public Builder optJob(JobConfig config) {
      this.job = config;
      return this;
    }

    /** Which columns of the ids the block looks at, counted from 0; default: all. See {@link SlotEmbeddings}. */
    public Builder optColumns(int... ofIds) {
      if (ofIds.length == 0 || Arrays.stream(ofIds).anyMatch(c -> c < 0)) {
        throw new InvalidInput("DistributedEmbedding: columns " + Arrays.toString(ofIds) + " must be at least one, counted "
            + "from 0");
      }
      this.columns = ofIds.clone();
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

    /**
     * Slots of several ids, each of which becomes the sum over its ids.
     *
     * @param widths places for ids in each slot, side by side in the input; {@code Layout.widths()} of a data set
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
