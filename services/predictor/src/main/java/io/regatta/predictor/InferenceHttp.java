package io.regatta.predictor;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.predictor.InferenceService.NotServed;
import io.regatta.predictor.PredictionJson.Answer;
import io.regatta.predictor.Predictor.Prediction;
import io.regatta.predictor.request.InferenceModel;
import io.regatta.predictor.request.InferenceRequest;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.Json;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * The Open Inference Protocol over HTTP, with its extension for elements in binary form: the paths below {@code /v2}.
 * Used on the loop of the port.
 */
final class InferenceHttp {

  static final String HEADER_LENGTH = "inference-header-content-length";
  private static final String PATHS =
      "/v2, /v2/health/live, /v2/health/ready, /v2/models/NAME, /v2/models/NAME/ready and "
      + "POST /v2/models/NAME/infer";

  /** What a path below {@code /v2/models} names: a model, perhaps one version of it, and what is asked of it. */
  private record Target(String name, String version, String action) {}

  private final InferenceService service;
  private final ServedRequests requests;

  InferenceHttp(InferenceService service, ServedRequests requests) {
    this.service = service;
    this.requests = requests;
  }

  void handle(HttpServerRequest request, String path) {
    try {
      Target target = target(path);
      boolean infer = target != null && target.action.equals("infer");
      if (infer ? request.method() != HttpMethod.POST : request.method() != HttpMethod.GET) {
        error(request, 405, infer ? "POST the inputs" : "GET this path");
        return;
      }
      if (target != null) {
        service.requireServed(target.name, target.version);
        model(request, target);
        return;
      }
      switch (path) {
        case "/v2", "/v2/" -> PredictionJson.answer(request, 200, new JsonObject().put("name", InferenceService.SERVER)
            .put("version", InferenceService.serverVersion())
                .put("extensions", new JsonArray(InferenceService.EXTENSIONS)));
        case "/v2/health/live" -> PredictionJson.answer(request, 200, new JsonObject().put("live", true));
        case "/v2/health/ready" -> ready(request);
        default -> error(request, 404, "not found; there are " + PATHS);
      }
    } catch (NotServed e) {
      error(request, 404, e.getMessage());
    }
  }

  /** Returns null for a path that names no model. */
  private static Target target(String path) {
    String[] parts = path.split("/", -1); // "", v2, models, NAME, ...
    if (parts.length < 4 || !parts[2].equals("models") || parts[3].isEmpty()) {
      return null;
    }
    boolean versioned = parts.length > 5 && parts[4].equals("versions");
    int at = versioned ? 6 : 4;
    return new Target(decoded(parts[3]), versioned ? decoded(parts[5]) : "",
        parts.length > at + 1 ? "?" : parts.length > at ? parts[at] : "");
  }

  private static String decoded(String part) {
    try {
      return URLDecoder.decode(part.replace("+", "%2B"), StandardCharsets.UTF_8);
    } catch (IllegalArgumentException e) {
      return part;
    }
  }

  private void model(HttpServerRequest request, Target target) {
    switch (target.action) {
      case "" -> PredictionJson.answer(request, 200, new JsonObject().put("name", service.name())
          .put("versions", new JsonArray().add(service.version())).put("platform", InferenceService.PLATFORM)
          .put("inputs", specs(service.model().inputs())).put("outputs", specs(service.outputs())));
      case "ready" -> ready(request);
      case "infer" -> infer(request);
      default -> error(request, 404, "not found; there are " + PATHS);
    }
  }

  private void ready(HttpServerRequest request) {
    PredictionJson.answer(request, service.isReady() ? 200 : 503, new JsonObject().put("ready", service.isReady()));
  }

  private static JsonArray specs(List<InferenceModel.Spec> specs) {
    JsonArray all = new JsonArray();
    specs.forEach(spec -> all.add(new JsonObject().put("name", spec.name()).put("datatype", spec.type().name())
        .put("shape", new JsonArray(spec.shape()))));
    return all;
  }

  private void infer(HttpServerRequest request) {
    InferenceRequest[] parsed = new InferenceRequest[1];
    requests.post(request, body -> {
      parsed[0] = InferenceRequest.parse(body, headerLength(request));
      return service.infer(parsed[0]);
    }, prediction -> answer(parsed[0], prediction));
  }

  private static int headerLength(HttpServerRequest request) {
    String length = request.getHeader(HEADER_LENGTH);
    if (length == null) {
      return -1;
    }
    if (!length.matches("[0-9]{1,9}")) {
      throw new InvalidInput(HEADER_LENGTH + " is no number of bytes");
    }
    return Integer.parseInt(length);
  }

  private Answer answer(InferenceRequest asked, Prediction prediction) {
    float[] scores = prediction.scores();
    int rows = scores.length / prediction.outputs();
    StringBuilder json = new StringBuilder(160 + (asked.binary() ? 0 : 12 * scores.length)).append("{\"model_name\":")
        .append(Json.encode(service.name())).append(",\"model_version\":\"")
        .append(prediction.step()).append('"');
    if (!asked.id().isEmpty()) {
      json.append(",\"id\":").append(Json.encode(asked.id()));
    }
    json.append(",\"outputs\":[{\"name\":\"scores\",\"datatype\":\"FP32\",\"shape\":[").append(rows).append(',')
        .append(prediction.outputs()).append("],");
    if (!asked.binary()) {
      PredictionJson.append(json.append("\"data\":"), prediction, false);
      return new Answer(Buffer.buffer(json.append("}]}\n").toString().getBytes(StandardCharsets.UTF_8)), -1);
    }
    byte[] head = json.append("\"parameters\":{\"binary_data_size\":").append(4 * scores.length).append("}}]}")
        .toString()
        .getBytes(StandardCharsets.UTF_8);
    Buffer whole = Buffer.buffer(head.length + 4 * scores.length).appendBytes(head);
    for (float score : scores) {
      whole.appendFloatLE(score);
    }
    return new Answer(whole, head.length);
  }

  private static void error(HttpServerRequest request, int status, String message) {
    PredictionJson.answer(request, status, new JsonObject().put("error", message));
  }
}
