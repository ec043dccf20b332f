package io.regatta.predictor;

import io.regatta.predictor.Predictor.Prediction;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.WorkerExecutor;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * The threads of a port for what would keep its loop too long: large requests are parsed, images decoded, and large
 * answers written on two threads named {@code regatta-predictor-requests}. Any thread.
 */
final class RequestExecutor {

  private static final int THREADS = 2;
  /** Most bytes of a request that is parsed at once. */
  private static final long AT_ONCE_BYTES = 1 << 16;
  /** Most scores of an answer that is written at once. */
  private static final int AT_ONCE_SCORES = 1 << 13;

  private final WorkerExecutor threads;

  RequestExecutor(Vertx vertx) {
    threads = vertx.createSharedWorkerExecutor("regatta-predictor-requests-" + UUID.randomUUID(), THREADS);
  }

  /**
   * Begins a prediction: at once if the request is small, else on another thread.
   *
   * @param bytes of the request
   * @param predict parses the request; the future fails with what it throws
   * @return cancelling it cancels the prediction
   */
  CompletableFuture<Prediction> begin(long bytes, Supplier<CompletableFuture<Prediction>> predict) {
    if (bytes > AT_ONCE_BYTES) {
      return later(predict);
    }
    try {
      return predict.get();
    } catch (RuntimeException | Error e) {
      return CompletableFuture.failedFuture(e);
    }
  }

  /** Begins a prediction on another thread; see {@link #begin}. A cancelled one is not begun. */
  CompletableFuture<Prediction> later(Supplier<CompletableFuture<Prediction>> predict) {
    CompletableFuture<Prediction> result = new CompletableFuture<>();
    threads.<Void>executeBlocking(() -> {
      if (!result.isDone()) {
        follow(predict.get(), result);
      }
      return null;
    }, false).onFailure(result::completeExceptionally);
    return result;
  }

  private static void follow(CompletableFuture<Prediction> predicting, CompletableFuture<Prediction> result) {
    result.whenComplete((prediction, error) -> predicting.cancel(false));
    predicting.whenComplete((prediction, error) -> {
      if (error != null) {
        result.completeExceptionally(error);
      } else {
        result.complete(prediction);
      }
    });
  }

  /** Makes an answer: at once if the prediction is small, else on another thread. The future completes on the loop. */
  <T> Future<T> answer(Prediction prediction, Callable<T> make) {
    if (prediction.scores().length > AT_ONCE_SCORES) {
      return threads.executeBlocking(make, false);
    }
    try {
      return Future.succeededFuture(make.call());
    } catch (Exception | Error e) {
      return Future.failedFuture(e);
    }
  }

  Future<Void> close() {
    return threads.close();
  }
}
