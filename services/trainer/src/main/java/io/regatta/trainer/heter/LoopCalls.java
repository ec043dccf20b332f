package io.regatta.trainer.heter;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.loop.Loop;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/** The calls of model threads to the loop of {@link HeterWorkers} that have no answer. Any thread may use it. */
final class LoopCalls {

  /** A kind of call. */
  enum Kind { OPEN, COMPUTE }

  private final Loop loop;
  private final Map<CompletionStage<?>, Kind> awaited = new ConcurrentHashMap<>();

  LoopCalls(Loop loop) {
    this.loop = loop;
  }

  /** Runs a call on the loop; returns its answer, which it completes. */
  <T> CompletionStage<T> run(Kind kind, Consumer<CompletableFuture<T>> call) {
    CompletableFuture<T> answer = new CompletableFuture<>();
    awaited.put(answer, kind);
    answer.whenComplete((value, error) -> awaited.remove(answer));
    try {
      loop.execute(() -> {
        try {
          call.accept(answer);
        } catch (RuntimeException | Error e) { // whatever it is: a model thread waits
          answer.completeExceptionally(e);
        }
      });
    } catch (RejectedExecutionException e) {
      answer.completeExceptionally(new Cancelled("this trainer is stopped"));
    }
    return answer;
  }

  /** Returns the kind of the call whose answer this stage is; empty if that has completed, or is of no call. */
  Optional<Kind> kind(CompletionStage<?> stage) {
    return Optional.ofNullable(awaited.get(stage));
  }
}
