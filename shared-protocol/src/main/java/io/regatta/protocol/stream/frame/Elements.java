package io.regatta.protocol.stream.frame;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.regatta.core.dense.DenseSink;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Consumer;

/**
 * A decoder of little-endian elements from bytes that are cut anywhere, in the middle of an element too. Owned by one
 * assembly.
 */
public final class Elements {
  private final ByteBuffer cut = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);

  /** Returns how many elements these bytes complete. */
  public int whole(ByteBuf bytes, int elementBytes) {
    return (cut.position() + bytes.readableBytes()) / elementBytes;
  }

  /** Copies the floats that these bytes complete, from this index on, and keeps the rest for the next call. */
  public int floats(ByteBuf bytes, float[] to, int at) {
    int next = at;
    if (completes(bytes, Float.BYTES)) {
      to[next++] = cut.getFloat(0);
    }
    int n = bytes.readableBytes() / Float.BYTES;
    if (n > 0) {
      view(bytes, n * Float.BYTES).asFloatBuffer().get(to, next, n);
    }
    keep(bytes);
    return next + n - at;
  }

  /** Passes on the floats that these bytes complete, and keeps the rest for the next call; returns how many. */
  public int floats(ByteBuf bytes, DenseSink to) {
    return elements(bytes, Float.BYTES, to::put);
  }

  /** Passes on the elements of this width that these bytes complete, and keeps the rest for the next call. */
  public int elements(ByteBuf bytes, int elementBytes, Consumer<ByteBuffer> to) {
    int n = whole(bytes, elementBytes);
    if (completes(bytes, elementBytes)) {
      to.accept(cut.limit(elementBytes));
      cut.clear();
    }
    int whole = bytes.readableBytes() / elementBytes;
    if (whole > 0) {
      to.accept(view(bytes, whole * elementBytes));
    }
    keep(bytes);
    return n;
  }

  /** Copies the longs that these bytes complete, from this index on, and keeps the rest for the next call. */
  public int longs(ByteBuf bytes, long[] to, int at) {
    int next = at;
    if (completes(bytes, Long.BYTES)) {
      to[next++] = cut.getLong(0);
    }
    int n = bytes.readableBytes() / Long.BYTES;
    if (n > 0) {
      view(bytes, n * Long.BYTES).asLongBuffer().get(to, next, n);
    }
    keep(bytes);
    return next + n - at;
  }

  /** Returns true if an element that was cut is complete now. */
  private boolean completes(ByteBuf bytes, int elementBytes) {
    if (cut.position() == 0) {
      return false;
    }
    while (cut.position() < elementBytes && bytes.isReadable()) {
      cut.put(bytes.readByte());
    }
    if (cut.position() < elementBytes) {
      return false;
    }
    cut.clear();
    return true;
  }

  private void keep(ByteBuf bytes) {
    while (bytes.isReadable()) {
      cut.put(bytes.readByte());
    }
  }

  /** Returns the next bytes, without a copy unless the buffer consists of several. */
  private static ByteBuffer view(ByteBuf bytes, int size) {
    int at = bytes.readerIndex();
    bytes.skipBytes(size);
    ByteBuffer view = bytes.nioBufferCount() == 1 ? bytes.nioBuffer(at, size)
        : ByteBuffer.wrap(ByteBufUtil.getBytes(bytes, at, size));
    return view.order(ByteOrder.LITTLE_ENDIAN);
  }
}
