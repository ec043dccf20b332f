package io.regatta.rendezvous;

import com.google.protobuf.ByteString;
import io.regatta.protocol.security.Macs;
import java.nio.ByteBuffer;

/**
 * The issuer of a rendezvous process's incarnations and generations, the only one; owned by {@link Groups}, on its
 * thread. Both numbers start from the clock in ms since the epoch and only grow, over all groups and all lives of a
 * group's name. A restarted rendezvous, or a group opened again, issues higher numbers than before.
 */
final class Issuer {
  private static final int SECRET_BYTES = 16;

  private final byte[] key = Macs.random(Macs.BYTES);
  private long incarnation;
  private long generation;

  Issuer(long startMillis) {
    incarnation = startMillis;
    generation = startMillis;
  }

  /** Returns the secret of an incarnation, always the same; it cannot be guessed from others. */
  ByteString secret(long of) {
    byte[] code = Macs.of(key, ByteBuffer.allocate(Long.BYTES).putLong(of).array());
    return ByteString.copyFrom(code, 0, SECRET_BYTES);
  }

  /** Returns a new incarnation, higher than every one before. */
  long nextIncarnation() {
    return ++incarnation;
  }

  /** Returns the last incarnation issued: members with a higher one joined later. */
  long lastIncarnation() {
    return incarnation;
  }

  /** Returns the generation that a newly opened group starts from. */
  long openingGeneration(long nowMillis) {
    generation = Math.max(generation + 1, nowMillis);
    return generation;
  }

  /** Returns the generation after {@code current} of the same group. */
  long nextGeneration(long current) {
    generation = Math.max(generation, current + 1);
    return current + 1;
  }
}
