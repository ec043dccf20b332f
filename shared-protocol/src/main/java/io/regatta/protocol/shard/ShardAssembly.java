package io.regatta.protocol.shard;

import io.netty.buffer.ByteBuf;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.DenseSink;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.memory.HeapBudget;
import io.regatta.protocol.stream.frame.Elements;
import io.regatta.protocol.stream.request.Assembly;
import io.regatta.protocol.stream.request.ByteBudget;
import io.regatta.protocol.tensor.DType;
import io.regatta.protocol.tensor.DenseSlice;
import io.regatta.protocol.tensor.RowSlice;
import io.regatta.protocol.tensor.TensorMessage;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** The assembly of one request to a shard, or of its answer: a dense vector and sparse rows. Owned by the loop of its stream. */
final class ShardAssembly extends Assembly {
  /** Factor by which the room may exceed what has arrived, up to the announced total. */
  private static final int GROWTH = 16;
  /** Longest array. */
  private static final int MAX_ELEMENTS = Integer.MAX_VALUE - 8;

  private final List<Entry> entries = new ArrayList<>();
  private final Elements elements = new Elements();
  private TensorMessage chunk;
  private final DenseTaker taker;
  /** Null until its first element arrives. */
  private DenseSink dense;
  private boolean denseBegun;
  private int denseTotal;
  private int denseFill;
  /** Null if another object watches the heap. */
  private final HeapBudget heap;
  private long heapBytes;
  /** True if everything that arrives is discarded. */
  private final boolean discards;

  /** The supplier of memory for a dense vector. */
  interface DenseTaker {
    /** Returns the memory; called before the first of {@code total} elements. */
    DenseSink begin(ShardAssembly of, int total);
  }

  /** Rows of one table, in the order in which they come; the same table may have another entry. */
  private static final class Entry {
    final String table;
    final int total;
    final int dim;
    final int counts;
    long[] ids = new long[0];
    float[] values = new float[0];
    int idFill;
    int valueFill;
    /** Bytes of ids left in the current chunk's payload, where the ids precede their values. */
    int idBytesLeft;

    Entry(String table, int total, int dim, int counts) {
      this.counts = counts;
      this.table = table;
      this.total = total;
      this.dim = dim;
    }

    long rowBytes() {
      return Long.BYTES + (long) dim * Float.BYTES;
    }

    void payload(ByteBuf bytes, Elements elements) {
      if (idBytesLeft > 0) {
        ByteBuf part = bytes.readSlice(Math.min(idBytesLeft, bytes.readableBytes()));
        idBytesLeft -= part.readableBytes();
        int needed = idFill + elements.whole(part, Long.BYTES);
        if (needed > ids.length) {
          ids = Arrays.copyOf(ids, capacity(needed, total));
        }
        idFill += elements.longs(part, ids, idFill);
      }
      if (bytes.isReadable()) {
        int needed = valueFill + elements.whole(bytes, Float.BYTES);
        if (needed > values.length) {
          values = Arrays.copyOf(values, capacity(needed + 2L * idFill, total * dim)); // an id is as long as two floats
        }
        valueFill += elements.floats(bytes, values, valueFill);
      }
    }
  }

  /**
   * Begins a request or an answer.
   *
   * @param first the header of its first frame, which is to be added like all others
   * @param taker of its dense vector, if there is one
   */
  ShardAssembly(TensorMessage first, ByteBudget budget, DenseTaker taker) {
    this(first, budget, null, taker);
  }

  /**
   * Begins a request of which what is kept here counts in the budget of the heap, too.
   *
   * @param heap that {@link #giveBackHeap} gives back to; null: not counted
   */
  ShardAssembly(TensorMessage first, ByteBudget budget, HeapBudget heap, DenseTaker taker) {
    this(first, budget, heap, taker, false);
  }

  /** Begins a request that is checked as all are, but of which nobody needs more than its header. */
  static ShardAssembly discarding(TensorMessage first) {
    return new ShardAssembly(first, new ByteBudget(Long.MAX_VALUE), null, null, true);
  }

