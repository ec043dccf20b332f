package io.regatta.core.shard.internal.job;

import java.util.ArrayDeque;
import java.util.concurrent.CompletableFuture;

/**
 * Answers that a shard owes, given once its state is consistent again. The caller of a request may call the shard when
 * it gets an answer: the answers of that call are queued behind, never nested. Owned by the shard's thread.
 */
public final class Completions {

  private final ArrayDeque<Runnable> queue = new ArrayDeque<>();
  private boolean draining;

  public <T> void value(CompletableFuture<T> done, T value) {
    queue.add(() -> once(done.complete(value)));
  }

  /** Answers with a value, and runs a task after the receiver has had it. */
  public <T> void value(CompletableFuture<T> done, T value, Runnable received) {
    queue.add(() -> {
      try {
        once(done.complete(value));
      } finally {
        received.run();
      }
    });
  }

  public void error(CompletableFuture<?> done, Throwable e) {
    queue.add(() -> once(done.completeExceptionally(e)));
  }

  private static void once(boolean first) {
    if (!first) {
      throw new IllegalStateException("a request to this shard was answered twice; report this as a defect");
    }
  }

  /** Gives all answers that are queued, in order. One that fails does not keep the others back. */
  public void drain() {
    if (draining) {
      return;
    }
    draining = true;
    Throwable thrown = null;
    try {
      for (Runnable r = queue.poll(); r != null; r = queue.poll()) {
        try {
          r.run();
        } catch (RuntimeException | Error e) {
          if (thrown == null) {
            thrown = e;
          } else {
            thrown.addSuppressed(e);
          }
        }
      }
    } finally {
      draining = false;
    }
    if (thrown instanceof Error e) {
      throw e;
    }
    if (thrown != null) {
      throw (RuntimeException) thrown;
    }
  }
}
