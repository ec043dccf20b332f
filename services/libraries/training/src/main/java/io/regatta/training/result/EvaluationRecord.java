package io.regatta.training.result;

import io.vertx.core.json.JsonObject;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The metrics of one evaluation during training. Immutable; metrics in their order.
 *
 * @param epoch number of the pass that has ended or is under way, from 1
 * @param step highest step of any trainer
 * @param train metrics of the pass so far, each example before it was trained on
 * @param validation metrics of the validation rows
 * @param test metrics of the test rows; empty unless this evaluation was the best so far
 */
public record EvaluationRecord(int epoch, long step, Map<String, Double> train, Map<String, Double> validation,
    Map<String, Double> test) {

  public EvaluationRecord {
    train = ordered(train);
    validation = ordered(validation);
    test = ordered(test);
  }

  private static Map<String, Double> ordered(Map<String, Double> of) {
    return Collections.unmodifiableMap(new LinkedHashMap<>(of));
  }

  /** Returns the record as JSON; metrics that are no numbers are null. */
  public JsonObject toJson() {
    JsonObject json = new JsonObject().put("epoch", epoch).put("step", step).put("train", json(train))
        .put("validation", json(validation));
    return test.isEmpty() ? json : json.put("test", json(test));
  }

  private static JsonObject json(Map<String, Double> metrics) {
    JsonObject json = new JsonObject();
    metrics.forEach((name, value) -> json.put(name, Double.isFinite(value) ? value : null));
    return json;
  }

  /** Returns the record that {@link #toJson} has written. */
  public static EvaluationRecord of(JsonObject json) {
    return new EvaluationRecord(json.getInteger("epoch"), json.getLong("step"), metrics(json, "train"),
        metrics(json, "validation"), metrics(json, "test"));
  }

  private static Map<String, Double> metrics(JsonObject json, String key) {
    Map<String, Double> metrics = new LinkedHashMap<>();
    JsonObject of = json.getJsonObject(key, new JsonObject());
    of.fieldNames().forEach(name -> metrics.put(name, of.getDouble(name) == null ? Double.NaN : of.getDouble(name)));
    return metrics;
  }
}
