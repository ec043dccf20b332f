package io.regatta.snapshot;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.model.DensePartition;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.Sharding;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerRegistry;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.table.RowLayout;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The layout of a job's parameters, and their distribution over shards: enough to find each of them in the files.
 *
 * @param digest of the job's model, see {@link io.regatta.core.model.ModelSpec#digest}
 * @param seed of the sparse initializers
 * @param sharding which of the files, one for each shard, hold what
 * @param minBlock see {@link DensePartition}
 * @param optimizer kind of the dense variables' update rule, lower case
 * @param slots arrays as large as the dense vector that it keeps
 */
public record ModelLayout(String digest, long seed, Sharding sharding, int minBlock, String optimizer, int slots,
    List<DenseVariable> dense, List<TableLayout> tables) {

  /** Returns the number of the snapshot's files. */
  public int shards() {
    return sharding.shards();
  }

  /** Returns the layout of a job. */
  public static ModelLayout of(JobSpec job) {
    OptimizerSpec dense = job.model().denseOptimizer();
    List<TableLayout> tables = job.model().sparse().stream().map(ModelLayout::table).toList();
    return new ModelLayout(job.model().digest(), job.model().seed(), job.sharding(), job.minBlock(), dense.name(),
        dense.optimizer().slots().size(), job.model().dense(), tables);
  }

  private static TableLayout table(SparseTableSpec t) {
    int slots = t.optimizer().optimizer().slots().size();
    int statistics = new RowLayout(t.dim(), slots, t.life().isTracked()).width() - t.dim() * (1 + slots);
    return new TableLayout(t.name(), t.dim(), t.optimizer().name(), slots, statistics);
  }

  /** Returns the same layout on other shards. */
  public ModelLayout over(Sharding others) {
    return new ModelLayout(digest, seed, others, minBlock, optimizer, slots, dense, tables);
  }

  /** Returns the partition of the dense variables over the files, as {@link JobSpec#partition} is over shards. */
  public DensePartition partition() {
    return OptimizerRegistry.named(optimizer).needsWholeTensors() ? DensePartition.whole(dense, sharding)
        : DensePartition.of(dense, sharding, minBlock);
  }

  /** @throws InvalidInput if there is none of that name */
  public TableLayout table(String name) {
    return tables.stream().filter(t -> t.name().equals(name)).findFirst()
        .orElseThrow(() -> new InvalidInput("the snapshot has no table '" + name + "', it has "
            + tables.stream().map(TableLayout::name).toList()));
  }

  /**
   * Returns the first difference of this, a snapshot's layout, from a job's, and the number of further ones, as words
   * that continue "it has"; null: it fits.
   *
   * @param exactly whether the optimizers, and tables of all names, must be the same, too
   */
  String difference(ModelLayout job, boolean exactly) {
    if (!dense.equals(job.dense)) {
      return first("variable", shapes(), job.shapes());
    }
    if (exactly && !optimizer.equals(job.optimizer)) {
      return "dense optimizer " + optimizer + " where the job has " + job.optimizer;
    }
    Map<String, String> its = rows(exactly);
    Map<String, String> wanted = job.rows(exactly);
    if (!exactly) {
      its.keySet().retainAll(wanted.keySet());
      wanted.keySet().retainAll(its.keySet());
    }
    return exactly && tables.equals(job.tables) || !exactly && its.equals(wanted) ? null : first("table", its, wanted);
  }

  private Map<String, String> shapes() {
    Map<String, String> shapes = new LinkedHashMap<>();
    dense.forEach(v -> shapes.put(v.name(), "shape " + v.shape()));
    return shapes;
  }

  private Map<String, String> rows(boolean exactly) {
    Map<String, String> rows = new LinkedHashMap<>();
    tables.forEach(t -> rows.put(t.name(), exactly ? t.words() : "rows of " + t.dim() + " values"));
    return rows;
  }

  /** @param saved shape of each, by name; they are not all the same, or not in the same order */
  private static String first(String kind, Map<String, String> saved, Map<String, String> job) {
    List<String> all = new ArrayList<>();
    job.forEach((name, wanted) -> {
      String its = saved.get(name);
      if (its == null) {
        all.add("no " + kind + " " + name + ", which the job has with " + wanted);
      } else if (!its.equals(wanted)) {
        all.add(kind + " " + name + " with " + its + " where the job has " + wanted);
      }
    });
    saved.forEach((name, its) -> {
      if (!job.containsKey(name)) {
        all.add(kind + " " + name + " with " + its + ", which the job has not");
      }
    });
    return all.isEmpty() ? "its " + kind + "s in another order" : all.get(0)
        + (all.size() == 1 ? "" : " (and " + (all.size() - 1) + " more that differ)");
  }

  /** Returns the name of a dense part's values, or (slot ≥ 0) of the optimizer's state for it. */
  static String denseTensor(DensePartition.Part part, int slot) {
    return (slot < 0 ? "dense/" : "slot" + slot + "/") + part.variable() + "/" + part.variableOffset();
  }

  JsonObject toJson() {
    JsonArray variables = new JsonArray();
    dense.forEach(v -> variables.add(new JsonObject().put("name", v.name()).put("shape", new JsonArray(v.shape()))));
    JsonArray sparse = new JsonArray();
    tables.forEach(t -> sparse.add(t.toJson()));
    return new JsonObject().put("digest", digest).put("seed", seed).put("min_block", minBlock)
        .put("optimizer", optimizer).put("slots", slots).put("dense", variables).put("tables", sparse);
  }

  static ModelLayout of(JsonObject json, Sharding sharding) {
    List<DenseVariable> dense = json.getJsonArray("dense").stream().map(JsonObject.class::cast)
        .map(v -> new DenseVariable(v.getString("name"),
            v.getJsonArray("shape").stream().map(d -> ((Number) d).intValue()).toList())).toList();
    List<TableLayout> tables = json.getJsonArray("tables").stream().map(JsonObject.class::cast)
        .map(TableLayout::of).toList();
    return new ModelLayout(json.getString("digest"), json.getLong("seed"), sharding, json.getInteger("min_block"),
        json.getString("optimizer"), json.getInteger("slots"), dense, tables);
  }
}
