package io.regatta.protocol;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.shard.SparseIds;
import io.regatta.core.shard.SparseRows;
import io.regatta.protocol.stream.TensorFrame;
import io.regatta.protocol.tensor.DType;
import io.regatta.protocol.tensor.TensorMessage;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Puts the chunks of one request or answer together, and trusts none of them: order, offsets, counts, sizes and the
 * announced totals are checked, and memory follows the bytes that have come, not those that are announced. Owned by the
 * loop of its stream.
 */
final class Assembly {
  /** Room is made for so many times what has come, as far as the announced total goes. */
  private static final int GROWTH = 16;
  /** Longest array. */
  private static final int MAX_ELEMENTS = Integer.MAX_VALUE - 8;

  private final TensorMessage first;
  private final int count;
  private final ByteBudget budget;
  private final List<Entry> entries = new ArrayList<>();
  private float[] dense;
  private int denseTotal;
  private int denseFill;
  private int chunks;
  private long bytes;

  /** Rows of one table, in the order in which they come; the same table may have another entry. */
  private static final class Entry {
    final String table;
    final int total;
    final int dim;
    long[] ids = new long[0];
    float[] values = new float[0];
    int fill;

    Entry(String table, int total, int dim) {
      this.table = table;
      this.total = total;
      this.dim = dim;
    }

    long rowBytes() {
      return Long.BYTES + (long) dim * Float.BYTES;
    }

    void room(int rows) {
      if (rows > ids.length) {
        int capacity = capacity(rows, total);
        ids = Arrays.copyOf(ids, capacity);
        values = Arrays.copyOf(values, capacity * dim);
      }
    }
  }

  /**
   * Begins a request or an answer.
   *
   * @param first the header of its first frame, which is to be added like all others
   */
  Assembly(TensorMessage first, ByteBudget budget) {
    this.first = first;
    this.budget = budget;
    count = Math.max(1, first.getChunkCount());
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
    if (h.getKind() != first.getKind() || h.getChunkIndex() != chunks || Math.max(1, h.getChunkCount()) != count) {
      throw wrong(h, "chunk " + chunks + " of " + count + " of a " + first.getKind() + " was expected");
    }
    if (h.getDtype() != DType.FLOAT32) {
      throw wrong(h, "dtype " + h.getDtypeValue() + " is not supported; send FLOAT32 (0)");
    }
    ByteBuffer payload = frame.read();
    if (!h.getTable().isEmpty()) {
      addRows(h, payload);
    } else if (h.getTotal() != 0 || payload.hasRemaining()) {
      addDense(h, payload);
    }
    if (++chunks < count) {
      return false;
    }
    if (denseFill < denseTotal) {
      throw wrong(h, "the dense vector is incomplete: " + denseFill + " of " + denseTotal + " elements");
    }
    checkLastEntry(h);
    return true;
  }

  boolean isComplete() {
    return chunks == count;
  }

  private void addDense(TensorMessage h, ByteBuffer payload) {
    if (dense == null) {
      reserve(h, h.getTotal(), Float.BYTES);
      denseTotal = (int) h.getTotal();
      dense = new float[0];
    }
    int n = payload.remaining() / Float.BYTES;
    if (h.getTotal() != denseTotal || h.getOffset() != denseFill || n > denseTotal - denseFill) {
      throw wrong(h, n + " elements from " + h.getOffset() + " of " + h.getTotal() + " do not continue " + denseFill
          + " of " + denseTotal);
    }
    if (payload.remaining() % Float.BYTES != 0) {
      throw wrong(h, "a payload of " + payload.remaining() + " bytes is no whole number of 4-byte floats");
    }
    if (denseFill + n > dense.length) {
      dense = Arrays.copyOf(dense, capacity(denseFill + n, denseTotal));
    }
    payload.asFloatBuffer().get(dense, denseFill, n);
    denseFill += n;
  }

  private void addRows(TensorMessage h, ByteBuffer payload) {
    int n = h.getRowCount();
    if (h.getDim() < 0 || n < 0) {
      throw wrong(h, "row_count " + n + " and dim " + h.getDim() + " must not be negative");
    }
    if (h.getOffset() == 0) {
      checkLastEntry(h);
      reserve(h, h.getTotal(), Long.BYTES + (long) h.getDim() * Float.BYTES);
      if (h.getTotal() * h.getDim() > MAX_ELEMENTS) {
        throw wrong(h, h.getTotal() + " rows of " + h.getDim() + " floats do not fit one request; send fewer rows");
      }
      entries.add(new Entry(h.getTable(), (int) h.getTotal(), h.getDim()));
    }
    Entry e = entries.isEmpty() ? null : entries.get(entries.size() - 1);
    if (e == null || !e.table.equals(h.getTable()) || h.getDim() != e.dim || h.getTotal() != e.total
        || h.getOffset() != e.fill || n > e.total - e.fill) {
      throw wrong(h, n + " rows of dim " + h.getDim() + " from " + h.getOffset() + " of " + h.getTotal()
          + " do not continue " + (e == null ? "anything; a table starts at offset 0"
          : e.fill + " of " + e.total + " of table '" + e.table + "' with dim " + e.dim));
    }
    if (payload.remaining() != n * e.rowBytes()) {
      throw wrong(h, "the payload has " + payload.remaining() + " bytes, but " + n + " ids and " + n + " rows of "
          + e.dim + " floats take " + n * e.rowBytes());
    }
    e.room(e.fill + n);
    payload.asLongBuffer().get(e.ids, e.fill, n);
    payload.position(payload.position() + n * Long.BYTES);
    payload.slice().order(payload.order()).asFloatBuffer().get(e.values, e.fill * e.dim, n * e.dim);
    e.fill += n;
  }

  private void checkLastEntry(TensorMessage h) {
    if (!entries.isEmpty()) {
      Entry e = entries.get(entries.size() - 1);
      if (e.fill < e.total) {
        throw wrong(h, "table '" + e.table + "' is incomplete: " + e.fill + " of " + e.total + " rows");
      }
    }
  }

  private void reserve(TensorMessage h, long total, long size) {
    // Compared by division first: the product of two numbers from the wire may overflow.
    if (total < 0 || total > MAX_ELEMENTS || total > budget.limit() / size || !budget.take(total * size)) {
      throw wrong(h, "a total of " + total + " elements or rows of " + size + " bytes is negative or exceeds the limit "
          + "of incomplete requests, stream.max_request_bytes = " + budget.limit());
    }
    bytes += total * size;
  }

  /** Gives the budget back what this request has taken of it. */
  void giveBack() {
    budget.giveBack(bytes);
    bytes = 0;
  }

  private static int capacity(int needed, int total) {
    return (int) Math.min(total, (long) GROWTH * needed);
  }

  private static InvalidInput wrong(TensorMessage h, String problem) {
    return new InvalidInput(h.getKind() + " of job '" + h.getJob() + "', rank " + h.getRank() + ", step " + h.getStep()
        + (h.getTable().isEmpty() ? "" : ", table '" + h.getTable() + "'") + ", chunk " + h.getChunkIndex() + " of "
        + h.getChunkCount() + ": " + problem);
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
