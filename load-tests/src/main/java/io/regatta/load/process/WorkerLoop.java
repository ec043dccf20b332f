package io.regatta.load.process;

import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** An event loop of a Vertx, with the worker's thread that waits for results from it. */
public final class WorkerLoop implements Executor {
  private static final long LIMIT_SECONDS = 60;

  private final Context context;

  private WorkerLoop(Context context) {
    this.context = context;
  }

  /** Creates a context of its own, as a verticle has one. Blocks. */
  public static WorkerLoop on(Vertx vertx) throws Exception {
    Promise<Context> made = Promise.promise();
    await(vertx.deployVerticle(context -> {
      made.complete(context);
      return Future.succeededFuture();
    }));
    return new WorkerLoop(await(made.future()));
  }

  /** Returns the loop's context. */
  public Context context() {
    return context;
  }

  @Override
  public void execute(Runnable action) {
    context.runOnContext(v -> action.run());
  }

  /** Makes a call on the loop and waits for its result; a failure is thrown as it is. */
  public <T> T call(Supplier<Future<T>> call) throws Exception {
    Promise<T> promise = Promise.promise();
    execute(() -> {
      try {
        call.get().onComplete(promise);
      } catch (RuntimeException | Error e) {
        promise.fail(e);
      }
    });
    return await(promise.future());
  }

  /** Returns the result, or throws the failure as it is; not on an event loop. */
  public static <T> T await(Future<T> future) throws Exception {
    try {
      return future.toCompletionStage().toCompletableFuture().get(LIMIT_SECONDS, TimeUnit.SECONDS);
    } catch (ExecutionException e) {
      throw e.getCause() instanceof Exception cause ? cause : e;
    }
  }
}
