package io.regatta.protocol;

import io.regatta.core.error.RegattaException.PeerLost;

/**
 * The cause of a {@code PeerLost} by which a control call fails that has got no answer: the peer could not be reached, is gone, or
 * the connection broke. What the peer itself says of others who are lost has no such cause. Immutable.
 */
public final class NoResponseException extends Exception {
  private static final long serialVersionUID = 2;

  private final boolean sent;

  /** @param sent whether the peer may have got the request */
  NoResponseException(Throwable cause, boolean sent) {
    super(cause == null ? null : cause.getMessage(), cause);
    this.sent = sent;
  }

  /** Whether a call has failed in this way, so that it may succeed if it is made again and may be repeated. */
  public static boolean isCauseOf(Throwable failure) {
    return failure instanceof PeerLost && failure.getCause() instanceof NoResponseException;
  }

  /** Returns true if a call has failed before it had a connection: nothing was sent, and any call may be repeated. */
  public static boolean isBeforeSending(Throwable failure) {
    return isCauseOf(failure) && !((NoResponseException) failure.getCause()).sent;
  }
}
