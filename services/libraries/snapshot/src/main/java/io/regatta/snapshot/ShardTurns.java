package io.regatta.snapshot;

import java.io.IOException;
import java.util.function.Supplier;

/**
 * The way from the thread that reads or writes files to the shard's: has something done there in a turn of its own, and waits
 * for the outcome. So a slice is asked for when the one before has been dealt with, and no more than one is in memory.
 */
@FunctionalInterface
public interface ShardTurns {

  /**
   * Asks the shard's thread.
   *
   * @throws RuntimeException what the question throws
   * @throws IOException if the wait was ended: the shard is being stopped
   */
  <T> T ask(Supplier<T> question) throws IOException;
}
