package io.regatta.trainer;

import io.regatta.core.error.RegattaException.Cancelled;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Supplier;

/** A way for model threads to call what the event loop of {@link TrainerVerticle} owns. Any thread may use it. */
final class OwnerLoop {

  private final Context context;
  private final Supplier<String> name;

  /** @param name of the trainer, for messages */
  OwnerLoop(Context context, Supplier<String> name) {
    this.context = context;
    this.name = name;
  }

  void execute(Runnable task) {
    context.runOnContext(v -> task.run());
  }

  /** Runs a call on the loop; its outcome may be awaited on another thread. */
  <T> CompletableFuture<T> call(Supplier<Future<T>> call) {
    CompletableFuture<T> outcome = new CompletableFuture<>();
    Promise<T> promise = Promise.promise();
    promise.future().onSuccess(outcome::complete).onFailure(outcome::completeExceptionally);
    try {
      context.runOnContext(v -> {
        try {
          call.get().onComplete(promise);
        } catch (RuntimeException | Error e) { // whatever it is: a model thread waits
          promise.fail(e);
        }
      });
    } catch (RejectedExecutionException e) {
      promise.fail(new Cancelled(name.get() + " is stopped"));
    }
    return outcome;
  }
}
