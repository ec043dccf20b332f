package io.regatta.protocol.stream.frame;

import com.google.protobuf.CodedOutputStream;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.regatta.protocol.tensor.TensorMessage;
import io.regatta.protocol.vertx.NettyParts;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;

/**
 * The encoding of a {@link TensorFrame} as a gRPC message. It has one byte 0 (not compressed), four bytes length, the
 * header fields, tag and length of the payload field, and the payload itself. The payload is wrapped and not copied.
 */
public final class TensorFrameEncoder {
  private static final int PREFIX = 5;
  /** Bytes of the payload's tag. */
  private static final int TAG_SIZE = CodedOutputStream.computeTagSize(TensorMessage.PAYLOAD_FIELD_NUMBER);

  private TensorFrameEncoder() {}

  /** Returns the frame as it is sent; its payload is not copied. */
  public static Buffer encode(TensorFrame frame) {
    ByteBuf head = Unpooled.wrappedBuffer(head(frame));
    return NettyParts.buffer(frame.payload().hasRemaining()
        ? Unpooled.wrappedBuffer(head, Unpooled.wrappedBuffer(frame.payload())) : head);
  }

  /** Returns the part before the payload. */
  public static byte[] head(TensorFrame frame) {
    TensorMessage header = frame.header().getPayload().isEmpty() ? frame.header()
        : frame.header().toBuilder().clearPayload().build();
    int size = frame.payload().remaining();
    int headerSize = header.getSerializedSize();
    int fieldSize = size == 0 ? 0 : TAG_SIZE + CodedOutputStream.computeUInt32SizeNoTag(size);
    byte[] head = new byte[PREFIX + headerSize + fieldSize];
    int length = Math.addExact(headerSize + fieldSize, size);
    ByteBuffer.wrap(head).put((byte) 0).putInt(length);
    try {
      CodedOutputStream out = CodedOutputStream.newInstance(head, PREFIX, headerSize + fieldSize);
      header.writeTo(out);
      if (size > 0) {
        out.writeTag(TensorMessage.PAYLOAD_FIELD_NUMBER, com.google.protobuf.WireFormat.WIRETYPE_LENGTH_DELIMITED);
        out.writeUInt32NoTag(size);
      }
      out.flush();
    } catch (IOException e) {
      throw new UncheckedIOException("an array of the computed size cannot be too small", e);
    }
    return head;
  }
}
