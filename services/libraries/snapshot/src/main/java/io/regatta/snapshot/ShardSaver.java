package io.regatta.snapshot;

import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.OptimizerUpdates;
import io.regatta.core.exchange.SavedTrainer;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.file.ConfinedDirectory;
import io.regatta.core.shard.JobSnapshot;
import io.regatta.core.table.RowWalk;
import io.regatta.core.table.TableSnapshot;
import io.regatta.snapshot.safetensors.SafetensorsFile;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The writer of one shard's file of a snapshot. It fetches slice after slice of a {@link JobSnapshot} from the shard's
 * thread, writes it, syncs the file to disk, and reads it again. Runs on a thread that may block; a failure leaves no
 * file.
 */
public final class ShardSaver {

  /** Floats of a slice of rows: a tenth of a millisecond of the shard's thread. */
  private static final int SLICE_FLOATS = 1 << 16;
  private static final String STATE = "state";
  /** Metadata key: number of the sparse tables' shrinks that are contained. */
  static final String SHRINKS = "shrinks";

  private final JobSnapshot snapshot;
  private final ModelLayout layout;
  private final ShardTurns turns;

  private ShardSaver(JobSnapshot snapshot, ShardTurns turns) {
    this.snapshot = snapshot;
    this.turns = turns;
    layout = ModelLayout.of(snapshot.spec());
  }

  /**
   * Writes it, and ends the snapshot in any outcome.
   *
   * @param dir that the job's first trainer has made
   * @throws IOException if a file cannot be written, or does not hold the bytes that were written to it
   */
  public static FileEntry save(JobSnapshot snapshot, ConfinedDirectory dir, ShardTurns turns) throws IOException {
    String name = ShardFileWriter.name(snapshot.shard(), snapshot.spec().shards());
    boolean saved = false;
    try {
      FileEntry entry = new ShardSaver(snapshot, turns).write(dir, name);
      saved = true;
      return entry;
    } catch (IOException | RuntimeException | Error e) {
      remove(dir, name, e);
      throw e;
    } finally {
      boolean good = saved;
      turns.ask(() -> {
        snapshot.end(good);
        return null;
      });
    }
  }

  /** Removes a file after a failure, whose cause may hinder this, too. */
  private static void remove(ConfinedDirectory dir, String name, Throwable cause) {
    try {
      dir.delete(name);
    } catch (IOException | InvalidInput e) {
      cause.addSuppressed(e);
    }
  }

  private FileEntry write(ConfinedDirectory dir, String name) throws IOException {
    Map<String, Long> rows = new HashMap<>();
    Map<String, Long> removed = new HashMap<>();
    layout.tables().forEach(t -> rows.put(t.name(), 0L));
    List<TableSnapshot> tables = snapshot.tables();
    for (TableSnapshot t : tables) {
      rows.put(t.rows().table(), t.rows().rows());
      removed.put(t.rows().table(), (long) t.removedCount());
    }
    try (ShardFileWriter file = new ShardFileWriter(dir.create(name), layout, snapshot.shard(), rows, removed,
        metadata())) {
      for (TableSnapshot t : tables) {
        rows(t.rows(), file);
        file.removed(t.rows().table(), t.removed(), t.removedCount());
      }
      dense(file);
      file.finish();
    }
    return FileEntry.ofTensors(dir, name);
  }

  private void rows(RowWalk walk, ShardFileWriter file) throws IOException {
    int most = Math.max(walk.leastRoom(), SLICE_FLOATS / walk.width());
    long[] ids = new long[most];
    float[] floats = new float[most * walk.width()];
    for (int n = turns.ask(() -> walk.next(ids, floats)); n > 0; n = turns.ask(() -> walk.next(ids, floats))) {
      file.rows(walk.table(), ids, floats, n);
    }
  }

  private record Block(float[] values, float[][] slots) {}

  private void dense(ShardFileWriter file) throws IOException {
    int size = snapshot.dense().size();
    for (int b = 0; b < DenseValues.blocks(size); b++) {
      int at = b;
      int from = b * DenseValues.BLOCK;
      int n = Math.min(DenseValues.BLOCK, size - from);
      Block block = turns.ask(() -> new Block(snapshot.dense().values(at), snapshot.dense().slots(at)));
      file.dense(-1, from, block.values(), n);
      for (int k = 0; k < block.slots().length; k++) {
        file.dense(k, from, block.slots()[k], n);
      }
      turns.ask(() -> {
        snapshot.dense().releaseUntil(at + 1);
        return null;
      });
    }
  }

  private Map<String, String> metadata() {
    JsonArray trainers = new JsonArray();
    for (SavedTrainer t : snapshot.trainers()) {
      trainers.add(new JsonObject().put("rank", t.rank()).put("incarnation", t.incarnation())
          .put("sequence", t.sequence()).put("clock", t.clock()).put("progress", ProgressJson.of(t.progress()))
          .put("ahead", t.ahead()).put("active", t.active()));
    }
    JsonObject state = new JsonObject().put("version", snapshot.version()).put("step", snapshot.step())
        .put("whole", snapshot.whole()).put("optimizer_updates", ProgressJson.of(snapshot.updates())).put("trainers", trainers);
    return Map.of("job", snapshot.spec().job(), "shard", Integer.toString(snapshot.shard()), STATE, state.encode(),
        SHRINKS, Long.toString(snapshot.shrinks()));
  }

  /**
   * Returns the state of a shard's file beside the parameters: {@code version}, {@code step} (sync: the next round),
   * {@code whole} (no push is contained in part), {@code optimizer_updates} and {@code trainers}. Each trainer has
   * {@code rank}, {@code incarnation}, {@code sequence}, {@code clock}, {@code progress} ({@link ProgressJson}),
   * {@code ahead} (examples of a push that is contained in part) and {@code active} (neither lost nor gone).
   */
  public static JsonObject state(ConfinedDirectory dir, FileEntry file) throws IOException {
    try (SafetensorsFile opened = file.tensors(dir)) {
      return new JsonObject(opened.metadata().getOrDefault(STATE, "{}"));
    }
  }

  /** Returns the progress of one of the {@code trainers} of a {@link #state}. */
  public static TrainerProgress progress(JsonObject trainer) {
    return ProgressJson.read(trainer.getJsonObject("progress"));
  }

  /** Returns the updates of the optimizers that a {@link #state} has. */
  public static OptimizerUpdates updates(JsonObject state) {
    return ProgressJson.updates(state.getJsonObject("optimizer_updates"));
  }
}
