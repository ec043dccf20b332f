package io.regatta.protocol;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.shard.SparseIds;
import io.regatta.core.shard.SparseRows;
import io.regatta.protocol.stream.TensorFrame;
import io.regatta.protocol.tensor.DType;
import io.regatta.protocol.tensor.TensorMessage;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/**
 * Puts the chunks of one request or answer together, and trusts none of them: order, offsets, counts, sizes and the
 * total are checked before anything is allocated or copied. Owned by the loop of its stream.
 */
final class Assembly {
  private final long maxBytes;
  private final TensorMessage first;
  private final List<Entry> entries = new ArrayList<>();
  private float[] dense;
  private int denseFill;
  private int chunks;
  private long bytes;

  private static final class Entry {
    final String table;
    final long[] ids;
    final float[] values;
    final int dim;
    int fill;

    Entry(String table, int rows, int dim) {
      this.table = table;
      this.dim = dim;
      ids = new long[rows];
      values = new float[Math.multiplyExact(rows, dim)];
    }
  }

  Assembly(TensorMessage first, long maxBytes) {
    this.first = first;
    this.maxBytes = maxBytes;
  }

  /** The first chunk's header, with the fields that only it carries. */
  TensorMessage first() {
    return first;
  }

  /**
   * Adds the next chunk.
   *
   * @return true when it was the last one
   * @throws InvalidInput if it does not fit
   */
  boolean add(TensorFrame frame) {
    TensorMessage h = frame.header();
    int count = Math.max(1, first.getChunkCount());
    check(h, h.getChunkIndex() == chunks && Math.max(1, h.getChunkCount()) == count,
        "chunk " + chunks + " of " + count + " was expected");
    check(h, h.getDtype() == DType.FLOAT32, "dtype " + h.getDtypeValue() + " is not supported; send FLOAT32");
    ByteBuffer payload = frame.read();
    if (!h.getTable().isEmpty()) {
      addRows(h, payload);
    } else if (h.getTotal() > 0 || payload.hasRemaining()) {
      addDense(h, payload);
    }
    chunks++;
    if (chunks < count) {
      return false;
    }
    check(h, dense == null || denseFill == dense.length, "the dense vector is incomplete: " + denseFill + " of "
        + (dense == null ? 0 : dense.length) + " elements");
    checkLastEntry(h);
    return true;
  }

  private void addDense(TensorMessage h, ByteBuffer payload) {
    if (dense == null) {
      reserve(h, h.getTotal(), Float.BYTES);
      dense = new float[(int) h.getTotal()];
    }
    int n = payload.remaining() / Float.BYTES;
    check(h, h.getTotal() == dense.length && h.getOffset() == denseFill && payload.remaining() % Float.BYTES == 0
        && denseFill + n <= dense.length, "elements " + h.getOffset() + ".." + (h.getOffset() + n) + " of "
        + h.getTotal() + " do not follow " + denseFill + " of " + dense.length);
    payload.asFloatBuffer().get(dense, denseFill, n);
    denseFill += n;
  }

  private void addRows(TensorMessage h, ByteBuffer payload) {
    check(h, h.getDim() >= 0 && h.getRowCount() >= 0, "row_count and dim must not be negative");
    if (h.getOffset() == 0) {
      checkLastEntry(h);
      reserve(h, h.getTotal(), Long.BYTES + (long) h.getDim() * Float.BYTES);
      entries.add(new Entry(h.getTable(), (int) h.getTotal(), h.getDim()));
    }
    check(h, !entries.isEmpty(), "the first chunk of a table starts at offset 0");
    Entry e = entries.get(entries.size() - 1);
    int n = h.getRowCount();
    long size = n * (Long.BYTES + (long) e.dim * Float.BYTES);
    check(h, e.table.equals(h.getTable()) && h.getDim() == e.dim && h.getTotal() == e.ids.length
        && h.getOffset() == e.fill && n <= e.ids.length - e.fill, "rows " + h.getOffset() + ".."
        + (h.getOffset() + n) + " of " + h.getTotal() + " (dim " + h.getDim() + ") do not follow " + e.fill + " of "
        + e.ids.length + " of table '" + e.table + "' (dim " + e.dim + ")");
    check(h, payload.remaining() == size, "the payload has " + payload.remaining() + " bytes, but " + n
        + " ids and rows of dim " + e.dim + " take " + size);
    payload.asLongBuffer().get(e.ids, e.fill, n);
    payload.position(payload.position() + n * Long.BYTES);
    payload.slice().order(payload.order()).asFloatBuffer().get(e.values, e.fill * e.dim, n * e.dim);
    e.fill += n;
  }

  private void checkLastEntry(TensorMessage h) {
    if (!entries.isEmpty()) {
      Entry e = entries.get(entries.size() - 1);
      check(h, e.fill == e.ids.length, "table '" + e.table + "' is incomplete: " + e.fill + " of " + e.ids.length
          + " rows");
    }
  }

  private void reserve(TensorMessage h, long count, long size) {
    check(h, count >= 0 && count <= Integer.MAX_VALUE - 8 && count * size <= maxBytes - bytes, "a total of " + count
        + " elements or rows of " + size + " bytes exceeds stream.max_request_bytes = " + maxBytes);
    bytes += count * size;
  }

  private void check(TensorMessage h, boolean condition, String problem) {
    if (!condition) {
      throw new InvalidInput(h.getKind() + " of job '" + h.getJob() + "', rank " + h.getRank() + ", step " + h.getStep()
          + ", table '" + h.getTable() + "', chunk " + h.getChunkIndex() + " of " + h.getChunkCount() + ": " + problem);
    }
  }

  /** The dense vector, or null if there was none; {@code dense_wanted} tells an empty one from none. */
  float[] dense() {
    return dense == null && first.getDenseWanted() ? new float[0] : dense;
  }

  /** The entries as rows with values. */
  List<SparseRows> rows() {
    return entries.stream().map(e -> new SparseRows(e.table, e.ids, e.values)).toList();
  }

  /** The entries as wishes. */
  List<SparseIds> ids() {
    return entries.stream().map(e -> new SparseIds(e.table, e.ids)).toList();
  }
}
