package io.regatta.protocol;

import io.regatta.core.error.RegattaException.PeerLost;

/**
 * The cause of a {@code PeerLost} by which a control call fails that has got no answer: the peer could not be reached, is gone, or
 * the connection broke. What the peer itself says of others who are lost has no such cause. Immutable.
 */
public final class Unanswered extends Exception {
  private static final long serialVersionUID = 1;

  Unanswered(Throwable cause) {
    super(cause == null ? null : cause.getMessage(), cause);
  }

  /** Whether a call has failed in this way, so that it may succeed if it is made again and may be repeated. */
  public static boolean isCauseOf(Throwable failure) {
    return failure instanceof PeerLost && failure.getCause() instanceof Unanswered;
  }
}
