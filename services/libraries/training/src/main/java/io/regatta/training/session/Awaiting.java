package io.regatta.training.session;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;

/**
 * A waiter that blocks model threads until a future completes, and releases them all when the session closes. Any
 * thread may use it: model threads wait, the session's owner ends the waits.
 */
public final class Awaiting {

  private final Set<CompletableFuture<?>> waiting = ConcurrentHashMap.newKeySet();
  private volatile RegattaException reason;

  /** Ends all present and later waits with this reason. The first reason counts. */
  public void end(RegattaException why) {
    if (reason == null) {
      reason = why;
    }
    waiting.forEach(w -> w.completeExceptionally(reason));
  }

  /** Waits on the calling thread. {@code what} names the wait in the message of an interrupted thread. */
  public <T> T await(String what, CompletionStage<T> stage) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    stage.whenComplete((value, error) -> {
      if (error != null) {
        answer.completeExceptionally(error);
      } else {
        answer.complete(value);
      }
    });
    waiting.add(answer);
    if (reason != null) {
      answer.completeExceptionally(reason);
    }
    try {
      return answer.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new Cancelled(what + " was interrupted");
    } catch (ExecutionException e) {
      throw rethrown(e.getCause());
    } finally {
      waiting.remove(answer);
    }
  }

  /**
   * Returns a failure as the model thread throws it: Regatta's own errors are unchanged, with the stack of the waiting
   * thread.
   */
  public static RuntimeException rethrown(Throwable failure) {
    Throwable cause = failure;
    while (cause instanceof CompletionException && cause.getCause() != null) {
      cause = cause.getCause();
    }
    if (cause instanceof RuntimeException e) {
      e.addSuppressed(new WaitedHere());
      return e;
    }
    return new IllegalStateException(cause);
  }

  /** The place where a model thread waited for an operation that failed elsewhere. */
  private static final class WaitedHere extends RuntimeException {
    private static final long serialVersionUID = 1;

    WaitedHere() {
      super("while this model thread waited");
    }
  }
}
