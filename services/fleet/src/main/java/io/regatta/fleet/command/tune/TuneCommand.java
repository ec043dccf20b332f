package io.regatta.fleet.command.tune;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.file.WholeFile;
import io.regatta.core.search.ParameterRange;
import io.regatta.core.search.SuccessiveHalving;
import io.regatta.core.search.SuccessiveHalving.Rung;
import io.regatta.fleet.command.option.GivenProgram;
import io.regatta.fleet.command.option.JobOptions;
import io.regatta.fleet.command.option.SettingsOptions;
import io.regatta.fleet.command.output.Report;
import io.regatta.node.settings.SettingsWriter;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.tuning.TuneConfig;
import io.regatta.training.config.validation.EarlyStoppingConfig;
import io.regatta.training.result.MetricNames;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/**
 * The command that trains a job with different values of the keys in its section {@code tune}, and names the best ones; or
 * with different learning rates for a few steps each.
 */
@Command(name = "tune", mixinStandardHelpOptions = true,
    description = "Searches for the values of the keys in a job's section tune that are best on its validation rows.")
public final class TuneCommand implements Callable<Integer> {

  private static final String LEARNING_RATE = "optimizer.learning_rate";
  private static final int SHOWN = 10;
  /** Rates of the learning-rate finder: from 1e-5 to 1, this many for each factor of ten. */
  private static final double LEAST_RATE = 1e-5;
  private static final int DECADES = 5;
  private static final int RATES_PER_DECADE = 3;

  @ParentCommand
  private GivenProgram regatta;

  @Spec
  private CommandSpec spec;

  @Mixin
  private SettingsOptions settings;

  @Mixin
  private JobOptions job;

  @Option(names = "--trials", paramLabel = "N", description = "trials, of halving those of the first rung (default: ${DEFAULT-VALUE})")
  private int trials = 20;

  @Option(names = "--parallel", paramLabel = "N", description = "trials at a time; default: the number of processors")
  private int parallel = Runtime.getRuntime().availableProcessors();

  @Option(names = "--simulate", description = "each trial with the job's servers and trainers in this process; otherwise alone, with tables "
      + "in process")
  private boolean simulate;

  @Option(names = "--find-learning-rate", description = "instead of the section tune: learning rates from 1e-5 to 1, by the training loss")
  private boolean findLearningRate;

  @Option(names = "--steps", paramLabel = "N", description = "of --find-learning-rate: steps of each rate (default: ${DEFAULT-VALUE})")
  private long steps = 100;

  @Option(names = "--to", paramLabel = "DIR", description = "directory of the results; default: tune-JOB")
  private Path to;

  @Option(names = "--overwrite", description = "drops results that are there; otherwise the search that they are of is continued")
  private boolean overwrite;

  @Override
  public Integer call() {
    if (trials < 1 || parallel < 1 || steps < 1) {
      throw new InvalidInput("--trials, --parallel and --steps must be at least 1, not " + trials + ", " + parallel + " and " + steps);
    }
    JobConfig config = job.load(settings, regatta.program());
    TuneConfig tune = config.tune();
    Map<String, ParameterRange> ranges = new TreeMap<>();
    if (findLearningRate) {
      trials = DECADES * RATES_PER_DECADE + 1;
      ranges.put(LEARNING_RATE, new ParameterRange(LEAST_RATE, LEAST_RATE * Math.pow(10, DECADES), true, false, List.of()));
      config = config.withMaxSteps(steps).withEarlyStopping(new EarlyStoppingConfig("", 2, 0));
    } else {
      tune.parameters().forEach((key, range) -> ranges.put(key, range.range()));
      config = withMetric(config);
    }
    return search(config, ranges, findLearningRate ? MetricNames.LOSS : config.earlyStopping().metric());
  }

  /** Returns the job with early stopping by the metric of the search. */
  private static JobConfig withMetric(JobConfig config) {
    TuneConfig tune = config.tune();
    EarlyStoppingConfig stopping = config.earlyStopping();
    String metric = tune.metric().isBlank() ? stopping.metric() : tune.metric();
    if (tune.parameters().isEmpty() || metric.isBlank() || !config.data().validation().isOn()) {
      throw new InvalidInput("job " + config.job() + ": " + (tune.parameters().isEmpty() ? "tune.parameters is missing; give keys with their ranges, "
          + "such as optimizer.learning_rate: {from: 0.0001, to: 0.1, scale: log}" : metric.isBlank()
          ? "no metric is given; set tune.metric or early_stopping.metric, such as auc"
          : "there are no validation rows to compare trials on; give data.validation, such as {share: 0.1, by: hash}"));
    }
    return config.withEarlyStopping(new EarlyStoppingConfig(metric, stopping.patience(), stopping.minDelta()));
  }

