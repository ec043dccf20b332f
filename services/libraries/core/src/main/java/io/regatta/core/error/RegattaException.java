package io.regatta.core.error;

/**
 * The closed set of failures that cross a service boundary. Each subclass is a decision for the caller; the text
 * says what happened, where (job, rank, peer, table, step) and what to do next. It is one line, shown as
 * {@link PeerText#message} says, because some of it may be a peer's. One class in {@code shared-protocol}
 * maps them to gRPC status codes and back.
 */
public abstract sealed class RegattaException extends RuntimeException {

  private RegattaException(String message, Throwable cause) {
    super(message == null ? null : PeerText.message(message), cause);
  }

  /** The request can never succeed as it is: wrong shape, dtype, table, value or configuration. Mend it; do not retry. */
  public static final class InvalidInput extends RegattaException {
    public InvalidInput(String message) {
      super(message, null);
    }

    public InvalidInput(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /** Somebody else holds what was asked for: a rank taken, another model under this job's name. Do not retry unchanged. */
  public static final class Conflict extends RegattaException {
    public Conflict(String message) {
      super(message, null);
    }
  }

  /** The group has moved on to a newer generation, or the peer is a newer incarnation. Re-join, then try again. */
  public static final class StaleGeneration extends RegattaException {
    public StaleGeneration(String message) {
      super(message, null);
    }
  }

  /** The addressed process does not own the shard, block or group. Ask the directory again. */
  public static final class NotOwner extends RegattaException {
    public NotOwner(String message) {
      super(message, null);
    }
  }

  /** A configured limit (queue, open round, message size) is reached. Back off and try again. */
  public static final class Overloaded extends RegattaException {
    public Overloaded(String message) {
      super(message, null);
    }
  }

  /** A peer needed for the operation is gone, or never came. Recover or give up; a retry against it cannot help. */
  public static final class PeerLost extends RegattaException {
    public PeerLost(String message) {
      super(message, null);
    }

    public PeerLost(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /** The operation may or may not have happened. Repeat it with the same sequence number: repetition is harmless. */
  public static final class Indeterminate extends RegattaException {
    public Indeterminate(String message, Throwable cause) {
      super(message, cause);
    }
  }

  /** The run that this process belongs to has ended with success: nothing is left to do, and a process that comes late ends well. */
  public static final class RunEnded extends RegattaException {
    public RunEnded(String message) {
      super(message, null);
    }
  }

  /** The local side is shutting down or was interrupted (Ctrl-C, close). Nothing to mend. */
  public static final class Cancelled extends RegattaException {
    public Cancelled(String message) {
      super(message, null);
    }
  }
}
