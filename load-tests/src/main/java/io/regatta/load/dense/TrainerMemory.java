package io.regatta.load.dense;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * A trainer's direct memory, as an engine lends it: the bytes of its gradient, and room for the pulled values. Owned by
 * the client of one kind.
 */
final class TrainerMemory {
  private final ByteBuffer gradient;
  private final ByteBuffer values;
  private int next;

  TrainerMemory(DenseTask task) {
    gradient = direct(task.elements());
    gradient.asFloatBuffer().put(task.gradient());
    values = direct(task.elements());
  }

  private static ByteBuffer direct(int elements) {
    return ByteBuffer.allocateDirect(elements * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Returns the pushed gradient: the whole buffer, little-endian. */
  ByteBuffer gradient() {
    return gradient;
  }

  /** Returns the room for pulled values: the whole buffer, little-endian. */
  ByteBuffer values() {
    return values;
  }

  /** Sets the element at which the next values begin. */
  void begin(int element) {
    next = element * Float.BYTES;
  }

  /** Copies the next bytes, cut anywhere, to their place; returns whether they end the vector. */
  boolean take(ByteBuffer bytes) {
    int n = bytes.remaining();
    values.put(next, bytes, bytes.position(), n);
    next += n;
    return next == values.capacity();
  }

  /** Returns the values that were pulled last. */
  float[] toArray() {
    float[] out = new float[values.capacity() / Float.BYTES];
    values.asFloatBuffer().get(out);
    return out;
  }
}
