package io.regatta.protocol.network;

import io.regatta.core.error.RegattaException.PeerLost;

/**
 * The cause of a {@code PeerLost} of a control call without an answer: the peer could not be reached, is gone, or the
 * connection broke. A peer's own report of the loss of others has no such cause. Immutable.
 */
public final class NoResponseException extends Exception {
  private static final long serialVersionUID = 2;

  private final boolean sent;

  /** @param sent whether the peer may have got the request */
  NoResponseException(Throwable cause, boolean sent) {
    super(cause == null ? null : cause.getMessage(), cause);
    this.sent = sent;
  }

  /**
   * Returns true if a call has failed in this way, so that it may succeed if it is repeated, provided that it may be.
   */
  public static boolean isCauseOf(Throwable failure) {
    return failure instanceof PeerLost && failure.getCause() instanceof NoResponseException;
  }

  /** Returns true if a call has failed before it had a connection: nothing was sent, and any call may be repeated. */
  public static boolean isBeforeSending(Throwable failure) {
    return isCauseOf(failure) && !((NoResponseException) failure.getCause()).sent;
  }
}
