package io.regatta.protocol;

import io.regatta.core.shard.SparseIds;
import io.regatta.core.shard.SparseRows;
import io.regatta.protocol.stream.TensorFrame;
import io.regatta.protocol.tensor.TensorMessage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.function.Supplier;

/**
 * Cuts a dense vector and sparse rows into frames of bounded size, made one at a time as they are sent, so that a
 * tensor is never in memory twice. Order: the dense vector, then the sparse entries in the order given; a new entry
 * starts at offset 0, so one table may occur twice. At least one frame comes out, an empty one if there is nothing.
 */
final class Chunks implements Iterator<TensorFrame> {
  private static final int FLOAT = Float.BYTES;
  private static final int ID = Long.BYTES;

  private final TensorMessage.Builder common;
  private final TensorMessage first;
  private final List<Supplier<TensorFrame>> parts = new ArrayList<>();
  private final int chunkBytes;
  private int next;

  /**
   * @param first header of the first frame: the fields of every frame and those that only the first one carries
   * @param common header of the others
   */
  Chunks(TensorMessage first, TensorMessage common, int chunkBytes) {
    this.first = first;
    this.common = common.toBuilder();
    this.chunkBytes = chunkBytes;
  }

  /** Adds the dense vector; an empty one has one empty chunk. */
  Chunks dense(float[] values) {
    int step = Math.max(1, chunkBytes / FLOAT);
    int offset = 0;
    do {
      int from = offset;
      int n = Math.min(step, values.length - from);
      parts.add(() -> {
        ByteBuffer payload = ByteBuffer.allocate(n * FLOAT).order(ByteOrder.LITTLE_ENDIAN);
        payload.asFloatBuffer().put(values, from, n);
        return frame(header().setTable("").setOffset(from).setTotal(values.length), payload);
      });
      offset += step;
    } while (offset < values.length);
    return this;
  }

  /** Adds rows with their values. */
  Chunks rows(SparseRows rows) {
    int dim = rows.ids().length == 0 ? 1 : rows.values().length / rows.ids().length;
    return sparse(rows.table(), rows.ids(), rows.values(), dim);
  }

  /** Adds ids only. */
  Chunks ids(SparseIds ids) {
    return sparse(ids.table(), ids.ids(), null, 0);
  }

  private Chunks sparse(String table, long[] ids, float[] values, int dim) {
    int rowBytes = ID + dim * FLOAT;
    int step = Math.max(1, chunkBytes / rowBytes);
    int offset = 0;
    do {
      int from = offset;
      int n = Math.min(step, ids.length - from);
      parts.add(() -> {
        ByteBuffer payload = ByteBuffer.allocate(n * rowBytes).order(ByteOrder.LITTLE_ENDIAN);
        payload.asLongBuffer().put(ids, from, n);
        if (dim > 0) {
          payload.slice(n * ID, n * dim * FLOAT).order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer()
              .put(values, from * dim, n * dim);
        }
        return frame(header().setTable(table).setOffset(from).setTotal(ids.length).setRowCount(n).setDim(dim), payload);
      });
      offset += step;
    } while (offset < ids.length);
    return this;
  }

  private TensorMessage.Builder header() {
    return (next == 0 ? first.toBuilder() : common.clone()).setChunkIndex(next).setChunkCount(parts.size());
  }

  private static TensorFrame frame(TensorMessage.Builder header, ByteBuffer payload) {
    return new TensorFrame(header.build(), payload);
  }

  @Override
  public boolean hasNext() {
    return next < Math.max(1, parts.size());
  }

  @Override
  public TensorFrame next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    TensorFrame frame = parts.isEmpty() ? TensorFrame.of(first.toBuilder().setChunkIndex(0).setChunkCount(1).build())
        : parts.get(next).get();
    next++;
    return frame;
  }
}
