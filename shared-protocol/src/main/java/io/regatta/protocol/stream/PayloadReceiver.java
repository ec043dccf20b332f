package io.regatta.protocol.stream;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.regatta.protocol.memory.SharedRing;
import io.regatta.protocol.stream.frame.FrameReceiver;
import io.regatta.protocol.stream.frame.WireException;
import io.regatta.protocol.tensor.SharedMemory;
import io.regatta.protocol.tensor.SharedPayload;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.grpc.common.GrpcStatus;
import java.nio.ByteBuffer;

/**
 * The receiver of frames on a stream with {@link SharedPayloads}: it handles offers of memory itself, and passes all
 * other frames on with their payloads. Owned by the stream's context.
 */
final class PayloadReceiver implements FrameReceiver {
  private final HttpTensorStream stream;
  private final SharedPayloads memory;
  private final int maxMessageBytes;
  private FrameReceiver to;
  /** True if the frame is not for the next receiver. */
  private boolean ours;
  /**
   * True once the peer has taken lent payloads back: from then on only frames without payload count, such as the
   * reason.
   */
  private boolean takenBack;
  private int read;

  PayloadReceiver(HttpTensorStream stream, SharedPayloads memory, int maxMessageBytes) {
    this.stream = stream;
    this.memory = memory;
    this.maxMessageBytes = maxMessageBytes;
  }

  /** Sets the receiver of the frames in the next bytes. */
  PayloadReceiver to(FrameReceiver next) {
    to = next;
    return this;
  }

  /** Returns the number of bytes read from shared memory since the last call. */
  int takeRead() {
    int bytes = read;
    read = 0;
    return bytes;
  }

  /** Returns true if a payload was not read to its end. */
  boolean isTakenBack() {
    return takenBack;
  }

  @Override
  public void begin(TensorMessage header, int payloadBytes) {
    ours = header.hasSharedMemory();
    if (takenBack && (payloadBytes > 0 || header.hasShared())) {
      ours = true;
      return;
    }
    if ((ours || header.hasShared()) && (!memory.isAllowed() || payloadBytes > 0)) {
      throw new WireException(GrpcStatus.INVALID_ARGUMENT, "a message of kind " + header.getBodyCase() + " with " + payloadBytes
          + " bytes that tells of shared memory, " + (memory.isAllowed() ? "and has no payload of its own then" : "where there is none"));
    }
    if (ours) {
      offered(header.getSharedMemory());
    } else if (header.hasShared()) {
      shared(header);
    } else {
      to.begin(header, payloadBytes);
    }
  }

  private void offered(SharedMemory offer) {
    if (offer.getNumber() == 0) {
      memory.take(offer.getName());
    } else if (memory.in() == null) {
      throw new WireException(GrpcStatus.INVALID_ARGUMENT, "an offer of memory before any ring has been taken");
    } else {
      try {
        memory.lent().offered(offer.getNumber(), offer.getName(), memory.in());
      } catch (IllegalArgumentException e) {
        throw new WireException(GrpcStatus.INVALID_ARGUMENT, "an offer that cannot be: " + e.getMessage());
      }
    }
  }

  private void shared(TensorMessage header) {
    SharedPayload shared = header.getShared();
    long at = shared.getAt();
    int bytes = shared.getBytes();
    ByteBuffer payload;
    try {
      if (memory.in() == null || bytes > maxMessageBytes) {
        throw new IllegalArgumentException(memory.in() == null ? "no memory has been taken" : bytes + " bytes are more than stream.max_message_bytes");
      }
      payload = shared.getMemory() > 0 ? memory.lent().read(shared) : memory.in().read(at, bytes);
    } catch (IllegalArgumentException e) {
      throw new WireException(GrpcStatus.INVALID_ARGUMENT, "a message whose payload is not in shared memory: " + e.getMessage());
    }
    SharedRing.Reader from = memory.in();
    try {
      to.begin(header, bytes);
      to.payload(Unpooled.wrappedBuffer(payload));
    } finally {
      read += bytes;
      if (shared.getMemory() == 0 && from.release(at, bytes)) {
        stream.ring();
      }
    }
    if (shared.getMemory() > 0 && !memory.lent().giveBack(from)) {
      takenBack = true;
      ours = true;
    }
  }

  @Override
  public void payload(ByteBuf bytes) {
    if (ours) {
      bytes.skipBytes(bytes.readableBytes());
    } else {
      to.payload(bytes);
    }
  }

  @Override
  public void end() {
    if (!ours) {
      to.end();
    }
  }
}
