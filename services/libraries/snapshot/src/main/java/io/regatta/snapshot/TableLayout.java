package io.regatta.snapshot;

import io.vertx.core.json.JsonObject;

/**
 * The layout of a whole row of a sparse table, in this order: {@code dim} values, then {@code slots × dim} of the
 * optimizer, then statistics.
 *
 * @param optimizer kind of the update rule, lower case
 * @param slots arrays of {@code dim} floats that the optimizer keeps
 * @param statistics floats after them
 */
public record TableLayout(String name, int dim, String optimizer, int slots, int statistics) {

  /** Returns the floats of a row. */
  public int width() {
    return dim * (1 + slots) + statistics;
  }

  /** Returns words that continue "a table with". */
  public String words() {
    return "rows of " + dim + " values, " + optimizer + " with " + slots + " slots, " + statistics + " statistics";
  }

  /** Returns the floats of the optimizer's state. */
  int slotFloats() {
    return dim * slots;
  }

  String ids() {
    return "table/" + name + "/ids";
  }

  String values() {
    return "table/" + name + "/values";
  }

  String slotsTensor() {
    return "table/" + name + "/slots";
  }

  String statisticsTensor() {
    return "table/" + name + "/statistics";
  }

  /** Returns the name of the tensor of removed ids, in a delta. */
  String removed() {
    return "table/" + name + "/removed";
  }

  JsonObject toJson() {
    return new JsonObject().put("table", name).put("dim", dim).put("optimizer", optimizer).put("slots", slots)
        .put("statistics", statistics);
  }

  static TableLayout of(JsonObject json) {
    return new TableLayout(json.getString("table"), json.getInteger("dim"), json.getString("optimizer", ""),
        json.getInteger("slots", 0), json.getInteger("statistics", 0));
  }
}
