package io.regatta.snapshot;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.file.ConfinedDirectory;
import io.regatta.core.model.DensePartition;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.Sharding;
import io.regatta.core.model.SparsePartition;
import io.regatta.snapshot.safetensors.SafetensorsFile;
import io.regatta.snapshot.safetensors.TensorInfo;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import it.unimi.dsi.fastutil.longs.LongOpenHashSet;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * A reader of a snapshot as one, of any number of files. A delta is read with all that it is relative to: every id
 * once, as its newest member has it. Memory is a slice of rows, the largest dense variable, and of deltas their ids.
 * Owned by one thread.
 */
public final class SnapshotReader implements AutoCloseable {

  /** Floats of a slice of rows. */
  private static final int SLICE_FLOATS = 1 << 16;

  /** Takes rows: {@code n} ids and whole rows, which are valid until it returns. */
  @FunctionalInterface
  public interface RowTaker {
    void take(long[] ids, float[] rows, int n) throws IOException;
  }

  private final List<Snapshots.Found> chain;
  /** Files by member of the chain, oldest first, then by shard. */
  private final List<List<SafetensorsFile>> files = new ArrayList<>();

  private SnapshotReader(List<Snapshots.Found> chain) {
    this.chain = chain;
  }

  /**
   * Opens all files of it. Sizes and headers are checked, the data are not: before the data are served or written
   * elsewhere, call {@link #verify}.
   *
   * @throws InvalidInput naming the file that is missing or damaged
   */
  public static SnapshotReader open(Path dir) throws IOException {
    return open(SnapshotChain.of(dir));
  }

  /** Opens a snapshot that a peer has named. */
  static SnapshotReader open(ConfinedDirectory dir) throws IOException {
    return open(SnapshotChain.of(dir));
  }

  private static SnapshotReader open(List<Snapshots.Found> chain) throws IOException {
    SnapshotReader reader = new SnapshotReader(chain);
    try {
      for (Snapshots.Found member : reader.chain) {
        List<SafetensorsFile> opened = new ArrayList<>();
        reader.files.add(opened);
        for (FileEntry file : member.manifest().files()) {
          opened.add(file.tensors(member.directory()));
        }
      }
      return reader;
    } catch (IOException | RuntimeException e) {
      reader.close();
      throw e;
    }
  }

  /** Returns the manifest of the newest member. */
  public Manifest manifest() {
    return newest().manifest();
  }

  /** Returns the number of contained shrinks of the sparse tables. */
  public long shrinks() {
    return files.get(files.size() - 1).stream()
        .mapToLong(f -> Long.parseLong(f.metadata().getOrDefault(ShardSaver.SHRINKS, "0"))).max().orElse(0);
  }

  /**
   * Reads every byte of all files and compares it with their manifests.
   *
   * @throws InvalidInput naming the damaged file
   */
  public void verify() throws IOException {
    verify(0);
  }

  /** Verifies only the files that are newer than a snapshot that this {@link #follows}. */
  public void verifySince(Snapshots.Found since) throws IOException {
    verify(place(since) + 1);
  }

  private void verify(int from) throws IOException {
    for (Snapshots.Found member : chain.subList(from, chain.size())) {
      SnapshotDirectory.verify(member.directory());
    }
  }

  /**
   * Reads the files that one of a job's shards needs, headers and all, and compares them with their manifests.
   *
   * @throws InvalidInput naming the damaged file
   */
  void check(int shard, ModelLayout job) throws IOException {
    for (int m = 0; m < files.size(); m++) {
      List<FileEntry> needed = new ArrayList<>();
      boolean otherParts = !chain.get(m).manifest().model().partition().parts().equals(job.partition().parts());
      for (int f = 0; f < files.get(m).size(); f++) {
        if (otherParts || isNeeded(chain.get(m), f, shard, job.sharding())) {
          needed.add(chain.get(m).manifest().files().get(f));
        }
      }
      SnapshotDirectory.verify(chain.get(m).directory(), needed);
    }
  }

  /**
   * Returns true if a shard needs a file. A shard's file holds that shard's ids; if the sharding is another, any file
   * may hold them.
   */
  private static boolean isNeeded(Snapshots.Found member, int file, int shard, Sharding sharding) {
    return shard < 0 || file == shard || !member.manifest().model().sharding().equals(sharding);
  }

  /** Reads all rows of a table. */
  public void rows(TableLayout table, RowTaker to) throws IOException {
    rows(table, false, -1, null, to);
  }

  /** Reads the ids of all rows of a table; the taker gets no rows. */
  public void ids(TableLayout table, RowTaker to) throws IOException {
    rows(table, true, -1, null, to);
  }

  /** Reads the rows that one of these shards owns. */
  public void rowsOf(TableLayout table, int shard, Sharding sharding, RowTaker to) throws IOException {
    rows(table, false, shard, sharding, to);
  }

  /** Returns the newest member: the opened snapshot. */
  public Snapshots.Found newest() {
    return chain.get(chain.size() - 1);
  }

