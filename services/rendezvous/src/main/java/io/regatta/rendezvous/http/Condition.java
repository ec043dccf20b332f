package io.regatta.rendezvous.http;

import java.math.BigInteger;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * The condition that a request places on its key (RFC 9110, 13.1): no value ({@code If-None-Match: *}), any value
 * ({@code If-Match: *}), or the value of this tag ({@code If-Match: "..."}). The tag is the SHA-256 of the value's
 * bytes in hexadecimal, so that clients can compute it. PaddlePaddle's own clients set no condition. Immutable.
 */
record Condition(String ifMatch, String ifNoneMatch) {
  static final int FAILED = 412;

  /** Returns true if the request has one; PaddlePaddle's own server would ignore it. */
  boolean named() {
    return ifMatch != null || ifNoneMatch != null;
  }

  /** @param held the key's value, null: none */
  boolean holds(byte[] held) {
    return (ifNoneMatch == null || held == null)
        && (ifMatch == null || held != null && (ifMatch.equals("*") || ifMatch.equals(tag(held))));
  }

  /** Returns the answer to a request whose condition was evaluated, which the tag shows. */
  Answer tagged(Answer answer, byte[] held) {
    return named() ? new Answer(answer.status(), answer.body(), held == null ? "\"\"" : tag(held)) : answer;
  }

  static String tag(byte[] value) {
    try {
      return String.format("\"%064x\"", new BigInteger(1, MessageDigest.getInstance("SHA-256").digest(value)));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JVM has SHA-256", e);
    }
  }
}
