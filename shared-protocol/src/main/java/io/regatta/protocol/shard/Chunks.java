package io.regatta.protocol.shard;

import io.netty.buffer.ByteBuf;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.memory.HeapBudget;
import io.regatta.protocol.memory.DirectMemory;
import io.regatta.protocol.stream.frame.Outgoing;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.tensor.DenseSlice;
import io.regatta.protocol.tensor.RowSlice;
import io.regatta.protocol.tensor.TensorMessage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Cuts a dense vector and sparse rows into frames of bounded size, made one at a time as they are sent: the one copy
 * that a tensor takes on its way out is that into the pooled direct memory of its chunk, and from direct memory there is
 * none. Order: the dense vector, then the sparse entries in the order given; a new entry starts at offset 0, so one table may occur twice. At least one
 * frame comes out, an empty one if there is nothing. Owned by the stream's loop; the arrays must not change meanwhile.
 */
final class Chunks implements Iterator<Outgoing> {
  private static final int FLOAT = Float.BYTES;
  private static final int ID = Long.BYTES;
  /** Elements of a run for which a chunk of its own costs less than a copy. */
  private static final int MIN_RUN = 8192;

  /** The next frame's header: what all frames have, and the body. */
  private final TensorMessage.Builder header;
  private final Consumer<TensorMessage.Builder> others;
  private final List<Supplier<Outgoing>> parts = new ArrayList<>();
  private final int chunkBytes;
  private int next;
  /** Of an answer: nobody reads it but this. */
  private DenseValues own;
  private HeapBudget heap;
  /** Counted in the budget of the heap. */
  private long heapBytes;

  /**
   * @param header of the first frame, with its body; theirs from now on
   * @param others makes the header of the others of it: their bodies are empty
   * @param chunkBytes largest payload; a row that is larger has a chunk of its own
   */
  Chunks(TensorMessage.Builder header, Consumer<TensorMessage.Builder> others, int chunkBytes) {
    this.header = header;
    this.others = others;
    this.chunkBytes = chunkBytes;
  }

  /** Adds the dense vector; an empty one has one empty chunk. */
  Chunks dense(DenseValues values) {
    int from = 0;
    do {
      int offset = from;
      int n = chunk(values, from);
      parts.add(() -> dense(header().setDense(DenseSlice.newBuilder().setOffset(offset).setTotal(values.size()).build()).build(),
          values, offset, n));
      from += n;
    } while (from < values.size());
    return this;
  }

  /**
   * How many elements the chunk from {@code from} on has: one that can be sent from where it lies ends with the run of its
   * memory, and short runs that lie apart make one, which is copied.
   */
  private int chunk(DenseValues values, int from) {
    int most = Math.min(Math.max(1, chunkBytes / FLOAT), values.size() - from);
    int n = values.together(from);
    if (n == 0) {
      return most;
    }
    boolean alone = n >= MIN_RUN;
    while (!alone && n < most && values.together(from + n) < MIN_RUN) {
      n += values.together(from + n);
    }
    return Math.min(n, most);
  }

  /** Adds the dense vector of an answer, which is released when it has been sent, or will not be. */
  Chunks own(DenseValues values) {
    own = values;
    return dense(values);
  }

  /** Counts so many bytes in a budget of the heap until the last frame has been made, or nothing more will be sent. */
  Chunks counted(HeapBudget heap, long bytes) {
    heap.add(bytes);
    this.heap = heap;
    heapBytes = bytes;
    return this;
  }

  private void giveBackHeap() {
    if (heapBytes > 0) {
      long bytes = heapBytes;
      heapBytes = 0;
      parts.clear(); // and with them the arrays
      heap.giveBack(bytes);
    }
  }

  /** What is left will not be sent. */
  void drop() {
    giveBackHeap();
    if (own != null) {
      own.release();
    }
  }

  /** Sends direct memory from where it lies, all else from a copy; nobody reads what has been copied again. */
  private static Outgoing dense(TensorMessage header, DenseValues values, int offset, int n) {
    ByteBuffer direct = values.direct(offset, n);
    if (direct != null) {
      return new Outgoing(new TensorFrame(header, direct), null);
    }
    Outgoing frame = frame(header, n * FLOAT, payload -> values.copy(offset, n, payload.duplicate()));
    values.releaseUntil(offset + n);
    return frame;
  }

  /** Adds rows with their values. */
  Chunks rows(SparseRows rows) {
    return sparse(rows.table(), rows.ids(), rows.values(), rows.dim(), rows.counts());
  }

  /** Adds ids only. */
  Chunks ids(SparseIds ids) {
    return sparse(ids.table(), ids.ids(), null, 0, 0);
  }

  private Chunks sparse(String table, long[] ids, float[] values, int dim, int counts) {
    int rowBytes = ID + dim * FLOAT;
    int step = Math.max(1, chunkBytes / rowBytes);
    int from = 0;
    do {
      int offset = from;
      int n = Math.min(step, ids.length - from);
      parts.add(() -> frame(
          header().setRows(RowSlice.newBuilder().setTable(table).setOffset(offset).setTotal(ids.length).setRowCount(n).setDim(dim)
              .setCounts(counts).build()).build(), n * rowBytes,
          payload -> {
            payload.asLongBuffer().put(ids, offset, n);
            if (dim > 0) {
              payload.slice(n * ID, n * dim * FLOAT).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer()
                  .put(values, offset * dim, n * dim);
            }
          }));
      from += n;
    } while (from < ids.length);
    return this;
  }

  private TensorMessage.Builder header() {
    if (next > 0) {
      others.accept(header);
    }
    return header.setChunkIndex(next).setChunkCount(Math.max(1, parts.size()));
  }

  private interface Fill {
    void into(ByteBuffer payload);
  }

  private static Outgoing frame(TensorMessage header, int bytes, Fill fill) {
    if (bytes == 0) {
      return new Outgoing(TensorFrame.of(header), null);
    }
    ByteBuf memory = DirectMemory.ALLOCATOR.directBuffer(bytes);
    ByteBuffer payload = memory.nioBuffer(0, bytes).order(ByteOrder.LITTLE_ENDIAN);
    try {
      fill.into(payload);
      return new Outgoing(new TensorFrame(header, payload), memory);
    } catch (RuntimeException | Error e) {
      memory.release();
      throw e;
    }
  }

  @Override
  public boolean hasNext() {
    return next < Math.max(1, parts.size());
  }

  @Override
  public Outgoing next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    Outgoing out = parts.isEmpty() ? new Outgoing(TensorFrame.of(header().build()), null) : parts.get(next).get();
    next++;
    if (!hasNext()) {
      giveBackHeap();
    }
    return out;
  }
}
