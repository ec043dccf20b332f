package io.regatta.training.replica;

import java.util.concurrent.CompletableFuture;

/** Combinations of results for which a model thread waits. Stateless. */
public final class Stages {

  private Stages() {}

  /**
   * Returns a future that completes with the first when both have completed, and fails as soon as one does, because the
   * other may then never complete.
   */
  public static <A, B> CompletableFuture<A> both(CompletableFuture<A> first, CompletableFuture<B> second) {
    CompletableFuture<A> out = first.thenCombine(second, (a, b) -> a);
    first.whenComplete((v, e) -> failed(out, e));
    second.whenComplete((v, e) -> failed(out, e));
    return out;
  }

  private static void failed(CompletableFuture<?> out, Throwable e) {
    if (e != null) {
      out.completeExceptionally(e);
    }
  }
}
