package io.regatta.core.loop;

import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;

/**
 * The disk as the owner of a loop uses it: blocking work that is done elsewhere, and the way back to the owner's thread. Called on
 * the owner's loop, on which every result completes, except where a method says otherwise.
 */
public interface Disk {

  /**
   * Does work in the order in which it was given, one piece at a time.
   *
   * @return fails with what the work throws, and with {@link java.util.concurrent.RejectedExecutionException} if the disk has been
   *     closed before
   */
  <T> CompletableFuture<T> inTurn(Callable<T> work);

  /** Does work that may overtake other work, such as a look at a directory; fails with what the work throws. */
  <T> CompletableFuture<T> atOnce(Callable<T> work);

  /**
   * Has the owner's loop do something, and waits for the outcome. Called by the work that is done in turn, on its thread.
   *
   * @throws RuntimeException what the question throws
   * @throws IOException if the wait was ended: the disk is being closed
   */
  <T> T ask(Supplier<T> question) throws IOException;

  /** Ends the waits of the work under way, and does no more. Completes once that work has ended. */
  CompletionStage<Void> close();
}
