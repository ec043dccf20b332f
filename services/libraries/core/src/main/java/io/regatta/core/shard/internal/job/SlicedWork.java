package io.regatta.core.shard.internal.job;

import io.regatta.core.exchange.Wait;
import java.util.List;

/**
 * Work of one job on one shard that may take several time slices. Examples are a round that is being closed, a pull
 * that is being answered, and pushes that are being checked and applied. Queued and driven by {@link TimeSlices}, on
 * the shard's thread.
 */
public interface SlicedWork {

  /**
   * Does about {@code floats} (> 0) of the work ({@link TimeSlices#FLOATS}), and handles what fails.
   *
   * @return the budget that is left, or -1 if there is more to do
   */
  long advance(long floats);

  /** Called at the end of the work, when its effects are visible; may start other work. */
  default void over() {}

  /** Adds the requests that wait for this work. */
  default void waits(List<Wait> out) {}
}
