package io.regatta.load.dense;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;

/** A decoder of a chunk's little-endian floats from slices that are cut anywhere. Owned by one thread. */
abstract class FloatPieces {
  private final ByteBuffer cut = ByteBuffer.allocate(Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
  private int next;

  /** Takes the next floats of the vector from an element on. */
  abstract void floats(FloatBuffer floats, int at);

  /** Begins a chunk at an element of the vector. */
  final void begin(int element) {
    next = element;
    cut.clear();
  }

  /** Takes the next bytes; returns after which element of the vector they end. */
  final int take(ByteBuffer bytes) {
    if (cut.position() > 0) {
      fillCut(bytes);
      if (!cut.hasRemaining()) {
        pass(cut.flip().order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer());
        cut.clear();
      }
    }
    FloatBuffer whole = bytes.order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer();
    bytes.position(bytes.position() + whole.remaining() * Float.BYTES);
    pass(whole);
    fillCut(bytes);
    return next;
  }

  private void pass(FloatBuffer floats) {
    int n = floats.remaining();
    if (n > 0) {
      floats(floats, next);
      next += n;
    }
  }

  private void fillCut(ByteBuffer bytes) {
    while (bytes.hasRemaining() && cut.hasRemaining()) {
      cut.put(bytes.get());
    }
  }
}
