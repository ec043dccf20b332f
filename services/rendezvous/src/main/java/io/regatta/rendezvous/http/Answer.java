package io.regatta.rendezvous.http;

import java.nio.charset.StandardCharsets;

/**
 * The answer of a key-value server.
 *
 * @param status 0: nothing, the connection is closed
 * @param tag the value's entity tag, for a request that named one; otherwise null
 */
record Answer(int status, byte[] body, String tag) {
  private static final byte[] NOTHING = {};

  static final Answer OK = of(200);
  static final Answer NOT_FOUND = of(404);
  /** PaddlePaddle's server fails at such a request and closes the connection. */
  static final Answer DROPPED = of(0);

  static Answer of(int status) {
    return new Answer(status, NOTHING, null);
  }

  static Answer value(byte[] value) {
    return new Answer(200, value, null);
  }

  /** Returns an answer that PaddlePaddle's protocol does not define, with a reason for people. */
  static Answer refusal(int status, String reason) {
    return new Answer(status, (reason + "\n").getBytes(StandardCharsets.UTF_8), null);
  }
}
