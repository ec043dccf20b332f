package io.regatta.rendezvous.http;

import java.math.BigInteger;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;

/**
 * What a key must hold for a request to be done (RFC 9110, 13.1): nothing ({@code If-None-Match: *}), anything
 * ({@code If-Match: *}), or the value of this tag ({@code If-Match: "..."}), which is the SHA-256 of its bytes in
 * hexadecimal, so that clients can make it. PaddlePaddle's own clients name none. Immutable.
 */
record Condition(String ifMatch, String ifNoneMatch) {
  static final int FAILED = 412;

  /** Whether the request has one; PaddlePaddle's own server would pass over it. */
  boolean named() {
    return ifMatch != null || ifNoneMatch != null;
  }

  /** @param held the key's value, null: none */
  boolean holds(byte[] held) {
    return (ifNoneMatch == null || held == null)
        && (ifMatch == null || held != null && (ifMatch.equals("*") || ifMatch.equals(tag(held))));
  }

  /** The answer to a request whose condition was looked at, which shows in the tag. */
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
