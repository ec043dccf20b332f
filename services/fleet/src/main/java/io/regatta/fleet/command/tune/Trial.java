package io.regatta.fleet.command.tune;

import io.vertx.core.json.JsonObject;
import java.util.Map;

/**
 * The result of one trial. Immutable.
 *
 * @param number from 0
 * @param epochs for which it was trained, at most
 * @param parameters values by key, as {@code --set} takes them
 * @param value of the metric at its best evaluation; NaN if the trial failed
 * @param epoch of that evaluation, from 1
 * @param seconds of the whole trial
 * @param failure why the trial failed; empty if it did not
 */
record Trial(int number, int epochs, Map<String, Object> parameters, double value, int epoch, double seconds, String failure) {

  JsonObject toJson() {
    return new JsonObject().put("trial", number).put("epochs", epochs).put("parameters", new JsonObject(parameters))
        .put("value", Double.isFinite(value) ? value : null).put("epoch", epoch).put("seconds", seconds).put("failure", failure);
  }

  static Trial of(JsonObject json) {
    return new Trial(json.getInteger("trial"), json.getInteger("epochs"), json.getJsonObject("parameters").getMap(),
        json.getDouble("value") == null ? Double.NaN : json.getDouble("value"), json.getInteger("epoch"), json.getDouble("seconds"),
        json.getString("failure", ""));
  }

  /** Returns the parameters as options of the command line. */
  String options() {
    StringBuilder options = new StringBuilder();
    parameters.forEach((key, of) -> options.append(options.isEmpty() ? "" : " ").append("--set ").append(key).append('=').append(of));
    return options.toString();
  }
}
