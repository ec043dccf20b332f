package io.regatta.snapshot;

import io.regatta.snapshot.safetensors.SafetensorsFile;
import io.regatta.snapshot.safetensors.TensorInfo;
import java.io.IOException;

/** The rows of one table in one shard's file, slice by slice. Owned by the thread that reads the file. */
final class RowSlices {

  private final SafetensorsFile.Cursor ids;
  private final SafetensorsFile.Cursor values;
  private final SafetensorsFile.Cursor slots;
  private final SafetensorsFile.Cursor statistics;
  private final TableLayout table;
  private float[] column = new float[0];
  private long left;

  /** @param idsOnly rows are read without their floats */
  RowSlices(SafetensorsFile file, TableLayout table, boolean idsOnly) {
    this.table = table;
    left = file.tensor(table.ids(), TensorInfo.I64).elements();
    ids = file.read(table.ids(), TensorInfo.I64);
    values = idsOnly ? null : file.read(table.values(), TensorInfo.F32);
    slots = idsOnly || table.slots() == 0 ? null : file.read(table.slotsTensor(), TensorInfo.F32);
    statistics = idsOnly || table.statistics() == 0 ? null : file.read(table.statisticsTensor(), TensorInfo.F32);
  }

  /**
   * Reads the next rows, at most as many as fit.
   *
   * @param rows whole ones, {@link TableLayout#width} floats each; not touched if only ids are read
   * @return how many; 0 at the end
   */
  int next(long[] toIds, float[] rows) throws IOException {
    int n = (int) Math.min(left, toIds.length);
    ids.longs(toIds, 0, n);
    if (values != null) {
      column(values, n, rows, 0, table.dim());
      column(slots, n, rows, table.dim(), table.slotFloats());
      column(statistics, n, rows, table.dim() + table.slotFloats(), table.statistics());
    }
    left -= n;
    return n;
  }

  private void column(SafetensorsFile.Cursor from, int n, float[] rows, int at, int floats) throws IOException {
    if (from == null) {
      return;
    }
    int width = table.width();
    if (floats == width) {
      from.floats(rows, 0, n * width);
      return;
    }
    if (column.length < n * floats) {
      column = new float[n * floats];
    }
    from.floats(column, 0, n * floats);
    for (int i = 0; i < n; i++) {
      System.arraycopy(column, i * floats, rows, i * width + at, floats);
    }
  }
}
