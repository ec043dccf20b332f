package io.regatta.core.collective;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Direct memory that tensors lie in. Owned by the code that created it; a call borrows a part of it until the call has
 * ended. The transport may know more of it, namely that other processes of this machine can read it directly ({@code
 * io.regatta.protocol.memory.SharedMemory}).
 */
public class TensorMemory {
  private final ByteBuffer bytes;

  /**
   * Creates memory of a buffer.
   *
   * @param bytes direct; all of it is used
   */
  protected TensorMemory(ByteBuffer bytes) {
    if (!bytes.isDirect()) {
      throw new InvalidInput("memory of tensors must be direct");
    }
    this.bytes = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Returns memory of this process alone, zeros. */
  public static TensorMemory direct(int bytes) {
    return new TensorMemory(ByteBuffer.allocateDirect(bytes));
  }

  /** Returns all of it, in little-endian order, as a buffer with a position and a limit of its own. */
  public final ByteBuffer bytes() {
    return bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Returns the bytes of the floats {@code [from .. to)}. */
  public final ByteBuffer floats(int from, int to) {
    return bytes.slice(from * Float.BYTES, (to - from) * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
  }
}
