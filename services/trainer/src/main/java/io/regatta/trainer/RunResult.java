package io.regatta.trainer;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;

/**
 * The line of truth of a run: what {@code --result FILE} writes. Figures that the program did not
 * report are NaN (null in JSON).
 *
 * @param steps of this trainer's replica 0
 * @param examples trained by all replicas of all trainers
 * @param seconds of training, first step to last
 * @param stalenessMax highest staleness that a shard reported for a push of this trainer
 * @param clockLeadMax most clocks that a trainer was ahead of the slowest one at a pull; at most the bound in SSP
 * @param skippedPushes pushes that the NaN policy dropped, of all trainers
 * @param pids process ids by role, e.g. {@code trainer-0}
 * @param model where it was saved, empty if it was not
 * @param parameters hash of all parameters at the end, hex; independent of the number of shards
 * @param metrics other figures that the program reported
 */
public record RunResult(String job, String mode, int servers, int trainers, int threads, int shards, long seed,
    int rank, long steps, long examples, double seconds, double examplesPerSecond, double loss, double auc,
    double accuracy, double logloss, long stalenessMax, long clockLeadMax, long skippedPushes, Map<String, Long> pids,
    String model, String parameters, Map<String, Double> metrics, List<Double> examplesPerSecondByRank) {

  /** Trainers that reached the end; fewer than {@link #trainers} if some were lost on the way. */
  public int trainersAtEnd() {
    return examplesPerSecondByRank.size();
  }

  /** The same in words, a few lines. */
  @Override
  public String toString() {
    return RunSummary.of(this);
  }

  /** The result as JSON, in the order of docs/configuration.md; figures that nobody reported are null. */
  public JsonObject toJson() {
    JsonObject pidsByName = new JsonObject();
    pids.forEach(pidsByName::put);
    JsonObject more = new JsonObject();
    metrics.forEach((name, value) -> more.put(name, figure(value)));
    return new JsonObject().put("job", job).put("mode", mode).put("servers", servers).put("trainers", trainers)
        .put("shards", shards).put("seed", seed).put("steps", steps).put("examples", examples)
        .put("seconds", figure(seconds)).put("examples_per_second", figure(examplesPerSecond))
        .put("loss", figure(loss)).put("auc", figure(auc)).put("accuracy", figure(accuracy))
        .put("logloss", figure(logloss)).put("staleness_max", stalenessMax).put("process_ids", pidsByName)
        .put("model", model).put("parameters_hash", parameters)
        .put("trainers_at_end", trainersAtEnd()).put("threads", threads)
        .put("skipped_pushes", skippedPushes).put("clock_lead_max", clockLeadMax)
        .put("examples_per_second_by_rank", new JsonArray(examplesPerSecondByRank))
        .put("metrics", more);
  }

  private static Double figure(double value) {
    return Double.isFinite(value) ? value : null;
  }
}
