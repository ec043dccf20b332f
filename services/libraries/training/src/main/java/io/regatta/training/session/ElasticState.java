package io.regatta.training.session;

import java.nio.FloatBuffer;

/**
 * The state that a rank trains, to be copied to another one: parameters, the optimizer's state, and running means.
 * Owned by the rank's model thread, which makes all calls.
 */
public interface ElasticState {

  /** Returns the number of floats; at most {@code Integer.MAX_VALUE} if there are more. */
  int floats();

  /** Returns the progress as counters; the first is the number of steps that the state contains. */
  long[] progress();

  /** Writes the state at the buffer's position. */
  void write(FloatBuffer to);

  /**
   * Takes over the state of another rank's {@link #write}.
   *
   * @param own true if this rank was a rank before, so that its own values (running means) stay
   */
  void take(FloatBuffer from, long[] progress, boolean own);
}
