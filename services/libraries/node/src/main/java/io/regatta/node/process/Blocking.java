package io.regatta.node.process;

import io.regatta.core.error.RegattaException.Cancelled;
import io.vertx.core.Future;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Waiting for futures on threads that may block: main threads, shutdown hooks, model threads. Never on an event loop.
 */
public final class Blocking {

  private Blocking() {}

  /** Returns the result, or throws the future's failure as it is. */
  public static <T> T get(Future<T> future) {
    try {
      return future.toCompletionStage().toCompletableFuture().get();
    } catch (ExecutionException e) {
      throw unwrapped(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Cancelled("interrupted while waiting");
    }
  }

  /** Returns true if the future ended in time, with success or not. */
  public static boolean settles(Future<?> future, Duration limit) {
    try {
      future.toCompletionStage().toCompletableFuture().get(limit.toMillis(), TimeUnit.MILLISECONDS);
      return true;
    } catch (ExecutionException e) {
      return true;
    } catch (TimeoutException e) {
      return false;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }

  private static RuntimeException unwrapped(ExecutionException e) {
    return e.getCause() instanceof RuntimeException failure ? failure
        : new IllegalStateException(e.getCause().toString(), e.getCause());
  }
}
