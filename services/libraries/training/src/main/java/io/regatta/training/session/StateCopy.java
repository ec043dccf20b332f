package io.regatta.training.session;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.nio.FloatBuffer;

/**
 * The {@link ElasticState} of an {@link RankOperations} as it comes to others and from them: what this rank has, or, as
 * long as its program has not made a model, what it has been given for that. Belongs to the rank's model thread.
 */
final class StateCopy {

  /** That one buffer holds. */
  private static final long FLOATS_MAX = Integer.MAX_VALUE / Float.BYTES;

  /** Null until there is something to copy. */
  private ElasticState state;
  /** What this rank was given when it came, until there is a model to put it into. */
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

  /** What another rank has written, of which that much is inside; kept where it is more than what is here. */
  void take(FloatBuffer floats, long[] progress) {
    if (state == null) { // also of one that had begun, and not got to its model yet
      given = progress.length == 0 ? null : floats.slice();
      givenProgress = progress;
    } else if (progress.length > 0 && progress[0] > state.progress()[0]) {
      state.take(floats, progress, true);
    }
  }

  /** See {@link RankOperations#keeps}. */
  boolean keeps(ElasticState of, String who, String elasticBy, int beside) {
    if (of.floats() + (long) beside > FLOATS_MAX) {
      throw new InvalidInput(who + ": its parameters, optimizer and running means are " + of.floats() + " values, and an elastic job "
          + "(" + elasticBy + ") copies at most " + (FLOATS_MAX - beside) + " beside the " + beside
          + " of its last call (2 GiB in all); take an optimizer that keeps less, or take " + elasticBy + " out");
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