  private ShardAssembly(TensorMessage first, ByteBudget budget, HeapBudget heap, DenseTaker taker, boolean discards) {
    super(first, budget);
    this.discards = discards;
    this.heap = heap;
    this.taker = taker;
  }

  @Override
  protected boolean isContinuedBy(TensorMessage h, int index) {
    return h.getBodyCase() == first().getBodyCase();
  }

  @Override
  protected void beginSlice(TensorMessage h, int payloadBytes) {
    chunk = h;
    switch (h.getSliceCase()) {
      case ROWS -> beginRows(h, h.getRows(), payloadBytes);
      case DENSE -> beginDense(h, h.getDense(), payloadBytes);
      default -> {
        if (payloadBytes > 0) {
          throw wrong(h, "a payload of " + payloadBytes + " bytes comes without `dense` or `rows`, which say what it holds");
        }
      }
    }
  }

  private void checkDtype(TensorMessage h, int dtype) {
    if (dtype != DType.FLOAT32_VALUE) {
      throw wrong(h, "dtype " + dtype + " is not supported; send FLOAT32 (0)");
    }
  }

  @Override
  public void payload(ByteBuf bytes) {
    if (discards) {
      bytes.skipBytes(bytes.readableBytes());
      return;
    }
    if (chunk.hasRows()) {
      entries.get(entries.size() - 1).payload(bytes, elements);
      return;
    }
    denseFill += elements.floats(bytes, dense);
  }

  @Override
  protected void checkWhole() {
    if (denseFill < denseTotal) {
      throw wrong(chunk, "the dense vector is incomplete: " + denseFill + " of " + denseTotal + " elements");
    }
    checkLastEntry(chunk);
  }

  private void beginDense(TensorMessage h, DenseSlice slice, int payloadBytes) {
    checkDtype(h, slice.getDtypeValue());
    if (payloadBytes % Float.BYTES != 0) {
      throw wrong(h, "a payload of " + payloadBytes + " bytes is no whole number of 4-byte floats");
    }
    if (!denseBegun) {
      checkLastEntry(h); // who takes the dense vector is told of the rows before it
      reserve(h, slice.getTotal(), Float.BYTES);
      denseTotal = (int) slice.getTotal();
      dense = discards || denseTotal == 0 ? null : taker.begin(this, denseTotal);
      denseBegun = true;
    }
    int n = payloadBytes / Float.BYTES;
    if (slice.getTotal() != denseTotal || slice.getOffset() != denseFill || n > denseTotal - denseFill) {
      throw wrong(h, n + " elements from " + slice.getOffset() + " of " + slice.getTotal() + " do not continue " + denseFill
          + " of " + denseTotal);
    }
    denseFill += discards ? n : 0;
  }

  private void beginRows(TensorMessage h, RowSlice s, int payloadBytes) {
    checkDtype(h, s.getDtypeValue());
    int n = s.getRowCount();
    if (s.getTable().isEmpty()) {
      throw wrong(h, "rows come without the name of their table");
    }
    if (s.getDim() < 0 || n < 0 || s.getCounts() < 0 || s.getCounts() > s.getDim()) {
      throw wrong(h, "row_count " + n + ", dim " + s.getDim() + " and counts " + s.getCounts()
          + " must not be negative, and counts not above dim");
    }
    if (s.getOffset() == 0) {
      checkLastEntry(h);
      reserve(h, s.getTotal(), Long.BYTES + (long) s.getDim() * Float.BYTES);
      if (s.getTotal() * s.getDim() > MAX_ELEMENTS) {
        throw wrong(h, s.getTotal() + " rows of " + s.getDim() + " floats do not fit one request; send fewer rows");
      }
      keep(s.getTotal() * (Long.BYTES + (long) s.getDim() * Float.BYTES));
      entries.add(new Entry(s.getTable(), (int) s.getTotal(), s.getDim(), s.getCounts()));
    }
    Entry e = entries.isEmpty() ? null : entries.get(entries.size() - 1);
    if (e == null || !e.table.equals(s.getTable()) || s.getDim() != e.dim || s.getCounts() != e.counts || s.getTotal() != e.total
        || s.getOffset() != e.idFill || n > e.total - e.idFill) {
      throw wrong(h, n + " rows of dim " + s.getDim() + " from " + s.getOffset() + " of " + s.getTotal()
          + " do not continue " + (e == null ? "anything; a table starts at offset 0"
          : e.idFill + " of " + e.total + " of table '" + e.table + "' with dim " + e.dim));
    }
    if (payloadBytes != n * e.rowBytes()) {
      throw wrong(h, "the payload has " + payloadBytes + " bytes, but " + n + " ids and " + n + " rows of "
          + e.dim + " floats take " + n * e.rowBytes());
    }
    e.idBytesLeft = n * Long.BYTES;
    e.idFill += discards ? n : 0;
  }