  private int search(JobConfig config, Map<String, ParameterRange> ranges, String metric) {
    PrintWriter out = spec.commandLine().getOut();
    Path directory = to != null ? to : Path.of("tune-" + config.job());
    List<Rung> rungs = config.tune().strategy() == TuneConfig.Strategy.HALVING && !findLearningRate
        ? new SuccessiveHalving(trials, config.tune().leastEpochs(), config.epochs(), config.tune().eta()).rungs()
        : List.of(new Rung(trials, config.epochs()));
    TrialRunner runner = new TrialRunner(config, regatta.program(), simulate, metric, number -> draw(ranges, config.seed(), number));
    Comparator<Trial> order = (a, b) -> runner.isBetter(a.value(), b.value()) ? -1 : runner.isBetter(b.value(), a.value()) ? 1
        : Integer.compare(a.number(), b.number());
    JsonObject search = new JsonObject().put("job", SettingsWriter.json(config)).put("trials", trials).put("simulate", simulate)
        .put("find_learning_rate", findLearningRate);
    TrialFile file = TrialFile.open(directory.resolve("trials.jsonl"), search, overwrite);
    int known = file.trials().size();
    Report.say(out, trials + " trials in " + rungs.size() + (rungs.size() == 1 ? " rung" : " rungs") + ", " + parallel + " at a time"
        + (known > 0 ? "; " + known + " have ended before" : ""));
    List<Trial> best = new Search(file, runner, order, parallel).run(rungs, trial -> Report.say(out, line(trial, metric)));
    return report(out, directory, file.trials(), best, metric);
  }

  private Map<String, Object> draw(Map<String, ParameterRange> ranges, long seed, int number) {
    Map<String, Object> values = new LinkedHashMap<>();
    ranges.forEach((key, range) -> values.put(key, findLearningRate ? range.at((double) number / (trials - 1))
        : range.draw(seed, number, key)));
    return values;
  }

  private static String line(Trial trial, String metric) {
    return "trial " + trial.number() + ", " + (trial.epochs() == 1 ? "1 epoch" : trial.epochs() + " epochs") + ": "
        + (trial.failure().isEmpty() ? String.format(Locale.ROOT, "%s %.5f in epoch %d, %.1f s", metric, trial.value(), trial.epoch(),
        trial.seconds()) : "failed: " + trial.failure()) + "  " + trial.options();
  }

  /** Prints the table of the last rung, and writes the plot. */
  private int report(PrintWriter out, Path directory, List<Trial> all, List<Trial> last, String metric) {
    Trial best = last.get(0);
    if (Double.isNaN(best.value())) {
      throw new InvalidInput("no trial has a value of " + metric + "; the first failed with: " + best.failure());
    }
    List<String> keys = List.copyOf(best.parameters().keySet());
    Report.say(out, "");
    Report.say(out, "| trial | " + metric + " | epoch | " + String.join(" | ", keys) + " |");
    Report.say(out, "|---|---|---|" + "---|".repeat(keys.size()));
    for (Trial trial : last.subList(0, Math.min(last.size(), findLearningRate ? trials : SHOWN))) {
      StringBuilder row = new StringBuilder(String.format(Locale.ROOT, "| %d | %.5f | %d |", trial.number(), trial.value(), trial.epoch()));
      keys.forEach(key -> row.append(' ').append(trial.parameters().get(key) instanceof Double number
          ? String.format(Locale.ROOT, "%.4g", number) : trial.parameters().get(key)).append(" |"));
      Report.say(out, row.toString());
    }
    Path plot = directory.resolve("trials.svg");
    try {
      WholeFile.write(plot, part -> Files.writeString(part, TrialPlot.svg(all, best, metric)));
    } catch (IOException e) {
      throw new InvalidInput("cannot write " + plot + ": " + e.getMessage(), e);
    }
    Report.say(out, "");
    Report.say(out, "Best: " + best.options());
    Report.say(out, "Plot: " + plot.toAbsolutePath());
    return Report.DONE;
  }
}
