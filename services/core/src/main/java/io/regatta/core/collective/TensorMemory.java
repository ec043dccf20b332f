package io.regatta.core.collective;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Direct memory that tensors lie in, of which whoever carries a call out may know more than that: that other processes of this machine can
 * read it where it lies ({@code io.regatta.protocol.memory.SharedMemory}). Owned by whoever has made it; what is lent to a call of it,
 * is the call's until that has ended.
 */
public class TensorMemory {
  private final ByteBuffer bytes;

  /** @param bytes direct; all of it */
  protected TensorMemory(ByteBuffer bytes) {
    if (!bytes.isDirect()) {
      throw new InvalidInput("memory of tensors must be direct");
    }
    this.bytes = bytes.slice().order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Memory of this process alone, zeros. */
  public static TensorMemory direct(int bytes) {
    return new TensorMemory(ByteBuffer.allocateDirect(bytes));
  }

  /** All of it, in little-endian order; with a position and a limit of its own. */
  public final ByteBuffer bytes() {
    return bytes.duplicate().order(ByteOrder.LITTLE_ENDIAN);
  }

  /** The floats {@code [from .. to)}. */
  public final ByteBuffer floats(int from, int to) {
    return bytes.slice(from * Float.BYTES, (to - from) * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
  }
}
