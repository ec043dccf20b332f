package io.regatta.snapshot;

import java.io.IOException;
import java.util.function.Supplier;

/**
 * The way from the thread that reads or writes files to the shard's thread: runs a task there in a time slice of its
 * own, and waits for the result. So a slice is requested when the one before has been processed, and no more than one
 * is in memory.
 */
@FunctionalInterface
public interface ShardTurns {

  /**
   * Asks the shard's thread.
   *
   * @throws RuntimeException that the question throws
   * @throws IOException if the wait was ended: the shard is being stopped
   */
  <T> T ask(Supplier<T> question) throws IOException;
}
