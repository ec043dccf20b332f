package io.regatta.rendezvous;

import com.google.protobuf.ByteString;
import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * The one issuer of incarnations and generations of a rendezvous process; owned by {@link Groups}, on its thread.
 * Both start from the clock in ms since the epoch and only grow, over all groups and all lives of a group's name: a
 * restarted rendezvous, or a group opened again, hands out higher numbers than before.
 */
final class Issuer {
  private static final String ALGORITHM = "HmacSHA256";
  private static final int SECRET_BYTES = 16;

  private final Mac secrets;
  private long incarnation;
  private long generation;

  Issuer(long startMillis) {
    incarnation = startMillis;
    generation = startMillis;
    byte[] key = new byte[2 * SECRET_BYTES];
    new SecureRandom().nextBytes(key);
    try {
      secrets = Mac.getInstance(ALGORITHM);
      secrets.init(new SecretKeySpec(key, ALGORITHM));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("every JVM has " + ALGORITHM, e);
    }
  }

  /** Returns the secret of an incarnation, always the same; nobody can guess it from others. */
  ByteString secret(long of) {
    return ByteString.copyFrom(secrets.doFinal(ByteBuffer.allocate(Long.BYTES).putLong(of).array()), 0, SECRET_BYTES);
  }

  /** A new incarnation, higher than every one before. */
  long nextIncarnation() {
    return ++incarnation;
  }

  /** The last incarnation handed out: members with a higher one joined later. */
  long lastIncarnation() {
    return incarnation;
  }

  /** The generation that a newly opened group starts from. */
  long openingGeneration(long nowMillis) {
    generation = Math.max(generation + 1, nowMillis);
    return generation;
  }

  /** The generation after {@code current} of the same group. */
  long nextGeneration(long current) {
    generation = Math.max(generation, current + 1);
    return current + 1;
  }
}
