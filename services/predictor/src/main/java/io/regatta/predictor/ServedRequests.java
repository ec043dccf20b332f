package io.regatta.predictor;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.predictor.Predictor.Prediction;
import io.regatta.predictor.PredictionJson.Answer;
import io.regatta.protocol.call.HeldRequests;
import io.regatta.protocol.call.ServerCall;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.vertx.VertxLoop;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonObject;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The requests of one port, from their arrival to their answer: HTTP requests and gRPC calls have one limit of bytes
 * and one pair of counts. If a client goes, its prediction is cancelled. Used on the loop of the port; any thread may
 * read the counts.
 */
final class ServedRequests {

  private static final Logger LOG = LoggerFactory.getLogger(ServedRequests.class);
  private static final PeerLog FAULTS = new PeerLog(LOG);

  private final HeldRequests held;
  private final RequestBodies bodies;
  private final AnswerLoop answers;
  private final RequestExecutor executor;
  private final AtomicLong examples = new AtomicLong();
  private final AtomicLong refused = new AtomicLong();

  /**
   * Creates it for the calling loop.
   *
   * @param bodyMillis longest time until a request has arrived
   */
  ServedRequests(Vertx vertx, PredictorConfig config, long bodyMillis) {
    held = new HeldRequests(vertx, config.heldBytes(), bodyMillis);
    bodies = new RequestBodies(held, config.maxRequestBytes());
    answers = new AnswerLoop(VertxLoop.current(vertx));
    executor = new RequestExecutor(vertx);
  }

  /** Returns the limit of bytes, which gRPC calls share while they arrive. */
  HeldRequests held() {
    return held;
  }

  /** Returns the threads for large requests. */
  RequestExecutor executor() {
    return executor;
  }

  /** Returns the examples that have been answered. */
  long examples() {
    return examples.get();
  }

  /** Returns the requests that were refused, or have failed. */
  long refused() {
    return refused.get() + held.refusals();
  }

  /**
   * Reads the body of a request, predicts its examples and answers.
   *
   * @param predict gets the body; what it throws is answered as the prediction's failure. Another thread may call it
   * @param answer makes the answer; another thread may call it
   */
  void post(HttpServerRequest request, Function<byte[], CompletableFuture<Prediction>> predict,
      Function<Prediction, Answer> answer) {
    RequestBodies.Body[] body = new RequestBodies.Body[1];
    body[0] = bodies.read(request, (bytes, error) -> {
      if (error != null) {
        failed(request, error, body[0]);
        return;
      }
      CompletableFuture<Prediction> predicting = executor.begin(bytes.length, () -> predict.apply(bytes));
      request.response().exceptionHandler(e -> predicting.cancel(false))
          .closeHandler(closed -> predicting.cancel(false));
      predicting.whenCompleteAsync((prediction, failure) -> {
        if (failure != null) {
          log(failure);
          failed(request, failure, body[0]);
          return;
        }
        executor.answer(prediction, () -> answer.apply(prediction)).onSuccess(made -> {
          body[0].release();
          count(prediction);
          made.send(request);
        }).onFailure(e -> {
          log(e);
          failed(request, e, body[0]);
        });
      }, answers);
    });
  }

  /**
   * Answers a call with a prediction.
   *
   * @param bytes of the request
   * @param predict what it throws is answered as the prediction's failure; another thread may call it
   * @param reply makes the answer; another thread may call it
   * @return withdraws the call
   */
  <Q, A> Runnable call(long bytes, ServerCall<Q, A> call, Supplier<CompletableFuture<Prediction>> predict,
      Function<Prediction, A> reply) {
    if (!held.hold(bytes)) {
      count(null);
      call.fail(held.overloaded());
      return () -> { };
    }
    CompletableFuture<Prediction> predicting = executor.begin(bytes, predict);
    predicting.whenCompleteAsync((prediction, error) -> {
      Future<A> answer = error != null ? Future.failedFuture(error)
          : executor.answer(prediction, () -> reply.apply(prediction));
      answer.onComplete(made -> {
        held.giveBack(bytes);
        count(made.succeeded() ? prediction : null);
        if (made.succeeded()) {
          call.end(made.result());
        } else if (!(made.cause() instanceof CancellationException)) { // whoever cancels it is gone
          call.fail(made.cause());
        }
      });
    }, answers);
    return () -> predicting.cancel(false);
  }

  /** Counts the outcome of a request; null: it has failed. */
  private void count(Prediction prediction) {
    if (prediction == null) {
      refused.incrementAndGet();
    } else {
      examples.addAndGet(prediction.scores().length / prediction.outputs());
    }
  }

  private void failed(HttpServerRequest request, Throwable e, RequestBodies.Body body) {
    if (body != null) {
      body.release();
    }
    count(null);
    int status = e instanceof RequestBodies.Refused early ? early.status() : e instanceof InvalidInput ? 400
        : e instanceof Overloaded ? 503 : e instanceof TimeoutException ? 408 : 500;
    PredictionJson.answer(request, status, new JsonObject().put("error", String.valueOf(e.getMessage())));
    if (e instanceof TimeoutException) {
      request.connection().shutdown();
    }
  }

  private static void log(Throwable e) {
    if (!(e instanceof RegattaException || e instanceof CancellationException)) {
      FAULTS.error("a prediction failed", e);
    }
  }
}
