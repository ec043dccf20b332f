package io.regatta.predictor;

import io.regatta.node.admin.Probes;
import io.regatta.predictor.Predictor.Prediction;
import io.regatta.predictor.request.RequestFormats;
import io.regatta.protocol.call.GrpcCalls;
import io.regatta.protocol.call.RequestLimits;
import io.regatta.protocol.inference.GRPCInferenceServiceGrpcService;
import io.regatta.protocol.prediction.PredictReply;
import io.regatta.protocol.prediction.PredictRequest;
import io.regatta.protocol.prediction.PredictionGrpcService;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.protocol.stream.TensorStreamServer;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * The prediction service on one port: {@code POST /predict} with examples in one of {@link RequestFormats}, answered by
 * {@code {"scores": [...], "step": N}}; {@code GET /model}, {@code /openapi.json}, {@code /health} and {@code /ready};
 * the gRPC service {@code regatta.Prediction}; and the Open Inference Protocol over HTTP and gRPC. Used on its
 * verticle's event loop; any thread may read the counts.
 */
final class PredictionEndpoint {

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
  private final ServedRequests requests;
  private final Optional<ImageRequests> images;
  private final InferenceHttp inference;
  private final InferenceCalls inferenceCalls;

  /**
   * Creates a service of the calling loop.
   *
   * @param probes answers {@code /health} and {@code /ready}
   * @param ready returns true if the service is ready, for gRPC's health service and that of the Open Inference Protocol
   * @param bodyMillis longest time until a request's body has arrived
   */
  PredictionEndpoint(Vertx vertx, PeerSecurity security, Handler<HttpServerRequest> probes, BooleanSupplier ready,
      Predictor predictor, PredictorConfig config, long bodyMillis) {
    this.security = security;
    this.probes = probes;
    this.ready = ready;
    this.vertx = vertx;
    this.predictor = predictor;
    this.maxBytes = config.maxRequestBytes();
    requests = new ServedRequests(vertx, config, bodyMillis);
    images = predictor.images().map(input -> new ImageRequests(requests.executor(), predictor, input, config.maxPixels()));
    InferenceService service = new InferenceService(predictor, images, ready);
    inference = new InferenceHttp(service, requests);
    inferenceCalls = new InferenceCalls(service, requests);
  }

  /** Returns the examples that have been answered. */
  long examples() {
    return requests.examples();
  }

  /** Returns the requests that were refused, or have failed. */
  long refused() {
    return requests.refused();
  }

  /** Returns a server of all kinds, not yet listening. */
  HttpServer server() {
    GrpcCalls grpc = new GrpcCalls(vertx);
    RequestLimits limits = RequestLimits.ofBytes(maxBytes, requests.held());
    grpc.service(PredictionGrpcService.SERVICE_DESCRIPTOR, ready, limits).call(PredictionGrpcService.Predict,
        (message, call) -> requests.call(message.getSerializedSize(), call, () -> predictor.predict(text(message)), PredictionEndpoint::reply));
    inferenceCalls.bind(grpc.service(GRPCInferenceServiceGrpcService.SERVICE_DESCRIPTOR, ready, limits));
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

  private static PredictReply reply(Prediction prediction) {
    PredictReply.Builder scores = PredictReply.newBuilder().setStep(prediction.step());
    for (float score : prediction.scores()) {
      scores.addScores(score);
    }
    return scores.build();
  }

  private static byte[] text(PredictRequest message) {
    return String.join("\n", message.getLinesList()).getBytes(StandardCharsets.UTF_8);
  }

  private void http(HttpServerRequest request) {
    String path = String.valueOf(request.path());
    switch (path) {
      case "/predict" -> {
        if (request.method() != HttpMethod.POST) {
          error(request, 405, "POST the examples");
          return;
        }
        predict(request);
      }
      case "/model" -> PredictionJson.answer(request, 200, new JsonObject() // the name alone: paths of this machine are not published
          .put("from", String.valueOf(predictor.source().dir().getFileName()))
          .put("run", predictor.source().run()).put("step", predictor.source().step()).put("dense", predictor.layout().dense())
          .put("slots", predictor.layout().slots())
          .put("outputs", new JsonArray(predictor.outputNames())));
      case "/openapi.json" -> PredictionJson.answer(request, 200, OpenApi.document(predictor));
      default -> {
        if (!path.equals("/v2") && !path.startsWith("/v2/")) {
          error(request, 404, "not found; there are POST /predict, and GET /model, /openapi.json, /v2, /health and /ready");
          return;
        }
        inference.handle(request, path);
      }
    }
  }

  private void predict(HttpServerRequest request) {
    String type = request.getHeader("content-type");
    boolean image = images.isPresent() && type != null && type.startsWith("image/");
    requests.post(request, body -> image ? images.get().predict(List.of(body)) : predictor.predict(type, body),
        prediction -> new PredictionJson.Answer(PredictionJson.scores(prediction), -1));
  }

  private static void error(HttpServerRequest request, int status, String message) {
    PredictionJson.answer(request, status, new JsonObject().put("error", message));
  }

  /** Releases what the service has besides its server. */
  Future<Void> close() {
    return requests.executor().close();
  }
}
