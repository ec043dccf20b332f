package io.regatta.snapshot.safetensors;

import java.util.List;

/**
 * One tensor of a safetensors file, from its header.
 *
 * @param name unique in the file
 * @param dtype {@code F32}, {@code I64}, ...
 * @param begin first byte, counted from the end of the header
 * @param end one after the last byte
 */
public record TensorInfo(String name, String dtype, List<Long> shape, long begin, long end) {

  public static final String F32 = "F32";
  public static final String I64 = "I64";

  public long bytes() {
    return end - begin;
  }

  /** Returns the product of the shape. */
  public long elements() {
    return elements(shape);
  }

  static long elements(List<? extends Number> shape) {
    long n = 1;
    for (Number d : shape) {
      n = Math.multiplyExact(n, d.longValue());
    }
    return n;
  }

  /** Returns the bytes of an element of the types that are written here. */
  static int width(String dtype) {
    return dtype.equals(I64) ? Long.BYTES : Float.BYTES;
  }
}
