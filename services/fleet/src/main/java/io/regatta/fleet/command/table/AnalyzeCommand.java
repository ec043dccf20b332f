package io.regatta.fleet.command.table;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.BadLines;
import io.regatta.data.column.ColumnFacts;
import io.regatta.data.feature.StatisticsFile;
import io.regatta.data.feature.TableStatistics;
import io.regatta.fleet.command.option.JobOptions;
import io.regatta.fleet.command.option.SettingsOptions;
import io.regatta.fleet.command.output.Report;
import io.regatta.program.TabularProgram;
import io.regatta.training.config.JobConfig;
import io.regatta.training.feature.MisleadingColumns;
import io.regatta.training.run.ConsoleProgress;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** The command that computes the statistics of a job's training rows, from which features are computed. */
@Command(name = "analyze", mixinStandardHelpOptions = true,
    description = "Computes the statistics of a job's training rows that its features need, and writes them to data.statistics.")
public final class AnalyzeCommand implements Callable<Integer> {

  private static final double PERCENT = 100;

  @Spec
  private CommandSpec spec;

  @Mixin
  private SettingsOptions settings;

  @Mixin
  private JobOptions job;

  @Option(names = "--threads", paramLabel = "N", description = "default: the number of processors")
  private int threads = Runtime.getRuntime().availableProcessors();

  @Option(names = "--distinct-limit", paramLabel = "N", defaultValue = "262144",
      description = "most distinct values of a table that are counted for min_count (default: ${DEFAULT-VALUE})")
  private int distinctLimit;

  @Option(names = "--overwrite", description = "replaces statistics that are there")
  private boolean overwrite;

  @Override
  public Integer call() {
    if (threads < 1 || distinctLimit < 1) {
      throw new InvalidInput(threads < 1 ? "--threads must be at least 1, not " + threads
          : "--distinct-limit must be at least 1, not " + distinctLimit);
    }
    JobConfig config = job.load(settings, null);
    Path directory = config.statisticsDirectory();
    if (!overwrite && Files.exists(directory.resolve(StatisticsFile.NAME))) {
      throw new InvalidInput(directory + " holds statistics; give --overwrite to replace them");
    }
    try (ConsoleProgress progress = ConsoleProgress.create("analyze", "")) {
      TableStatistics statistics = TabularProgram.analyze(config, threads, distinctLimit,
          new BadLines(config.data().onBadLine()), progress.loading("rows"));
      progress.end();
      StatisticsFile.write(directory, statistics);
      print(statistics, directory, spec.commandLine().getOut());
      MisleadingColumns.named(config, statistics.facts(), "training rows").forEach(line -> Report.say(spec.commandLine().getErr(), "warning: " + line));
    }
    return Report.DONE;
  }

  private static void print(TableStatistics statistics, Path directory, PrintWriter out) {
    long rows = statistics.facts().rows();
    Report.say(out, rows + " training rows, " + statistics.facts().badLines() + " bad lines");
    statistics.facts().columns().forEach((column, facts) -> Report.say(out, column + ": " + line(facts)));
    Report.say(out, "statistics are in " + directory);
  }

  private static String line(ColumnFacts facts) {
    String distinct = (facts.distinctError() == 0 ? "" : "about ") + facts.distinct() + " distinct";
    String numbers = facts.numbers().map(of -> String.format(Locale.ROOT, ", %.6g to %.6g, median %.6g", of.min(), of.max(),
        of.quantiles().get(2))).orElse("");
    return String.format(Locale.ROOT, "%s, %s, %.1f %% missing%s%s", facts.type().name().toLowerCase(Locale.ROOT), distinct,
        PERCENT * facts.missing() / Math.max(1, facts.rows()), numbers,
        Double.isNaN(facts.labelAuc()) ? "" : String.format(Locale.ROOT, ", AUC %.3f alone", facts.labelAuc()));
  }
}
