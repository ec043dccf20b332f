package io.regatta.snapshot;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/**
 * A shard that was lost before the model was saved: an entry of {@code lost_shards} in a model's manifest. Immutable.
 *
 * @param shard its index
 * @param of number of the job's shards
 * @param address {@code host:port}
 * @param missingTables tables whose rows it held, which the model lacks
 * @param denseStep step after which a trainer last pulled its dense parameters, which the model has; -1 if it held
 *     none. If the shard was lost in the middle of its next answer, some of them are from that
 */
public record LostShard(int shard, int of, String address, List<String> missingTables, long denseStep) {

  /** Key in the manifest. */
  private static final String KEY = "lost_shards";

  public LostShard {
    missingTables = List.copyOf(missingTables);
  }

  /** Returns the lost shards in a manifest; none if all were there. */
  public static List<LostShard> in(JsonObject manifest) {
    return manifest.getJsonArray(KEY, new JsonArray()).stream().map(JsonObject.class::cast)
        .map(json -> new LostShard(json.getInteger("shard"), json.getInteger("of"), json.getString("address"),
            json.getJsonArray("missing_tables").stream().map(String.class::cast).toList(), json.getLong("dense_step")))
        .toList();
  }

  /** Writes them into a manifest; an empty list changes nothing. */
  public static void put(JsonObject manifest, List<LostShard> lost) {
    if (!lost.isEmpty()) {
      JsonArray all = new JsonArray();
      lost.forEach(each -> all.add(new JsonObject().put("shard", each.shard).put("of", each.of)
          .put("address", each.address).put("missing_tables", new JsonArray(each.missingTables))
          .put("dense_step", each.denseStep)));
      manifest.put(KEY, all);
    }
  }

  /**
   * Returns a text of what a model lacks, such as {@code the rows of table deep on lost shard 1 (host:port) of 2}, or
   * "".
   */
  public static String missingRows(List<LostShard> lost) {
    TreeSet<String> tables = new TreeSet<>();
    lost.forEach(each -> tables.addAll(each.missingTables));
    return tables.isEmpty() ? "" : "the rows of table" + (tables.size() == 1 ? " " : "s ")
        + String.join(", ", tables) + " on " + names(lost, each -> !each.missingTables.isEmpty());
  }

  /** Returns a text of the dense parameters that are a trainer's; empty if none. */
  public static String olderDense(List<LostShard> lost) {
    return lost.stream().filter(each -> each.denseStep >= 0).findFirst()
        .map(first -> "the dense parameters on " + names(lost, each -> each.denseStep >= 0)).orElse("");
  }

  private static String names(List<LostShard> lost, Predicate<LostShard> which) {
    List<LostShard> some = lost.stream().filter(which).toList();
    return "lost shard" + (some.size() == 1 ? " " : "s ")
        + some.stream().map(each -> each.shard + " (" + each.address + ")").collect(Collectors.joining(", "))
        + " of " + some.get(0).of;
  }
}
