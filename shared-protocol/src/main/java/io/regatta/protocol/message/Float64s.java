package io.regatta.protocol.message;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.DoubleBuffer;

/** Arrays of float64 as bytes of a message, little-endian. Any thread. */
public final class Float64s {

  private Float64s() {}

  public static ByteString bytes(double[] values) {
    ByteBuffer bytes = ByteBuffer.allocate(values.length * Double.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.asDoubleBuffer().put(values);
    return UnsafeByteOperations.unsafeWrap(bytes.array()); // nobody else has the array
  }

  /** Returns a view of the values; bytes after the last whole one are ignored. */
  public static DoubleBuffer view(ByteString bytes) {
    return bytes.asReadOnlyByteBuffer().order(ByteOrder.LITTLE_ENDIAN).asDoubleBuffer();
  }

  public static double[] values(ByteString bytes) {
    DoubleBuffer view = view(bytes);
    double[] values = new double[view.remaining()];
    view.get(values);
    return values;
  }
}
