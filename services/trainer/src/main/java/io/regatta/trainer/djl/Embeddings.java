package io.regatta.trainer.djl;

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
import io.regatta.trainer.data.BatchWithIds;
import it.unimi.dsi.fastutil.longs.LongLinkedOpenHashSet;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/** All {@link DistributedEmbedding}s of a model, in the order in which its block tree holds them. Model thread only. */
final class Embeddings {

  /** An array of ids of the next batch, with its distinct ones. */
  private record Known(NDArray ids, DistinctIds distinct) {}

  private final List<DistributedEmbedding> blocks = new ArrayList<>();
  private final List<Known> known = new ArrayList<>();

  Embeddings(Block root) {
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

  boolean isEmpty() {
    return blocks.isEmpty();
  }

  /** The tables, each once; blocks that share one must agree on it. */
  List<SparseTableSpec> tables(OptimizerSpec jobDefault) {
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

  /** Makes the rows' source known to all blocks. */
  void attach(RowSource rows, Supplier<NDManager> stepScope) {
    blocks.forEach(b -> b.attach(rows, this::distinct, stepScope));
  }

  /** The distinct ids of an array; remembered from {@link #wish} if it is the same one. */
  private DistinctIds distinct(NDArray ids) {
    for (Known k : known) {
      if (k.ids() == ids) {
        return k.distinct();
      }
    }
    return DistinctIds.of(DistributedEmbedding.longs(ids));
  }

  /** The rows that a batch will need, as far as the blocks know where its ids are. */
  List<SparseIds> wish(Batch batch) {
    known.clear();
    Map<Integer, DistinctIds> byInput = new LinkedHashMap<>();
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
      DistinctIds ids =
          byInput.computeIfAbsent(input, i -> remember(batch, batch.getData().get(i)));
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

  private DistinctIds remember(Batch batch, NDArray ids) {
    DistinctIds read = batch instanceof BatchWithIds b ? b.distinct(ids) : null;
    DistinctIds distinct = read != null ? read : DistinctIds.of(DistributedEmbedding.longs(ids));
    known.add(new Known(ids, distinct));
    return distinct;
  }

  /** The gradients of the step that ends. */
  List<SparseRows> takeGradients() {
    SparseGradients sums = new SparseGradients();
    blocks.forEach(b -> b.takeGradients(sums));
    return sums.toRows();
  }

  /** Drops forward passes that no step followed. */
  void forget() {
    blocks.forEach(DistributedEmbedding::forget);
  }
}
