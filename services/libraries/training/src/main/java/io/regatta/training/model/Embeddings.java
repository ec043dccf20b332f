package io.regatta.training.model;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import ai.djl.training.dataset.Batch;
import ai.djl.util.Pair;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.reduce.DistinctIds;
import io.regatta.core.reduce.SparseGradients;
import io.regatta.training.dataset.BatchWithIds;
import it.unimi.dsi.fastutil.longs.LongLinkedOpenHashSet;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/** All {@link DistributedEmbedding}s of a model, in the order of its block tree. Used on the model thread only. */
public final class Embeddings implements AutoCloseable {

  /** An array of ids of the next batch, with the distinct ids of some or all of its columns. */
  private record Known(NDArray ids, int[] columns, DistinctIds distinct) {}

  private final List<DistributedEmbedding> blocks = new ArrayList<>();
  private final List<Known> known = new ArrayList<>();
  /** Manager of the current step's rows; null until it has any. */
  private NDManager scope;

  public Embeddings(Block root) {
    collect(root, Collections.newSetFromMap(new IdentityHashMap<>()));
  }

  private void collect(Block block, Set<Block> seen) {
    if (!seen.add(block)) {
      return;
    }
    if (block instanceof DistributedEmbedding e) {
      blocks.add(e);
    }
    for (Pair<String, Block> child : block.getChildren()) {
      collect(child.getValue(), seen);
    }
  }

  public boolean isEmpty() {
    return blocks.isEmpty();
  }

  /** Returns the tables as the program declares them, each once; blocks that share a table must agree on it. */
  public List<SparseTableSpec> tables(OptimizerSpec jobDefault) {
    Map<String, SparseTableSpec> tables = new LinkedHashMap<>();
    for (DistributedEmbedding block : blocks) {
      SparseTableSpec spec = block.spec(jobDefault);
      SparseTableSpec other = tables.putIfAbsent(spec.name(), spec);
      if (other != null && !other.equals(spec)) {
        throw new InvalidInput("two DistributedEmbedding blocks disagree about table " + spec.name() + ": " + other
            + " and " + spec + "; give them the same dim, initializer and optimizer, or different names");
      }
    }
    return List.copyOf(tables.values());
  }

  /** Gives the blocks the tables as the servers got them, which determine the counts of pushed rows. */
  public void told(List<SparseTableSpec> tables) {
    for (DistributedEmbedding block : blocks) {
      tables.stream().filter(t -> t.name().equals(block.table())).forEach(t -> block.counts(t.counts()));
    }
  }

  /**
   * Attaches all blocks to a trainer.
   *
   * @param manager under which the arrays of each step's rows are made
   * @param clicks returns the clicks of the examples in forward, given a table's name for messages
   */
  public void attach(RowSource rows, NDManager manager, Function<String, float[]> clicks) {
    DistributedEmbedding.Step step = new DistributedEmbedding.Step() {
      @Override
      public DistinctIds distinct(NDArray ids, int[] columns) {
        return Embeddings.this.distinct(ids, columns);
      }

      @Override
      public NDManager scope() {
        scope = scope == null ? manager.newSubManager() : scope;
        return scope;
      }

      @Override
      public float[] clicks(String table) {
        return clicks.apply(table);
      }
    };
    blocks.forEach(b -> b.attach(rows, step));
  }

  /** Returns the distinct ids of an array; those of {@link #wish} if it is the same array. */
  private DistinctIds distinct(NDArray ids, int[] columns) {
    DistinctIds same = remembered(ids, columns);
    return same != null ? same : IdColumns.distinct(ids, columns);
  }

  private DistinctIds remembered(NDArray ids, int[] columns) {
    for (Known k : known) {
      if (k.ids() == ids && Arrays.equals(k.columns(), columns)) {
        return k.distinct();
      }
    }
    return null;
  }

  /** Returns the rows that a batch will need, as far as the blocks know the array of its ids. */
  public List<SparseIds> wish(Batch batch) {
    known.clear();
    Map<String, LongLinkedOpenHashSet> more = new LinkedHashMap<>();
    Map<String, long[]> tables = new LinkedHashMap<>();
    for (DistributedEmbedding block : blocks) {
      int input = block.inputIndex();
      if (input < 0) {
        continue;
      }
      if (input >= batch.getData().size()) {
        throw new InvalidInput("DistributedEmbedding of table " + block.table() + ": inputIndex is " + input
            + ", but a batch has " + batch.getData().size() + " arrays");
      }
      DistinctIds ids = remember(batch, batch.getData().get(input), block.columns());
      long[] first = tables.putIfAbsent(block.table(), ids.ids());
      if (first != null && first != ids.ids()) {
        LongLinkedOpenHashSet union =
            more.computeIfAbsent(block.table(), t -> new LongLinkedOpenHashSet(first));
        for (long id : ids.ids()) {
          union.add(id);
        }
      }
    }
    more.forEach((table, ids) -> tables.put(table, ids.toLongArray()));
    List<SparseIds> wish = new ArrayList<>(tables.size());
    tables.forEach((table, ids) -> wish.add(new SparseIds(table, ids)));
    return wish;
  }

  private DistinctIds remember(Batch batch, NDArray ids, int[] columns) {
    DistinctIds distinct = remembered(ids, columns);
    if (distinct == null) {
      DistinctIds read = columns == null && batch instanceof BatchWithIds b ? b.distinct(ids) : null;
      distinct = read != null ? read : IdColumns.distinct(ids, columns);
      known.add(new Known(ids, columns, distinct));
    }
    return distinct;
  }

  /** Returns the gradients of the step that ends. */
  public List<SparseRows> takeGradients() {
    SparseGradients sums = new SparseGradients();
    blocks.forEach(b -> b.takeGradients(sums));
    return sums.toRows();
  }

  /**
   * Begins the next step: drops forward passes without a step, and the arrays of the last step's rows. This cannot
   * happen at the end of that step, because its outputs and loss may be read after it.
   */
  public void begins() {
    blocks.forEach(DistributedEmbedding::forget);
    close();
  }

  /** Releases the arrays of the last step's rows. */
  @Override
  public void close() {
    if (scope != null) {
      scope.close();
      scope = null;
    }
  }
}
