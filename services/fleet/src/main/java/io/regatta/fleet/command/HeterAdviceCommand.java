package io.regatta.fleet.command;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.command.option.JobOptions;
import io.regatta.fleet.command.option.SettingsOptions;
import io.regatta.fleet.command.output.Report;
import io.regatta.training.config.JobConfig;
import io.regatta.training.heter.run.CutMeasurement;
import io.regatta.training.heter.run.HeterAdvice;
import io.regatta.training.run.JobCheck;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** The command that measures both parts of a job's network here, and says whether heter workers pay. */
@Command(name = "heter-advice", mixinStandardHelpOptions = true,
    description = "Measures a few steps of both parts of a job's network, and says how many trainers one heter worker "
        + "feeds, and from which bandwidth the cut pays.",
    footer = {"", "For example:", "  regatta heter-advice configs/ctr-dnn.yaml --bandwidth 1Gbit/s,100Mbit/s"})
final class HeterAdviceCommand implements Callable<Integer> {

  private static final Pattern BANDWIDTH = Pattern.compile("(\\d+(?:\\.\\d+)?)\\s*([KMG])bit(?:/s)?",
      Pattern.CASE_INSENSITIVE);
  private static final double BITS = 8;
  private static final double MILLIS = 1e3;

  @ParentCommand
  private Regatta regatta;

  @Spec
  private CommandSpec spec;

  @Mixin
  private SettingsOptions settings;

  @Mixin
  private JobOptions job;

  @Option(names = "--steps", paramLabel = "N", defaultValue = "20",
      description = "steps to measure, after as many that are not (20)")
  private int steps;

  @Option(names = "--bandwidth", paramLabel = "RATE,...", split = ",", defaultValue = "1Gbit/s",
      description = "of one heter worker's network, for example 1Gbit/s,100Mbit/s (1Gbit/s)")
  private List<String> bandwidths = new ArrayList<>();

  @Option(names = "--latency", paramLabel = "MS", defaultValue = "0.2",
      description = "of a round trip between trainer and heter worker, "
      + "in ms (0.2)")
  private double latency;

  @Override
  public Integer call() {
    if (steps < 1 || !(latency >= 0)) {
      throw new InvalidInput(steps < 1 ? "--steps must be at least 1, not " + steps
          : "--latency must be at least 0, not " + latency);
    }
    List<Double> rates = bandwidths.stream().map(HeterAdviceCommand::bytesPerSecond).toList();
    JobConfig config = job.load(settings, regatta.program());
    JobCheck.alone(config, regatta.program());
    Report.say(spec.commandLine().getOut(), "measuring " + steps + " steps of job " + config.job()
        + " without a cut, then with a heter "
        + "worker in this process");
    HeterAdvice advice = new HeterAdvice(CutMeasurement.of(config, regatta.program(), steps),
        config.heter().inFlight(), latency / MILLIS);
    if (config.heter().isDenseAtWorkers()) {
      Report.say(spec.commandLine().getOut(), "the dense values of the part travel with each batch here; with "
          + "heter.dense: servers or collective they do not");
    }
    advice.lines(rates).forEach(line -> Report.say(spec.commandLine().getOut(), line));
    return Report.DONE;
  }

  private static double bytesPerSecond(String text) {
    Matcher rate = BANDWIDTH.matcher(text.strip());
    double number = rate.matches() ? Double.parseDouble(rate.group(1)) : 0;
    if (number <= 0) {
      throw new InvalidInput("--bandwidth: expected a rate like 1Gbit/s or 100Mbit/s, got \"" + text + "\"");
    }
    return number * switch (rate.group(2).toUpperCase(Locale.ROOT)) {
      case "K" -> 1e3;
      case "M" -> 1e6;
      default -> 1e9;
    } / BITS;
  }
}
