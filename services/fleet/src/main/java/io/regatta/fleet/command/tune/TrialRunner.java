package io.regatta.fleet.command.tune;

import io.regatta.core.error.RegattaException;
import io.regatta.core.loop.Stopwatch;
import io.regatta.core.progress.Progress;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.node.settings.SettingsWriter;
import io.regatta.protocol.vertx.SystemClock;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.JobConfig;
import io.regatta.training.result.EvaluationRecord;
import io.regatta.training.result.MetricNames;
import io.regatta.training.result.RunResult;
import io.regatta.training.run.LocalRun;
import io.vertx.core.json.JsonObject;
import java.util.Map;
import java.util.function.IntFunction;

/**
 * Trains trials of a job: the job with other values of some keys, without a model on disk. Immutable; any number of
 * threads.
 *
 * @param program null: the job's class
 * @param simulated true: with the job's servers and trainers in this process; false: alone, with tables in process
 * @param metric of the validation rows; {@link MetricNames#LOSS}: of training
 * @param parameters returns the values of a trial by key
 */
record TrialRunner(JobConfig job, TrainingProgram program, boolean simulated, String metric,
    IntFunction<Map<String, Object>> parameters) implements Search.Runner {

  @Override
  public Trial run(int number, int epochs) {
    Map<String, Object> values = parameters.apply(number);
    Stopwatch watch = Stopwatch.start(SystemClock.get());
    try {
      RunResult result = run(with(values, epochs));
      int best = -1;
      for (int i = 0; i < result.evaluations().size(); i++) {
        best = isBetter(value(result, i), best < 0 ? Double.NaN : value(result, best)) ? i : best;
      }
      return new Trial(number, epochs, values, best < 0 ? result.metric(metric) : value(result, best),
          best < 0 ? epochs : result.evaluations().get(best).epoch(), watch.seconds(), "");
    } catch (RegattaException e) {
      return new Trial(number, epochs, values, Double.NaN, 0, watch.seconds(), e.getMessage());
    }
  }

  private double value(RunResult result, int evaluation) {
    EvaluationRecord record = result.evaluations().get(evaluation);
    return record.validation().getOrDefault(metric, Double.NaN);
  }

  /** Returns true if a value of the metric is better than another; a number is better than none. */
  boolean isBetter(double value, double than) {
    return !Double.isNaN(value) && (Double.isNaN(than) || (MetricNames.isLowerBetter(metric) ? value < than : value > than));
  }

  private RunResult run(JobConfig trial) {
    return simulated ? LocalCluster.run(LocalCluster.Options.of(trial).withoutHazelcast().withProgram(program)
        .withProgress(Progress.none())).get(0) : LocalRun.run(trial, program, Progress.none());
  }

  /** Returns the job of a trial. */
  private JobConfig with(Map<String, Object> values, int epochs) {
    JsonObject json = SettingsWriter.json(job);
    values.forEach((key, value) -> put(json, key, value));
    json.put("epochs", epochs);
    json.remove("tune");
    json.remove("output");
    json.remove("snapshots");
    json.remove("resume");
    return JobConfig.of(json);
  }

  private static void put(JsonObject json, String key, Object value) {
    String[] names = key.split("\\.");
    JsonObject inside = json;
    for (int i = 0; i < names.length - 1; i++) {
      if (!inside.containsKey(names[i])) {
        inside.put(names[i], new JsonObject());
      }
      inside = inside.getJsonObject(names[i]);
    }
    inside.put(names[names.length - 1], value);
  }
}
