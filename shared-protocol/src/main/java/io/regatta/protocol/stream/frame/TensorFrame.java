package io.regatta.protocol.stream.frame;

import io.regatta.core.collective.TensorMemory;
import io.regatta.protocol.tensor.TensorMessage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * One message of a tensor stream: the header fields and, apart from them so that it need not be copied, the payload.
 *
 * @param header all fields but the payload; a payload inside it is ignored
 * @param payload little-endian bytes between position and limit; empty for none. On send it must stay unchanged until
 *     the send completes; on receive it is a read-only view that stays valid as long as it is referenced
 * @param memory on send, the memory that the payload lies in, if it is known; null otherwise
 * @param memoryAt its offset there, in bytes
 */
public record TensorFrame(TensorMessage header, ByteBuffer payload, TensorMemory memory, int memoryAt) {

  private static final ByteBuffer EMPTY = ByteBuffer.allocate(0).order(ByteOrder.LITTLE_ENDIAN).asReadOnlyBuffer();

  /** Creates a frame whose payload lies anywhere. */
  public TensorFrame(TensorMessage header, ByteBuffer payload) {
    this(header, payload, null, 0);
  }

  /** Returns a frame without payload. */
  public static TensorFrame of(TensorMessage header) {
    return new TensorFrame(header, EMPTY);
  }

  /** Returns the payload with its position and order reset, for reading. */
  public ByteBuffer read() {
    return payload.duplicate().order(ByteOrder.LITTLE_ENDIAN);
  }
}