  private void checkLastEntry(TensorMessage h) {
    if (!entries.isEmpty()) {
      Entry e = entries.get(entries.size() - 1);
      if (e.idFill < e.total) {
        throw wrong(h, "table '" + e.table + "' is incomplete: " + e.idFill + " of " + e.total + " rows");
      }
    }
  }

  private void reserve(TensorMessage h, long total, long size) {
    // Compared by division first: the product of two numbers from the wire may overflow.
    if (total < 0 || total > MAX_ELEMENTS || total > limit() / size || !take(total * size)) {
      throw wrong(h, "a total of " + total + " elements or rows of " + size + " bytes is negative or exceeds the limit "
          + "of incomplete requests and unanswered pushes, stream.max_request_bytes = " + limit());
    }
  }

  /**
   * Takes bytes of the heap for what is about to come and to be kept.
   *
   * @throws Overloaded if they do not fit beside the other requests
   */
  void keep(long more) {
    if (heap == null) {
      return;
    }
    if (!heap.take(more)) {
      throw new Overloaded(words() + " refused: its " + more + " bytes do not fit beside the " + heap.taken()
          + " of other requests; all together may take "
          + heap.limit() + ", half of this process's heap, and " + heap.free() + " bytes are free: " + HeapBudget.inWords()
          + ". Send less at a time, or give the process a larger heap (-Xmx)");
    }
    heapBytes += more;
  }

  /** Gives back what this request has taken of the heap: nobody keeps its arrays. May be repeated. */
  void giveBackHeap() {
    if (heap != null) {
      heap.giveBack(heapBytes);
      heapBytes = 0;
    }
  }

  private static int capacity(long needed, int total) {
    return (int) Math.min(total, GROWTH * needed);
  }

  @Override
  protected String place(TensorMessage h) {
    return h.hasRows() ? ", table '" + h.getRows().getTable() + "'" : "";
  }

  @Override
  protected String kind() {
    return first().getBodyCase().name();
  }

  /** Returns the message in words, by its first chunk, e.g. {@code PUSH of job 'ctr', rank 1, step 418}. */
  @Override
  protected String words() {
    String words = super.words();
    return switch (first().getBodyCase()) {
      case PUSH -> words + ", step " + first().getPush().getStep();
      case PULL -> words + ", step " + first().getPull().getMinStep();
      default -> words;
    };
  }

  /** The dense vector, or null if there was none. */
  DenseValues dense() {
    if (discards) {
      return null;
    }
    if (dense == null) {
      return denseBegun ? DenseMemory.of(new float[0]) : null;
    }
    return dense.values();
  }

  @Override
  public void drop() {
    giveBackHeap();
    if (dense != null && dense.values() != null) {
      dense.values().release();
    }
  }

  /** The entries as rows with values. */
  List<SparseRows> rows() {
    return discards ? List.of() : entries.stream().map(e -> new SparseRows(e.table, e.ids, e.values, e.counts)).toList();
  }

  /** The entries as wishes. */
  List<SparseIds> ids() {
    return entries.stream().map(e -> new SparseIds(e.table, e.ids)).toList();
  }
}
