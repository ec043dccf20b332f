package io.regatta.rendezvous;

import com.google.protobuf.ByteString;
import io.regatta.protocol.security.Macs;
import java.nio.ByteBuffer;

/**
 * The one issuer of incarnations and generations of a rendezvous process; owned by {@link Groups}, on its thread.
 * Both start from the clock in ms since the epoch and only grow, over all groups and all lives of a group's name: a
 * restarted rendezvous, or a group opened again, hands out higher numbers than before.
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

  /** Returns the secret of an incarnation, always the same; nobody can guess it from others. */
  ByteString secret(long of) {
    byte[] code = Macs.of(key, ByteBuffer.allocate(Long.BYTES).putLong(of).array());
    return ByteString.copyFrom(code, 0, SECRET_BYTES);
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
