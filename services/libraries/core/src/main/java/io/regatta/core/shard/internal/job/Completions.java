package io.regatta.core.shard.internal.job;

import java.util.ArrayDeque;
import java.util.function.BiConsumer;

/**
 * Callbacks that a shard owes, run once its state is consistent again. A callback may call the shard: what that
 * completes is queued behind, never nested. Owned by the shard's thread.
 */
public final class Completions {

  private final ArrayDeque<Runnable> queue = new ArrayDeque<>();
  private boolean draining;

  public <T> void value(BiConsumer<T, Throwable> done, T value) {
    queue.add(() -> done.accept(value, null));
  }

  public void error(BiConsumer<?, Throwable> done, Throwable e) {
    queue.add(() -> done.accept(null, e));
  }

  /** Runs everything queued, in order. A callback that throws does not keep the others from running. */
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
