package io.regatta.snapshot;

import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.OptimizerUpdates;
import io.regatta.core.exchange.ResumePoint;
import io.regatta.core.file.ConfinedDirectory;
import io.regatta.core.model.DensePartition;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.SparsePartition;
import io.regatta.core.optim.Optimizer.Slot;
import io.regatta.core.shard.JobRestore;
import java.io.IOException;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The restorer of one shard from a snapshot of any number of shards: it reads what the shard owns, checks it, and puts
 * it into the shard slice by slice. Runs on a thread that may block.
 */
public final class ShardRestorer {

  /** Rows of a slice: each lies anywhere in the table, so this is a millisecond of the shard's thread. */
  private static final int SLICE_ROWS = 2048;

  private final JobRestore into;
  private final JobSpec spec;
  private final ModelLayout job;
  private final ShardTurns turns;
  private final boolean resume;

  private ShardRestorer(JobRestore into, boolean resume, ShardTurns turns) {
    this.into = into;
    this.resume = resume;
    this.turns = turns;
    spec = into.spec();
    job = ModelLayout.of(spec);
  }

  /**
   * Restores one shard.
   *
   * @param resume the run resumes: everything must be as it was. Otherwise another run begins with these values, and
   *     with the optimizer's state if the optimizer is the same; tables that the snapshot lacks begin empty
   * @param at place of the run
   * @return whether the dense vector is there now; Paddle's tables have none, and it is still to be initialized
   * @throws InvalidInput if the snapshot is damaged, or another model's; then the job is broken on this shard, unless
   *     it has begun meanwhile
   */
  public static boolean restore(JobRestore into, ConfinedDirectory dir, boolean resume, ResumePoint at,
      ShardTurns turns) throws IOException {
    ShardRestorer restorer = new ShardRestorer(into, resume, turns);
    try {
      if (!resume && PaddleTables.isThere(dir)) {
        restorer.readPaddle(PaddleTables.in(dir), dir);
        return false;
      }
      try (SnapshotReader in = SnapshotReader.open(dir)) {
        restorer.checkModel(in.manifest().model(), dir);
        in.check(into.shard(), restorer.job);
        restorer.read(in, at);
        return true;
      }
    } catch (IOException | RuntimeException | Error e) {
      turns.ask(() -> {
        into.fail(e);
        return null;
      });
      throw e;
    }
  }

  private void checkModel(ModelLayout saved, ConfinedDirectory dir) {
    String difference = saved.difference(job, resume);
    if (difference != null) {
      throw new InvalidInput("snapshot " + dir + " does not fit job " + spec.job() + ": it has " + difference + (resume
          ? "; train the same model with the same optimizer, or begin anew from it with init_from"
          : "; give the job the settings (settings, tables) that it was trained with, or leave init_from out"));
    }
  }

  private void readPaddle(PaddleTables in, ConfinedDirectory dir) throws IOException {
    boolean any = false;
    for (TableLayout t : job.tables()) {
      if (in.names().contains(t.name())) {
        any = true;
        in.values(t.name(), t.dim(), (ids, values, n) -> ownValues(t, ids, values, n));
      }
    }
    if (!any) {
      throw new InvalidInput(dir + " holds Paddle's tables " + in.names() + ", of which job " + spec.job() + " has none; it has "
          + job.tables().stream().map(TableLayout::name).toList());
    }
  }

  private void ownValues(TableLayout t, long[] ids, float[] values, int n) throws IOException {
    long[] own = new long[n];
    float[] its = new float[n * t.dim()];
    int kept = 0;
    for (int i = 0; i < n; i++) {
      if (SparsePartition.shardOf(ids[i], spec.sharding()) == into.shard()) {
        own[kept] = ids[i];
        System.arraycopy(values, i * t.dim(), its, kept * t.dim(), t.dim());
        kept++;
      }
    }
    int rows = kept;
    turns.ask(() -> {
      into.values(t.name(), own, its, rows);
      return null;
    });
  }

