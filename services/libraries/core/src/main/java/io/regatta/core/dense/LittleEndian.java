package io.regatta.core.dense;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The conversion between arrays of floats and their bytes on the wire, at the buffer's position, which moves. */
public final class LittleEndian {

  private LittleEndian() {}

  public static void put(float[] from, int at, int n, ByteBuffer to) {
    to.order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().put(from, at, n);
    to.position(to.position() + n * Float.BYTES);
  }

  public static void get(ByteBuffer from, float[] to, int at, int n) {
    from.order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(to, at, n);
    from.position(from.position() + n * Float.BYTES);
  }
}
