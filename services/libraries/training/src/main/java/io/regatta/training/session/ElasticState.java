package io.regatta.training.session;

import java.nio.FloatBuffer;

/**
 * What a rank trains, to be copied to another one: parameters, the optimizer's state, and running means. Owned by the rank's
 * model thread, which calls all of it.
 */
public interface ElasticState {

  /** Number of floats of all of it; at most {@code Integer.MAX_VALUE} where there are more. */
  int floats();

  /** How far it is: counters, the first of them the number of steps that are inside. */
  long[] progress();

  /** Writes all of it at the buffer's position. */
  void write(FloatBuffer to);

  /**
   * Takes over what another rank's {@link #write} has written.
   *
   * @param own whether this rank has been a rank before, so that what is each rank's own (running means) stays
   */
  void take(FloatBuffer from, long[] progress, boolean own);
}
