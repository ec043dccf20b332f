package io.regatta.training.replica;

import java.util.concurrent.CompletableFuture;

/** Combinations of results that a model thread waits for. */
public final class Stages {

  private Stages() {}

  /** Completes with the first when both have, and fails as soon as one does: the other may then never end. */
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