  /**
   * Returns true if this is a delta that is relative to the snapshot that another reader had opened, directly or
   * through others.
   */
  public boolean follows(Snapshots.Found snapshot) {
    return place(snapshot) >= 0 && place(snapshot) < chain.size() - 1;
  }

  /**
   * Returns the place of a snapshot in the chain. Path and manifest must agree: a snapshot that replaced another is a
   * different one.
   */
  private int place(Snapshots.Found snapshot) {
    for (int m = 0; m < chain.size(); m++) {
      if (chain.get(m).dir().equals(snapshot.dir()) && chain.get(m).checksum().equals(snapshot.checksum())) {
        return m;
      }
    }
    return -1;
  }

  /**
   * Reads the changes of a table since a snapshot that this {@link #follows}, the older first; an id may come more than
   * once.
   *
   * @param removed takes the ids that have gone, without rows
   */
  public void rowsSince(Snapshots.Found since, TableLayout table, RowTaker to, RowTaker removed) throws IOException {
    for (int m = place(since) + 1; m < chain.size(); m++) {
      for (SafetensorsFile file : files.get(m)) {
        removed(file, table, removed);
        rows(file, table, false, -1, null, new LongOpenHashSet(), false, to);
      }
    }
  }

  /** @param shard whose rows, of this sharding; -1: all */
  private void rows(TableLayout table, boolean idsOnly, int shard, Sharding sharding, RowTaker to) throws IOException {
    LongOpenHashSet newer = new LongOpenHashSet();
    for (int m = chain.size() - 1; m >= 0; m--) {
      List<SafetensorsFile> shardFiles = files.get(m);
      for (int f = 0; f < shardFiles.size(); f++) {
        if (isNeeded(chain.get(m), f, shard, sharding)) {
          rows(shardFiles.get(f), table, idsOnly, shard, sharding, newer, m > 0, to);
        }
      }
    }
  }

  /** @param remember adds the ids to the newer ones, which are skipped in older files */
  private static void rows(SafetensorsFile file, TableLayout table, boolean idsOnly, int shard, Sharding sharding,
      LongOpenHashSet newer, boolean remember, RowTaker to) throws IOException {
    int most = Math.max(1, SLICE_FLOATS / table.width());
    long[] ids = new long[most];
    float[] rows = new float[idsOnly ? 0 : most * table.width()];
    RowSlices slices = new RowSlices(file, table, idsOnly);
    for (int n = slices.next(ids, rows); n > 0; n = slices.next(ids, rows)) {
      int kept = 0;
      for (int i = 0; i < n; i++) {
        boolean ours = shard < 0 || SparsePartition.shardOf(ids[i], sharding) == shard;
        boolean known = !newer.isEmpty() && newer.contains(ids[i]);
        if (ours && !known) {
          if (kept < i && !idsOnly) {
            System.arraycopy(rows, i * table.width(), rows, kept * table.width(), table.width());
          }
          ids[kept++] = ids[i];
        }
      }
      to.take(ids, rows, kept);
      for (int i = 0; remember && i < kept; i++) {
        newer.add(ids[i]);
      }
    }
    if (remember) {
      removed(file, table, (gone, none, n) -> newer.addAll(LongArrayList.wrap(gone, n)));
    }
  }

  /** Reads the ids that have gone since the delta's parent. */
  private static void removed(SafetensorsFile file, TableLayout table, RowTaker to) throws IOException {
    if (!file.has(table.removed())) {
      return;
    }
    long[] ids = new long[SLICE_FLOATS];
    SafetensorsFile.Cursor removed = file.read(table.removed(), TensorInfo.I64);
    for (long left = file.tensor(table.removed(), TensorInfo.I64).elements(); left > 0; ) {
      int n = (int) Math.min(left, ids.length);
      removed.longs(ids, 0, n);
      to.take(ids, null, n);
      left -= n;
    }
  }

  /**
   * Returns a dense variable as a whole.
   *
   * @param slot -1: its values, else the optimizer's state of this slot
   */
  public float[] variable(DenseVariable variable, int slot) throws IOException {
    float[] all = new float[variable.numel()];
    Arrays.fill(all, Float.NaN);
    int found = 0;
    List<SafetensorsFile> newest = files.get(files.size() - 1);
    for (DensePartition.Part p : manifest().model().partition().parts()) {
      if (p.variable().equals(variable.name())) {
        newest.get(p.shard()).read(ModelLayout.denseTensor(p, slot), TensorInfo.F32).floats(all, p.variableOffset(), p.size());
        found += p.size();
      }
    }
    if (found != all.length) {
      throw new InvalidInput("the snapshot " + newest().dir() + " has " + found + " elements of variable "
          + variable.name() + ", not " + all.length);
    }
    return all;
  }

  @Override
  public void close() throws IOException {
    for (List<SafetensorsFile> member : files) {
      for (SafetensorsFile file : member) {
        file.close();
      }
    }
  }
}
