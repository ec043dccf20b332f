package io.regatta.core.shard;

import io.regatta.core.exchange.Wait;
import java.util.List;

/**
 * Something that one job on one shard does over turns: a round that is being closed, a pull that is being answered, the
 * pushes that are being checked and applied. Kept and driven by {@link Turns}, on the shard's thread.
 */
interface Work {

  /**
   * Goes on by about this much ({@link Turns#FLOATS}), which is more than 0, and answers for what fails.
   *
   * @return what it did not need of it, or -1 if there is more to do
   */
  long advance(long floats);

  /** It has come to its end, and what it did is there to be seen; may start other work. */
  default void over() {}

  /** Adds who waits for it. */
  default void waits(List<Wait> out) {}
}
