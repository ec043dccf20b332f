package io.regatta.training.result;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Map;

/**
 * The result of a run, the content of {@code --result FILE}. Metrics that the program did not report are NaN (null in
 * JSON). Immutable.
 *
 * @param steps of this trainer's replica 0
 * @param examples trained by all replicas of all trainers in all incarnations of the run, each once for each pass;
 *     those of lost trainers up to their last heartbeats. If {@code examplesResumed} is not known, those of this
 *     incarnation alone
 * @param seconds of training in this incarnation, first step to last
 * @param exchange statistics of the pushes and pulls of all trainers
 * @param processIds process ids by role, e.g. {@code trainer-0}
 * @param model where it was saved, empty if it was not
 * @param parametersHash hash of all parameters at the end, hex; independent of the number of shards
 * @param metrics that the program reported, and others of the exchange: those of {@link MetricNames#TOP_LEVEL} by the
 *     first replica of the lowest rank, the others by this process's
 * @param losses trainers that did not reach the end, and their data that were not trained
 * @param examplesResumed of the examples, those in the snapshot from which the run was resumed; 0 if it was not
 *     resumed, negative if the snapshot does not say
 * @param examplesRepeated examples that were trained more than once, at most; they count once in {@code examples}
 * @param evaluations during training, in their order; of a resumed run also those before it
 * @param nothingLeft why this process had nothing to do: its run had ended with success before it started; empty if it
 *     has taken part
 */
public record RunResult(String job, String mode, int servers, int trainers, int threads, int shards, long seed,
    int rank, long steps, long examples, double seconds, ExchangeFigures exchange,
    Map<String, Long> processIds, String model, String parametersHash, Map<String, Double> metrics,
    List<Double> examplesPerSecondByRank, RunLosses losses, long examplesResumed, long examplesRepeated,
    List<EvaluationRecord> evaluations, String nothingLeft) {

  /**
   * Returns the result of a process that started after its run had ended with success: no steps, no metrics, and a
   * success.
   *
   * @param why in words for the user
   */
  public static RunResult late(String job, String mode, long seed, String why) {
    return new RunResult(job, mode, 0, 0, 0, 0, seed, -1, 0, 0, 0, ExchangeFigures.NONE, Map.of(),
        "", "", Map.of(), List.of(), RunLosses.NONE, 0, 0, List.of(), why);
  }

  /** Returns true if this process started after its run had ended with success, so that nothing was left to do. */
  public boolean isLate() {
    return !nothingLeft.isEmpty();
  }

  /** Returns the rate of all trainers together in this incarnation. */
  public double examplesPerSecond() {
    return seconds > 0 ? (examples - Math.max(0, examplesResumed)) / seconds : 0;
  }

  /** Returns a metric; NaN if the program did not report it. */
  public double metric(String name) {
    return metrics.getOrDefault(name, Double.NaN);
  }

  public double loss() {
    return metric(MetricNames.LOSS);
  }

  public double auc() {
    return metric(MetricNames.AUC);
  }

  public double accuracy() {
    return metric(MetricNames.ACCURACY);
  }

  public double logloss() {
    return metric(MetricNames.LOGLOSS);
  }

  public long stalenessMax() {
    return exchange.stalenessMax();
  }

  public long clockLeadMax() {
    return exchange.clockLeadMax();
  }

  public long skippedPushes() {
    return exchange.skippedPushes();
  }

  /** Returns the trainers that reached the end; fewer than {@link #trainers} if some were lost on the way. */
  public int trainersAtEnd() {
    return examplesPerSecondByRank.size();
  }

  /**
   * Returns true if all data of the job were trained, or losses were accepted beforehand
   * ({@code on_trainer_lost: continue}).
   */
  public boolean isSuccess() {
    return losses.failure(job).isEmpty();
  }

  /**
   * Checks that the run has trained all of its data.
   *
   * @throws io.regatta.core.error.RegattaException.PeerLost naming what was not trained, unless the job accepts that
   */
  public RunResult requireSuccess() {
    losses.failure(job).ifPresent(failure -> {
      throw failure;
    });
    return this;
  }

  /** Returns the result in words, a few lines. */
  @Override
  public String toString() {
    return RunSummary.of(this);
  }

  /** Returns the result as JSON, in the order of docs/configuration.md; metrics that were not reported are null. */
  public JsonObject toJson() {
    JsonObject processIdsByName = new JsonObject();
    processIds.forEach(processIdsByName::put);
    JsonObject more = new JsonObject();
    metrics.forEach((name, value) -> more.put(name, figure(value)));
    MetricNames.TOP_LEVEL.forEach(more::remove);
    JsonObject json = new JsonObject().put("job", job).put("mode", mode).put("servers", servers)
        .put("trainers", trainers).put("shards", shards).put("seed", seed).put("steps", steps).put("examples", examples)
        .put("seconds", figure(seconds)).put("examples_per_second", figure(examplesPerSecond()));
    MetricNames.TOP_LEVEL.forEach(name -> json.put(name, figure(metric(name))));
    return json.put("staleness_max", stalenessMax()).put("process_ids", processIdsByName)
        .put("model", model).put("parameters_hash", parametersHash)
        .put("trainers_at_end", trainersAtEnd()).put("threads", threads)
        .put("skipped_pushes", skippedPushes()).put("clock_lead_max", clockLeadMax())
        .put("examples_per_second_by_rank", new JsonArray(examplesPerSecondByRank))
        .put("lost_trainers", new JsonArray(losses.trainers().stream().map(LostTrainer::toJson).toList()))
        .put("examples_resumed", examplesResumed < 0 ? null : examplesResumed)
        .put("examples_repeated", examplesRepeated)
        .put("metrics", more)
        .put("evaluations", new JsonArray(evaluations.stream().map(EvaluationRecord::toJson).toList()));
  }

  private static Double figure(double value) {
    return Double.isFinite(value) ? value : null;
  }
}
