package io.regatta.predictor;

import io.regatta.predictor.Predictor.Prediction;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;

/** Answers in JSON. They are written without objects in between: an answer may have thousands of scores. Stateless. */
final class PredictionJson {

  private static final int SCORE_CHARACTERS = 12;

  /**
   * The answer to an HTTP request.
   *
   * @param jsonBytes length of the JSON at the beginning of a body that goes on; -1: the body is JSON
   */
  record Answer(Buffer body, int jsonBytes) {

    /** Sends it to a client that may have gone. */
    void send(HttpServerRequest request) {
      if (jsonBytes >= 0 && !request.response().ended() && !request.response().closed()) {
        request.response().putHeader(InferenceHttp.HEADER_LENGTH, Integer.toString(jsonBytes));
      }
      answer(request, 200, body, jsonBytes < 0 ? "application/json" : "application/octet-stream");
    }
  }

  private PredictionJson() {}

  /** Returns {@code {"scores":[0.18,...],"step":1200}}; an example with several scores has an array of its own. */
  static Buffer scores(Prediction prediction) {
    StringBuilder text = new StringBuilder(32 + SCORE_CHARACTERS * prediction.scores().length).append("{\"scores\":");
    append(text, prediction, prediction.outputs() > 1);
    return Buffer.buffer(text.append(",\"step\":").append(prediction.step()).append("}\n").toString()
        .getBytes(StandardCharsets.US_ASCII));
  }

  /** Appends the scores as an array, flat or with an array for each example. */
  static void append(StringBuilder text, Prediction prediction, boolean nested) {
    float[] scores = prediction.scores();
    text.append('[');
    for (int i = 0; i < scores.length; i++) {
      boolean first = nested && i % prediction.outputs() == 0;
      text.append(i == 0 ? "" : first ? "],[" : ",").append(first && i == 0 ? "[" : "");
      append(text, scores[i]);
    }
    text.append(nested && scores.length > 0 ? "]]" : "]");
  }

  /** JSON has no NaN and no infinity: they are texts. */
  private static void append(StringBuilder text, float score) {
    if (Float.isFinite(score)) {
      text.append(score);
    } else {
      text.append('"').append(score).append('"');
    }
  }

  /** Answers a client that may have gone. */
  static void answer(HttpServerRequest request, int status, JsonObject json) {
    answer(request, status, json.toBuffer().appendString("\n"));
  }

  /** Answers a client that may have gone. */
  static void answer(HttpServerRequest request, int status, Buffer json) {
    answer(request, status, json, "application/json");
  }

  /** Answers a client that may have gone. */
  static void answer(HttpServerRequest request, int status, Buffer body, String type) {
    if (!request.response().ended() && !request.response().closed()) {
      request.response().setStatusCode(status).putHeader("content-type", type).end(body);
    }
  }
}
