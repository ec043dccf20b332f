package io.regatta.snapshot;

import io.regatta.core.exchange.OptimizerUpdates;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.exchange.TrainerProgress.Part;
import io.regatta.core.exchange.TrainerProgress.Replica;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * The JSON form of trainers' and optimizers' progress in snapshots: of the manifest, and in the files of shards.
 * Stateless.
 */
final class ProgressJson {

  private ProgressJson() {}

  /** Returns the keys of a progress. */
  static JsonObject of(TrainerProgress progress) {
    JsonArray replicas = new JsonArray();
    for (Replica replica : progress.replicas()) {
      JsonArray parts = new JsonArray();
      replica.parts().forEach(p -> parts.add(new JsonObject().put("pass", p.pass()).put("part", p.part()).put("of", p.of())
          .put("batches", p.batches()).put("stride", p.stride())));
      replicas.add(new JsonObject().put("local_steps", replica.localSteps()).put("parts", parts));
    }
    JsonObject json = new JsonObject().put("local_steps", progress.localSteps()).put("exchanges", progress.exchanges())
        .put("learning_rate_step", progress.learningRateStep());
    if (progress.examples() >= 0) {
      json.put("examples", progress.examples());
    }
    return json.put("replicas", replicas);
  }

  /** Returns the progress in an object that has these keys, among others. */
  static TrainerProgress read(JsonObject json) {
    return new TrainerProgress(json.getLong("local_steps"), json.getLong("exchanges"), json.getLong("learning_rate_step"),
        json.getLong("examples", TrainerProgress.UNKNOWN),
        objects(json, "replicas").map(replica -> new Replica(replica.getLong("local_steps"), objects(replica, "parts")
            .map(p -> new Part(p.getInteger("pass"), p.getInteger("part"), p.getInteger("of"), p.getLong("batches"), p.getLong("stride")))
            .toList())).toList());
  }

  /** Returns the keys of the optimizers' updates. */
  static JsonObject of(OptimizerUpdates updates) {
    return new JsonObject().put("dense", updates.dense()).put("tables", new JsonObject(new TreeMap<>(updates.tables())));
  }

  /** Returns the updates in an object that has these keys. */
  static OptimizerUpdates updates(JsonObject json) {
    Map<String, Long> tables = new TreeMap<>();
    json.getJsonObject("tables").forEach(table -> tables.put(table.getKey(), ((Number) table.getValue()).longValue()));
    return new OptimizerUpdates(json.getLong("dense"), tables);
  }

  private static Stream<JsonObject> objects(JsonObject json, String key) {
    return json.getJsonArray(key).stream().map(JsonObject.class::cast);
  }
}
