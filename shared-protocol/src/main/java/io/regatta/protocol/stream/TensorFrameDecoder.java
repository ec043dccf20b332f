package io.regatta.protocol.stream;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.UnsafeByteOperations;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.core.buffer.Buffer;
import io.vertx.grpc.common.GrpcStatus;
import java.io.IOException;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.function.Consumer;

/**
 * Cuts a byte stream into gRPC messages and parses them, however the network has cut it. One array per message, of which
 * the payload is a view; its announced size is checked against the limit, and believed as far as bytes have come. Owned
 * by its stream's loop.
 */
final class TensorFrameDecoder {
  private static final int PREFIX = 5;
  /** Room is made for so many times what has come, as far as the announced length goes: for a chunk usually once. */
  private static final int GROWTH = 16;
  private static final int MIN_ROOM = 4096;

  private final int maxMessageBytes;
  private final Consumer<TensorFrame> out;
  private final byte[] prefix = new byte[PREFIX];
  private int prefixFill;
  /** The message being filled, null between messages. */
  private byte[] message;
  private int messageLength;
  private int messageFill;

  TensorFrameDecoder(int maxMessageBytes, Consumer<TensorFrame> out) {
    this.maxMessageBytes = maxMessageBytes;
    this.out = out;
  }

  /**
   * Takes the next bytes and delivers every message that they complete.
   *
   * @throws WireException if the bytes are no gRPC message of this type within the limit; nothing more may be fed then
   */
  void feed(Buffer bytes) {
    int at = 0;
    int end = bytes.length();
    while (at < end) {
      if (message == null) {
        int n = Math.min(PREFIX - prefixFill, end - at);
        bytes.getBytes(at, at + n, prefix, prefixFill);
        prefixFill += n;
        at += n;
        if (prefixFill < PREFIX) {
          return;
        }
        messageLength = length();
        messageFill = 0;
        message = new byte[0];
      }
      int n = Math.min(messageLength - messageFill, end - at);
      makeRoom(messageFill + n);
      bytes.getBytes(at, at + n, message, messageFill);
      messageFill += n;
      at += n;
      if (messageFill == messageLength) {
        byte[] whole = message;
        message = null;
        prefixFill = 0;
        out.accept(parse(whole));
      }
    }
  }

  private void makeRoom(int needed) {
    if (needed > message.length) {
      message = Arrays.copyOf(message, (int) Math.min(messageLength, Math.max(MIN_ROOM, (long) GROWTH * needed)));
    }
  }

  /** Whether the stream may end here; otherwise a message was cut short. */
  boolean atBoundary() {
    return message == null && prefixFill == 0;
  }

  /** What was cut short, for the error. */
  String progress() {
    return message == null ? prefixFill + " of 5 prefix bytes" : messageFill + " of " + messageLength + " bytes";
  }

  private int length() {
    if (prefix[0] != 0) {
      throw new WireException(GrpcStatus.UNIMPLEMENTED, "a message starts with compression flag " + (prefix[0] & 0xff)
          + ", but tensor streams are not compressed; send identity-encoded messages");
    }
    long length = (prefix[1] & 0xffL) << 24 | (prefix[2] & 0xff) << 16 | (prefix[3] & 0xff) << 8 | prefix[4] & 0xff;
    if (length > maxMessageBytes) {
      throw new WireException(GrpcStatus.INVALID_ARGUMENT, "a message of " + length + " bytes exceeds the limit, "
          + "stream.max_message_bytes = " + maxMessageBytes + "; send the tensor in smaller chunks");
    }
    return (int) length;
  }

  private static TensorFrame parse(byte[] bytes) {
    try {
      CodedInputStream in = UnsafeByteOperations.unsafeWrap(bytes).newCodedInput();
      in.enableAliasing(true);
      TensorMessage header = TensorMessage.parseFrom(in);
      in.checkLastTagWas(0); // Without it, what follows a stray end-group tag is silently dropped.
      return new TensorFrame(header, header.getPayload().asReadOnlyByteBuffer().order(ByteOrder.LITTLE_ENDIAN));
    } catch (IOException e) {
      throw new WireException(GrpcStatus.INVALID_ARGUMENT,
          "a message of " + bytes.length + " bytes is no regatta.TensorMessage: " + e.getMessage());
    }
  }
}