  private void read(SnapshotReader in, ResumePoint place) throws IOException {
    for (TableLayout t : job.tables()) {
      TableLayout old = in.manifest().model().tables().stream().filter(o -> o.name().equals(t.name())).findFirst().orElse(null);
      if (old != null) {
        rows(in, old, t);
      }
    }
    DensePartition partition = job.partition();
    int size = partition.sizeOf(into.shard());
    float[][] values = blocks(size);
    float[][][] slots = new float[values.length][job.slots()][];
    List<Slot> kept = spec.model().denseOptimizer().optimizer().slots();
    for (int b = 0; b < values.length; b++) {
      for (int k = 0; k < job.slots(); k++) {
        slots[b][k] = new float[values[b].length];
        Arrays.fill(slots[b][k], kept.get(k).initial());
      }
    }
    boolean sameOptimizer = in.manifest().model().optimizer().equals(job.optimizer());
    List<DensePartition.Part> parts = partition.partsOf(into.shard());
    for (DenseVariable v : job.dense()) {
      List<DensePartition.Part> its = parts.stream().filter(p -> p.variable().equals(v.name())).toList();
      for (int slot = -1; !its.isEmpty() && slot < (sameOptimizer ? job.slots() : 0); slot++) {
        float[] all = in.variable(v, slot);
        for (DensePartition.Part p : its) {
          for (int i = 0; i < p.size(); i++) {
            int at = p.shardOffset() + i;
            float[] block = slot < 0 ? values[at / DenseValues.BLOCK] : slots[at / DenseValues.BLOCK][slot];
            block[at % DenseValues.BLOCK] = all[p.variableOffset() + i];
          }
        }
      }
    }
    turns.ask(() -> {
      if (resume) {
        into.shrinks(in.shrinks());
      }
      into.finish(values, slots, in.manifest().version(), updates(in.manifest(), sameOptimizer), place);
      return null;
    });
  }

  /**
   * Returns the optimizers' updates. An optimizer other than the snapshot's begins with fresh slots, and so with no
   * updates.
   */
  private OptimizerUpdates updates(Manifest from, boolean sameDense) {
    Map<String, Long> tables = new LinkedHashMap<>();
    job.tables().forEach(t -> tables.put(t.name(), from.model().tables().contains(t) ? from.updates().table(t.name()) : 0L));
    return new OptimizerUpdates(sameDense ? from.updates().dense() : 0, tables);
  }

  private static float[][] blocks(int size) {
    float[][] blocks = new float[DenseValues.blocks(size)][];
    for (int b = 0; b < blocks.length; b++) {
      blocks[b] = new float[Math.min(DenseValues.BLOCK, size - b * DenseValues.BLOCK)];
    }
    return blocks;
  }

  /** Restores rows. Slices as they are read are larger than a time slice of the shard has room for. */
  private void rows(SnapshotReader in, TableLayout old, TableLayout t) throws IOException {
    boolean same = old.equals(t);
    in.rowsOf(old, into.shard(), spec.sharding(), (ids, rows, n) -> {
      for (int from = 0; from < n; from += SLICE_ROWS) {
        int part = Math.min(SLICE_ROWS, n - from);
        long[] someIds = Arrays.copyOfRange(ids, from, from + part);
        float[] some = same ? Arrays.copyOfRange(rows, from * t.width(), (from + part) * t.width())
            : values(rows, from, part, old.width(), t.dim());
        turns.ask(() -> {
          if (same) {
            into.rows(t.name(), someIds, some, part);
          } else {
            into.values(t.name(), someIds, some, part);
          }
          return null;
        });
      }
    });
  }

  private static float[] values(float[] rows, int from, int n, int width, int dim) {
    float[] values = new float[n * dim];
    for (int i = 0; i < n; i++) {
      System.arraycopy(rows, (from + i) * width, values, i * dim, dim);
    }
    return values;
  }
}
