package io.regatta.protocol.stream.frame;

import com.google.protobuf.ByteString;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.grpc.common.GrpcStatus;
import java.util.Arrays;

/**
 * A decoder that cuts a byte stream into gRPC messages, at any fragmentation by the network. It passes payloads on as
 * they arrive; only the part before a payload is collected. A message's announced size is checked against the limit,
 * and memory follows the bytes that have arrived. Owned by its stream's loop.
 */
public final class TensorFrameDecoder {
  private static final int PREFIX = 5;
  /** Enough for the header of any but a registration. */
  private static final int MIN_HEAD = 256;
  private static final int KEPT_HEAD = 64 << 10;

  private final int maxMessageBytes;
  private final byte[] prefix = new byte[PREFIX];
  private int prefixFill;
  private int messageLength;
  /** Bytes of the message read so far. */
  private int messageFill;
  private final MessageHead head = new MessageHead();
  /** Received bytes of the message up to its payload. */
  private byte[] bytes = new byte[MIN_HEAD];
  /** True once the receiver has got the beginning of the message. */
  private boolean inPayload;

  public TensorFrameDecoder(int maxMessageBytes) {
    this.maxMessageBytes = maxMessageBytes;
  }

  /**
   * Reads on until a message is complete or there are no more bytes.
   *
   * @throws WireException if the bytes are no gRPC message of this type within the limit; nothing more may be fed then
   */
  public void feed(ByteBuf in, FrameReceiver out) {
    while (in.isReadable()) {
      if (prefixFill < PREFIX) {
        prefix(in);
        if (prefixFill < PREFIX) {
          return;
        }
      }
      if (!inPayload) {
        head(in, out);
      }
      if (inPayload && in.isReadable() && messageFill < messageLength) {
        int n = Math.min(messageLength - messageFill, in.readableBytes());
        messageFill += n;
        out.payload(in.readSlice(n));
      }
      if (inPayload && messageFill == messageLength) {
        prefixFill = 0;
        inPayload = false;
        out.end();
        return;
      }
    }
  }

  private void prefix(ByteBuf in) {
    int n = Math.min(PREFIX - prefixFill, in.readableBytes());
    in.readBytes(prefix, prefixFill, n);
    prefixFill += n;
    if (prefixFill == PREFIX) {
      messageLength = length();
      messageFill = 0;
    }
  }

  /** Collects the part before the payload; bytes taken of the payload are given back. */
  private void head(ByteBuf in, FrameReceiver out) {
    do {
      if (messageFill == bytes.length) {
        bytes = Arrays.copyOf(bytes, (int) Math.min(messageLength, 2L * bytes.length));
      }
      int n = Math.min(Math.min(messageLength, bytes.length) - messageFill, in.readableBytes());
      in.readBytes(bytes, messageFill, n);
      messageFill += n;
      switch (head.find(bytes, messageFill, messageLength)) {
        case PAYLOAD -> {
          in.readerIndex(in.readerIndex() - (messageFill - head.payloadStart()));
          messageFill = head.payloadStart();
          inPayload = true;
          out.begin(MessageHead.parse(bytes, head.headerEnd(), messageLength), messageLength - messageFill);
          return;
        }
        case WHOLE -> {
          if (messageFill == messageLength) {
            whole(out);
            return;
          }
        }
        default -> { }
      }
    } while (in.isReadable());
  }

  private void whole(FrameReceiver out) {
    TensorMessage message = MessageHead.parse(bytes, messageLength, messageLength);
    ByteString payload = message.getPayload();
    inPayload = true;
    if (bytes.length > KEPT_HEAD) {
      bytes = new byte[MIN_HEAD];
    }
    if (payload.isEmpty()) {
      out.begin(message, 0);
    } else {
      out.begin(message.toBuilder().clearPayload().build(), payload.size());
      out.payload(Unpooled.wrappedBuffer(payload.asReadOnlyByteBuffer()));
    }
  }

  /** Returns true if the stream may end here; otherwise a message was cut short. */
  public boolean atBoundary() {
    return prefixFill == 0;
  }

  /** Returns the incomplete message's progress, for the error. */
  public String progress() {
    return prefixFill < PREFIX ? prefixFill + " of 5 prefix bytes" : messageFill + " of " + messageLength + " bytes";
  }

  private int length() {
    if (prefix[0] != 0) {
      throw new WireException(GrpcStatus.UNIMPLEMENTED, "a message starts with compression flag " + (prefix[0] & 0xff)
          + ", but tensor streams are not compressed; send identity-encoded messages");
    }
    long length = (prefix[1] & 0xffL) << 24 | (prefix[2] & 0xff) << 16 | (prefix[3] & 0xff) << 8 | prefix[4] & 0xff;
    if (length > maxMessageBytes) {
      throw tooLong(length, maxMessageBytes);
    }
    return (int) length;
  }

  public static WireException tooLong(long length, int limit) {
    return new WireException(GrpcStatus.INVALID_ARGUMENT, "a message of " + length + " bytes exceeds the limit, "
        + "stream.max_message_bytes = " + limit + "; send the tensor in smaller chunks");
  }
}
