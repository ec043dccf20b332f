package io.regatta.protocol.shard;

import io.netty.buffer.ByteBuf;
import io.regatta.core.dense.DenseValues;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.memory.HeapBudget;
import io.regatta.protocol.memory.DirectMemory;
import io.regatta.protocol.stream.frame.Outgoing;
import io.regatta.protocol.stream.frame.TensorFrame;
import io.regatta.protocol.stream.request.DroppableFrames;
import io.regatta.protocol.tensor.DenseSlice;
import io.regatta.protocol.tensor.RowSlice;
import io.regatta.protocol.tensor.TensorMessage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * The frames of a dense vector and of sparse rows. Each has a bounded size, and is made when it is sent. A tensor is
 * copied once on its way out, into the pooled direct memory of its chunk; from direct memory it is not copied at all.
 *
 * <p>The dense vector comes first, then the sparse entries in the order given. A new entry starts at offset 0, so one
 * table may occur twice. There is at least one frame, an empty one if there is nothing to send. Owned by the stream's
 * loop; the arrays must not change meanwhile.
 */
final class Chunks implements DroppableFrames {
  private static final int FLOAT = Float.BYTES;
  private static final int ID = Long.BYTES;
  /** Length of a run, in elements, from which a chunk of its own costs less than a copy. */
  private static final int MIN_RUN = 8192;

  /** Header of the next frame: the fields that all frames have, and the body. */
  private final TensorMessage.Builder header;
  private final Consumer<TensorMessage.Builder> others;
  private final List<Supplier<Outgoing>> parts = new ArrayList<>();
  private final int chunkBytes;
  private int next;
  /** Dense vector of an answer, which only this object reads. */
  private DenseValues own;
  private HeapBudget heap;
  /** Bytes counted in the budget of the heap. */
  private long heapBytes;

  /**
   * @param header of the first frame, with its body; it belongs to this object from now on
   * @param others turns it into the header of the other frames, whose bodies are empty
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
   * Returns the number of elements in the chunk that begins at {@code from}. A chunk that can be sent without a copy
   * ends with its run of memory. Short runs at different places form one chunk, which is copied.
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

  /** Adds the dense vector of an answer. It is released when it has been sent, or will not be sent. */
  Chunks own(DenseValues values) {
    own = values;
    return dense(values);
  }

  /** Counts bytes in a budget of the heap until the last frame has been made, or nothing more will be sent. */
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

  @Override
  public void drop() {
    giveBackHeap();
    if (own != null) {
      own.release();
    }
  }

  /** Returns a dense frame: direct memory without a copy, all else copied and then released. */
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
