package io.regatta.predictor;

import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.node.admin.Probes;
import io.regatta.protocol.call.GrpcCalls;
import io.regatta.protocol.call.HeldRequests;
import io.regatta.protocol.call.RequestLimits;
import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.prediction.PredictReply;
import io.regatta.protocol.prediction.PredictRequest;
import io.regatta.protocol.prediction.PredictionGrpcService;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.stream.TensorStreamServer;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The prediction service on one port: {@code POST /predict} with one example per line, answered by
 * {@code {"scores": [...], "step": N}}; {@code GET /model}, {@code /health} and {@code /ready}; and the gRPC service
 * {@code regatta.Prediction}. Used on its verticle's event loop; any thread may read the counts.
 */
final class PredictionEndpoint {

  private static final Logger LOG = LoggerFactory.getLogger(PredictionEndpoint.class);
  private static final PeerLog FAULTS = new PeerLog(LOG);

  /** Number of the largest requests whose bytes may be held at a time. */
  private static final int HELD_REQUESTS = 4;
  /** Longest time until a request's body has arrived. */
  static final long BODY_MILLIS = 30_000;
  /** A connection idle for this long is closed; longer than held requests take to be answered. */
  private static final int IDLE_SECONDS = 120;

  private final Vertx vertx;
  private final PeerSecurity security;
  private final Handler<HttpServerRequest> probes;
  private final BooleanSupplier ready;
  private final Predictor predictor;
  private final int maxBytes;
  /** The bytes of requests of both kinds that have arrived and are not answered. */
  private final HeldRequests held;
  private final AtomicLong examples = new AtomicLong();
  private final AtomicLong refused = new AtomicLong();

  /**
   * Creates a service.
   *
   * @param probes answers {@code /health} and {@code /ready}
   * @param ready returns true if the service is ready, for gRPC's health service
   * @param bodyMillis longest time until a request's body has arrived
   */
  PredictionEndpoint(Vertx vertx, PeerSecurity security, Handler<HttpServerRequest> probes, BooleanSupplier ready,
      Predictor predictor, int maxBytes, long bodyMillis) {
    this.security = security;
    this.probes = probes;
    this.ready = ready;
    this.vertx = vertx;
    this.predictor = predictor;
    this.maxBytes = maxBytes;
    this.held = new HeldRequests(vertx, HELD_REQUESTS * (long) maxBytes, bodyMillis);
  }

  /** Returns the examples that have been answered. */
  long examples() {
    return examples.get();
  }

  /** Returns the requests that were refused, or have failed. */
  long refused() {
    return refused.get() + held.refusals();
  }

  /** Returns a server of both kinds, not yet listening. */
  HttpServer server() {
    GrpcCalls grpc = new GrpcCalls(vertx);
    grpc.service(PredictionGrpcService.SERVICE_DESCRIPTOR, ready, RequestLimits.ofBytes(maxBytes, held))
        .unary(PredictionGrpcService.Predict, this::answer);
    HttpServerOptions options = new HttpServerOptions().setIdleTimeout(IDLE_SECONDS).setIdleTimeoutUnit(TimeUnit.SECONDS);
    Handler<HttpServerRequest> guarded = TensorStreamServer.withOpenHealth(grpc, request -> {
      String type = request.getHeader("content-type");
      if (type != null && type.startsWith("application/grpc") || grpc.hasMethod(request.path())) {
        grpc.handle(request);
      } else {
        http(request);
      }
    }, security);
    Handler<HttpServerRequest> open = security.open(probes);
    return security.server(vertx, options).requestHandler(request -> (isProbe(request) ? open : guarded)
        .handle(request));
  }

  private static boolean isProbe(HttpServerRequest request) {
    return Probes.isProbe(request) && (request.method() == HttpMethod.GET || request.method() == HttpMethod.HEAD);
  }

  private Future<Predictor.Prediction> predict(byte[] text) {
    return Future.fromCompletionStage(predictor.predict(text), vertx.getOrCreateContext());
  }

  /** Counts the outcome of a request. */
  private Future<Predictor.Prediction> counted(Future<Predictor.Prediction> request) {
    return request.onSuccess(predicted -> examples.addAndGet(predicted.scores().length / predictor.outputs().size())).onFailure(e -> refused.incrementAndGet());
  }

