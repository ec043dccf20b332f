package io.regatta.protocol.stream.frame;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import io.regatta.protocol.tensor.TensorMessage;
import io.vertx.grpc.common.GrpcStatus;
import java.io.IOException;

/**
 * The part before the payload of one message. A sender puts the payload last (protobuf's own writers do), so the header
 * can be parsed before the payload has arrived; a message in another form is read whole. Owned by the stream's loop.
 */
final class MessageHead {
  private static final int PAYLOAD_TAG =
      TensorMessage.PAYLOAD_FIELD_NUMBER << 3 | WireFormat.WIRETYPE_LENGTH_DELIMITED;
  private static final int MAX_VARINT = 5;

  enum Found {
    /** More bytes are needed to decide. */
    NOTHING_YET,
    /** A payload that ends the message. */
    PAYLOAD,
    /** No payload, or not at the end, or not understood: the message is to be read whole. */
    WHOLE
  }

  private int headerEnd;
  private int payloadStart;

  /** Returns the end of the fields before the payload, once it is found. */
  int headerEnd() {
    return headerEnd;
  }

  /** Returns the beginning of the payload, once it is found. */
  int payloadStart() {
    return payloadStart;
  }

  /**
   * Looks for the payload's field.
   *
   * @param bytes of the message, from its start
   * @param fill how many there are
   * @param length of the whole message
   */
  Found find(byte[] bytes, int fill, int length) {
    int at = 0;
    while (at < length) {
      headerEnd = at;
      long tag = varint(bytes, at, fill);
      if (tag < 0) {
        return more(fill, length);
      }
      at = (int) (tag >>> 32);
      long skip = 0;
      switch (WireFormat.getTagWireType((int) tag)) {
        case WireFormat.WIRETYPE_VARINT -> {
          while (at < fill && bytes[at] < 0) {
            at++;
          }
          skip = 1;
        }
        case WireFormat.WIRETYPE_FIXED64 -> skip = Long.BYTES;
        case WireFormat.WIRETYPE_FIXED32 -> skip = Integer.BYTES;
        case WireFormat.WIRETYPE_LENGTH_DELIMITED -> {
          long size = varint(bytes, at, fill);
          if (size < 0) {
            return more(fill, length);
          }
          at = (int) (size >>> 32);
          skip = size & 0xffff_ffffL;
          if ((int) tag == PAYLOAD_TAG) {
            payloadStart = at;
            return at + skip == length ? Found.PAYLOAD : Found.WHOLE;
          }
        }
        default -> {
          return Found.WHOLE;
        }
      }
      if (skip > length - at) {
        return Found.WHOLE;
      }
      at += (int) skip;
      if (at > fill) {
        return more(fill, length);
      }
    }
    return Found.WHOLE;
  }

  private static Found more(int fill, int length) {
    return fill < length ? Found.NOTHING_YET : Found.WHOLE;
  }

  /** Returns the index after the number and its lower 32 bits, or -1 if it is cut short. */
  private static long varint(byte[] bytes, int at, int fill) {
    int value = 0;
    for (int i = 0; i < MAX_VARINT && at + i < fill; i++) {
      value |= (bytes[at + i] & 0x7f) << 7 * i;
      if (bytes[at + i] >= 0) {
        return (long) (at + i + 1) << 32 | value & 0xffff_ffffL;
      }
    }
    return at + MAX_VARINT <= fill ? (long) (at + MAX_VARINT) << 32 | WireFormat.WIRETYPE_END_GROUP : -1;
  }

  /**
   * Parses the fields before the payload, or a whole message.
   *
   * @throws WireException if these are no fields of this type
   */
  static TensorMessage parse(byte[] bytes, int size, int messageLength) {
    try {
      CodedInputStream in = CodedInputStream.newInstance(bytes, 0, size);
      TensorMessage message = TensorMessage.parseFrom(in);
      in.checkLastTagWas(0); // Without it, what follows a stray end-group tag is silently dropped.
      return message;
    } catch (IOException e) {
      throw new WireException(GrpcStatus.INVALID_ARGUMENT,
          "a message of " + messageLength + " bytes is no regatta.TensorMessage: " + e.getMessage());
    }
  }
}
