package io.regatta.training.session;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.nio.FloatBuffer;

/**
 * The {@link ElasticState} of a {@link RankOperations} as it is copied to others and from them. It is this rank's
 * state, or, until its program has made a model, the state that it received. Belongs to the rank's model thread.
 */
final class StateCopy {

  /** Most floats of one buffer. */
  private static final long FLOATS_MAX = Integer.MAX_VALUE / Float.BYTES;

  /** Null until there is state to copy. */
  private ElasticState state;
  /** State that this rank received when it joined, until there is a model for it. */
  private FloatBuffer given;
  private long[] givenProgress = {};

  int floats() {
    return state == null ? 0 : state.floats();
  }

  long[] progress() {
    return state == null ? new long[0] : state.progress();
  }

  void write(FloatBuffer to) {
    if (state != null) {
      state.write(to);
    }
  }

  /** Takes the state of another rank, with its progress, if it is ahead of this rank's own. */
  void take(FloatBuffer floats, long[] progress) {
    if (state == null) { // also of a rank that had begun, but has no model yet
      given = progress.length == 0 ? null : floats.slice();
      givenProgress = progress;
    } else if (progress.length > 0 && progress[0] > state.progress()[0]) {
      state.take(floats, progress, true);
    }
  }

  /** See {@link RankOperations#keeps}. */
  boolean keeps(ElasticState of, String who, String elasticBy, int beside) {
    if (of.floats() + (long) beside > FLOATS_MAX) {
      throw new InvalidInput(who + ": its parameters, optimizer and running means are " + of.floats() + " values, but an elastic job "
          + "(" + elasticBy + ") copies at most " + (FLOATS_MAX - beside) + " beside the " + beside
          + " of its last call (2 GiB in all); choose an optimizer with less state, or remove " + elasticBy);
    }
    state = of;
    if (given == null) {
      return false;
    }
    if (given.remaining() != of.floats()) {
      throw new InvalidInput(who + ": its model and optimizer have " + of.floats() + " values, those of the others "
          + given.remaining() + "; start all with the same program and job");
    }
    of.take(given, givenProgress, false);
    given = null;
    return true;
  }

  boolean isGiven() {
    return given != null;
  }
}
