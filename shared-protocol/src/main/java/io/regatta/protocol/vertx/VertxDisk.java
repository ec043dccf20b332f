package io.regatta.protocol.vertx;

import io.regatta.core.loop.Disk;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Supplier;

/** The disk of the machine: one worker thread of its own does what is done in turn, Vert.x's workers do the rest. */
public final class VertxDisk implements Disk {
  private static final long LONGEST_DAYS = 7;
  private static final long LOOK_MILLIS = 500;

  private final VertxLoop loop;
  private final WorkerExecutor worker;
  /** Written on the loop, read by the worker. */
  private volatile boolean closed;

  /** @param name of the worker thread */
  public VertxDisk(Vertx vertx, VertxLoop loop, String name) {
    this.loop = loop;
    worker = vertx.createSharedWorkerExecutor(name, 1, LONGEST_DAYS, TimeUnit.DAYS);
  }

  @Override
  public <T> CompletableFuture<T> inTurn(Callable<T> work) {
    try {
      return onLoop(worker.executeBlocking(work, true));
    } catch (IllegalStateException e) {
      return CompletableFuture.failedFuture(new RejectedExecutionException("the disk has been closed", e));
    }
  }

  @Override
  public <T> CompletableFuture<T> atOnce(Callable<T> work) {
    return onLoop(loop.context().executeBlocking(work, false));
  }

  private <T> CompletableFuture<T> onLoop(Future<T> done) {
    CompletableFuture<T> result = new CompletableFuture<>();
    done.onComplete(end -> {
      if (end.succeeded()) {
        result.complete(end.result());
      } else {
        result.completeExceptionally(end.cause());
      }
    });
    return result;
  }

  @Override
  public <T> T ask(Supplier<T> question) throws IOException {
    CompletableFuture<T> answer = new CompletableFuture<>();
    loop.execute(() -> {
      try {
        answer.complete(question.get());
      } catch (RuntimeException | Error e) {
        answer.completeExceptionally(e);
      }
    });
    while (true) {
      try {
        return answer.get(LOOK_MILLIS, TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        if (closed) { // the loop may not run any more
          throw new IOException("its owner is being stopped");
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IOException("its owner is being stopped");
      } catch (ExecutionException e) {
        if (e.getCause() instanceof RuntimeException cause) {
          throw cause;
        }
        throw new IllegalStateException(e.getCause());
      }
    }
  }

  @Override
  public CompletionStage<Void> close() {
    closed = true;
    return worker.close().toCompletionStage();
  }
}
