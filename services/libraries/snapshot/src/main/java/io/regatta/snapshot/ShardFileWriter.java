package io.regatta.snapshot;

import io.regatta.core.model.DensePartition;
import io.regatta.snapshot.safetensors.SafetensorsWriter;
import io.regatta.snapshot.safetensors.TensorInfo;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The writer of one shard's state into one safetensors file. Every part of a dense variable has the values
 * ({@code dense/VARIABLE/FIRST}) and the optimizer's state ({@code slot0/VARIABLE/FIRST} ...), where FIRST is the
 * part's first element within the variable. Every table has {@code table/NAME/ids}, {@code /values} {@code [n, dim]},
 * {@code /slots} {@code [n, slots × dim]} and {@code /statistics} if it keeps them, and in a delta {@code /removed}.
 * Everything is written in slices, the parts and the tables in any order. Owned by one thread.
 */
public final class ShardFileWriter implements AutoCloseable {

  /** Rows that are cut into columns at a time. */
  private static final int ROWS = 1024;

  private final SafetensorsWriter file;
  private final List<DensePartition.Part> parts;
  private final ModelLayout layout;
  private final Map<String, SafetensorsWriter.Tensor> tensors = new HashMap<>();
  private final float[] column;

  /**
   * Begins the file.
   *
   * @param layout whose number of shards is that of the files
   * @param rows of each table here
   * @param removed ids of each table that a delta removes; a table may be absent
   */
  public ShardFileWriter(Path path, ModelLayout layout, int shard, Map<String, Long> rows, Map<String, Long> removed,
      Map<String, String> metadata) throws IOException {
    this(FileChannel.open(path, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING,
        StandardOpenOption.WRITE), layout, shard, rows, removed, metadata);
  }

  /** Begins an empty file that is open already, which this closes. */
  ShardFileWriter(FileChannel opened, ModelLayout layout, int shard, Map<String, Long> rows, Map<String, Long> removed,
      Map<String, String> metadata) {
    this.layout = layout;
    parts = layout.partition().partsOf(shard);
    Map<String, Declared> declared = declared(rows, removed);
    column = new float[ROWS * layout.tables().stream().mapToInt(TableLayout::width).max().orElse(0)];
    file = new SafetensorsWriter(opened, SafetensorsWriter.headerBytes(declared.keySet(), metadata), metadata);
    declared.forEach((name, d) -> tensors.put(name, file.tensor(name, d.dtype, d.shape)));
  }

  /** Returns the name of a shard's file. */
  public static String name(int shard, int shards) {
    return String.format(Locale.ROOT, "shard-%05d-of-%05d.safetensors", shard, shards);
  }

  private record Declared(String dtype, List<Long> shape) {}

  /** Returns the tensors, ids first, so that everything lies at multiples of its width. */
  private Map<String, Declared> declared(Map<String, Long> rows, Map<String, Long> removed) {
    Map<String, Declared> all = new LinkedHashMap<>();
    for (TableLayout t : layout.tables()) {
      all.put(t.ids(), new Declared(TensorInfo.I64, List.of(rows.get(t.name()))));
      if (removed.getOrDefault(t.name(), 0L) > 0) {
        all.put(t.removed(), new Declared(TensorInfo.I64, List.of(removed.get(t.name()))));
      }
    }
    for (DensePartition.Part p : parts) {
      for (int slot = -1; slot < layout.slots(); slot++) {
        all.put(ModelLayout.denseTensor(p, slot), new Declared(TensorInfo.F32, List.of((long) p.size())));
      }
    }
    for (TableLayout t : layout.tables()) {
      long n = rows.get(t.name());
      all.put(t.values(), new Declared(TensorInfo.F32, List.of(n, (long) t.dim())));
      if (t.slots() > 0) {
        all.put(t.slotsTensor(), new Declared(TensorInfo.F32, List.of(n, (long) t.slotFloats())));
      }
      if (t.statistics() > 0) {
        all.put(t.statisticsTensor(), new Declared(TensorInfo.F32, List.of(n, (long) t.statistics())));
      }
    }
    return all;
  }

  /**
   * Writes the next elements of the shard's dense vector: {@code values[0 .. n)} are those from {@code from} on.
   *
   * @param slot -1: their values, else the optimizer's state of this slot
   */
  public void dense(int slot, int from, float[] values, int n) throws IOException {
    for (DensePartition.Part p : parts) {
      int first = Math.max(from, p.shardOffset());
      int end = Math.min(from + n, p.shardOffset() + p.size());
      if (first < end) {
        tensors.get(ModelLayout.denseTensor(p, slot)).floats(values, first - from, end - first);
      }
    }
  }

  /** Writes the next elements of one part, from {@code values[from]} on. */
  void part(DensePartition.Part part, int slot, float[] values, int from, int n) throws IOException {
    tensors.get(ModelLayout.denseTensor(part, slot)).floats(values, from, n);
  }

  /** Writes the next rows of a table: {@code n} ids and whole rows, {@link TableLayout#width} floats each. */
  public void rows(String table, long[] ids, float[] rows, int n) throws IOException {
    TableLayout t = layout.table(table);
    tensors.get(t.ids()).longs(ids, 0, n);
    column(t.values(), rows, n, t.width(), 0, t.dim());
    column(t.slotsTensor(), rows, n, t.width(), t.dim(), t.slotFloats());
    column(t.statisticsTensor(), rows, n, t.width(), t.dim() + t.slotFloats(), t.statistics());
  }

  private void column(String name, float[] rows, int n, int width, int at, int floats) throws IOException {
    if (floats == 0) {
      return;
    }
    SafetensorsWriter.Tensor tensor = tensors.get(name);
    if (floats == width) {
      tensor.floats(rows, 0, n * width);
      return;
    }
    for (int done = 0; done < n; ) {
      int part = Math.min(n - done, ROWS);
      for (int i = 0; i < part; i++) {
        System.arraycopy(rows, (done + i) * width + at, column, i * floats, floats);
      }
      tensor.floats(column, 0, part * floats);
      done += part;
    }
  }

  /** Writes the next ids that a delta removes from a table. */
  public void removed(String table, long[] ids, int n) throws IOException {
    if (n > 0) {
      tensors.get(layout.table(table).removed()).longs(ids, 0, n);
    }
  }

  /** Ends the file after everything has been written; it is on disk when this returns. */
  public void finish() throws IOException {
    file.finish();
  }

  @Override
  public void close() throws IOException {
    file.close();
  }
}
