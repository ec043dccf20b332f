package io.regatta.protocol.call;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.vertx.core.buffer.Buffer;

/**
 * A reader that cuts the body of a control call into gRPC messages, at any fragmentation by the network. A message's
 * announced length is checked against the limit, and memory follows the bytes that have arrived. Owned by its call.
 */
final class MessageReader {
  private static final int PREFIX = 5;

  private final String method;
  private final int limit;
  private Buffer bytes = Buffer.buffer();

  /**
   * @param method for messages, e.g. {@code regatta.Rendezvous/Join}
   * @param limit of a message, bytes
   */
  MessageReader(String method, int limit) {
    this.method = method;
    this.limit = limit;
  }

  void feed(Buffer arrived) {
    bytes.appendBuffer(arrived);
  }

  /**
   * Returns the next message, or null if none is complete.
   *
   * @throws InvalidInput if the bytes are no gRPC message within the limit
   */
  Buffer next() {
    if (bytes.length() < PREFIX) {
      return null;
    }
    checkFlag(bytes.getUnsignedByte(0));
    long length = bytes.getUnsignedInt(1);
    if (length > limit) {
      throw new InvalidInput("a request of " + length + " bytes for " + method + " exceeds its limit of " + limit
          + " bytes; send a smaller one");
    }
    int end = PREFIX + (int) length;
    if (bytes.length() < end) {
      return null;
    }
    Buffer message = bytes.getBuffer(PREFIX, end);
    bytes = bytes.getBuffer(end, bytes.length());
    return message;
  }

  private void checkFlag(int flag) {
    if (flag != 0) {
      throw new InvalidInput("a request for " + method + " starts with compression flag " + flag
          + " and names no grpc-encoding; send it with flag 0, without compression");
    }
  }

  /** Returns true if no message has been begun. */
  boolean atBoundary() {
    return bytes.length() == 0;
  }

  /** Returns a description of the incomplete message. */
  String progress() {
    return bytes.length() < PREFIX ? bytes.length() + " of " + PREFIX + " prefix bytes"
        : bytes.length() - PREFIX + " of " + bytes.getUnsignedInt(1) + " bytes";
  }
}
