package io.regatta.core.collective;

/**
 * The types of an element on the wire. Memory is float32 or int64; narrower floats are rounded to nearest, ties to
 * even.
 */
public enum WireType {
  FLOAT32(4), FLOAT16(2), BFLOAT16(2), INT64(8);

  private final int bytes;

  WireType(int bytes) {
    this.bytes = bytes;
  }

  /** Returns the number of bytes of one element. */
  public int bytes() {
    return bytes;
  }

  /** Returns true if elements lose bits on the wire. */
  public boolean narrows() {
    return bytes == 2;
  }
}