  private Future<PredictReply> answer(PredictRequest message) {
    long bytes = message.getSerializedSize();
    Future<Predictor.Prediction> predicting = held.hold(bytes)
        ? predict(text(message)).onComplete(done -> held.giveBack(bytes)) : Future.failedFuture(held.overloaded());
    return counted(predicting).map(predicted -> {
      PredictReply.Builder scores = PredictReply.newBuilder().setStep(predicted.step());
      for (float score : predicted.scores()) {
        scores.addScores(score);
      }
      return scores.build();
    });
  }

  private static byte[] text(PredictRequest message) {
    return String.join("\n", message.getLinesList()).getBytes(StandardCharsets.UTF_8);
  }

  private void http(HttpServerRequest request) {
    switch (request.path()) {
      case "/predict" -> {
        if (request.method() != HttpMethod.POST) {
          answer(request, 405, new JsonObject().put("error", "POST the examples, one per line"));
          return;
        }
        post(request);
      }
      case "/model" -> answer(request, 200, new JsonObject() // the name alone: paths of this machine are not published
          .put("from", String.valueOf(predictor.source().dir().getFileName()))
          .put("run", predictor.source().run()).put("step", predictor.source().step()).put("dense", predictor.layout().dense())
          .put("slots", predictor.layout().slots()));
      default -> answer(request, 404, new JsonObject().put("error", "not found; there are POST /predict and GET /model, /health and /ready"));
    }
  }

  private void post(HttpServerRequest request) {
    String coding = request.getHeader("content-encoding");
    if (coding != null && !coding.equalsIgnoreCase("identity")) {
      refused.incrementAndGet();
      request.response().putHeader("accept-encoding", "identity");
      answer(request, 415, new JsonObject().put("error", "the body has content-encoding " + coding + ", which is not "
          + "supported; send the lines without a content encoding"));
      return;
    }
    String length = request.getHeader("content-length");
    if (length == null || length.length() > 10 || Long.parseLong(length) > maxBytes) {
      refused.incrementAndGet();
      answer(request, length == null ? 411 : 413, new JsonObject().put("error", "a request must have a content-length of at most "
          + maxBytes + " bytes (predictor.max_request_bytes)"));
      return;
    }
    Upload upload = new Upload(request);
    if ("100-continue".equalsIgnoreCase(request.getHeader("expect"))) {
      request.response().writeContinue();
    }
    counted(upload.whole.future().compose(this::predict).onComplete(done -> upload.release())).onSuccess(predicted -> {
      int width = predictor.outputs().size();
      JsonArray all = new JsonArray();
      JsonArray row = all;
      for (int i = 0; i < predicted.scores().length; i++) {
        if (width > 1 && i % width == 0) {
          row = new JsonArray();
          all.add(row);
        }
        row.add(predicted.scores()[i]);
      }
      answer(request, 200, new JsonObject().put("scores", all).put("step", predicted.step()));
    }).onFailure(e -> {
      if (request.isEnded()) {
        log(e);
      } // otherwise its sender is late, or has gone
      int status = e instanceof InvalidInput ? 400 : e instanceof Overloaded ? 503 : e instanceof TimeoutException ? 408 : 500;
      answer(request, status, new JsonObject().put("error", String.valueOf(e.getMessage())));
      if (e instanceof TimeoutException) {
        request.connection().shutdown();
      }
    });
  }

  /** A request's body; no more of it is held than has arrived. */
  private final class Upload {

    private final Promise<byte[]> whole = Promise.promise();
    private final Buffer body = Buffer.buffer();
    private final Runnable hasArrived;

    Upload(HttpServerRequest request) {
      hasArrived = held.awaitArrival(() -> whole.tryFail(new TimeoutException(held.late(body.length() + " bytes"))));
      request.handler(this::take).endHandler(end -> whole.tryComplete(body.getBytes())).exceptionHandler(whole::tryFail);
    }

    /** Takes a buffer of the body; those after a refusal are dropped. */
    private void take(Buffer piece) {
      if (!whole.future().isComplete()) {
        if (held.hold(piece.length())) {
          body.appendBuffer(piece);
        } else {
          whole.tryFail(held.overloaded());
        }
      }
    }

    private void release() {
      hasArrived.run();
      held.giveBack(body.length());
    }
  }

  private static void log(Throwable e) {
    if (!(e instanceof RegattaException)) {
      FAULTS.error("a prediction failed", e);
    }
  }

  /** Answers a client that may have gone. */
  private static void answer(HttpServerRequest request, int status, JsonObject body) {
    if (!request.response().ended() && !request.response().closed()) {
      request.response().setStatusCode(status).putHeader("content-type", "application/json").end(body.encode() + "\n");
    }
  }
}
