package io.regatta.training.result;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.StringJoiner;
import java.util.TreeMap;

/** The text form of a {@link RunResult}, for people. Stateless. */
final class RunSummary {

  /** Words for the metrics that stand before the others, in their order. */
  private static final Map<String, String> SHOWN_FIRST = new LinkedHashMap<>();

  static {
    SHOWN_FIRST.put(MetricNames.AUC, "AUC");
    SHOWN_FIRST.put(MetricNames.ACCURACY, "accuracy");
    SHOWN_FIRST.put(MetricNames.LOGLOSS, "log loss");
    SHOWN_FIRST.put(MetricNames.LOSS, "loss");
  }

  private RunSummary() {}

  static String of(RunResult run) {
    if (run.isLate()) {
      return run.nothingLeft();
    }
    StringBuilder text = new StringBuilder();
    text.append(String.format(Locale.ROOT,
        "%s: %s, %d server%s with %d shard%s in all, %d trainer%s: %d steps, %d examples in %.1f s (%.0f examples/s",
        run.job(), run.mode(), run.servers(), s(run.servers()), run.shards(), s(run.shards()), run.trainers(),
        s(run.trainers()), run.steps(), run.examples(), run.seconds(), run.examplesPerSecond()));
    if (run.examplesPerSecondByRank().size() > 1) {
      StringJoiner rates = new StringJoiner(", ", "; by trainer: ", "");
      run.examplesPerSecondByRank().forEach(rate -> rates.add(String.format(Locale.ROOT, "%.0f", rate)));
      text.append(rates);
    }
    text.append(")");
    if (run.trainersAtEnd() < run.trainers()) {
      text.append(String.format(Locale.ROOT, "%n  only %d of %d trainers reached the end: the others were lost or have left",
          run.trainersAtEnd(), run.trainers()));
    }
    text.append(resumed(run.examplesResumed()));
    if (run.examplesRepeated() > 0) {
      text.append("\n  ").append(count(run.examplesRepeated())).append(run.examplesRepeated() == 1 ? " was" : " were")
          .append(" trained more than once (at most), and counted once");
    }
    StringJoiner figures = new StringJoiner(", ", "\n  ", "");
    SHOWN_FIRST.forEach((name, words) -> figure(figures, words, run.metric(name)));
    List<String> partly = new ArrayList<>();
    new TreeMap<>(run.metrics()).forEach((name, value) -> {
      if (name.startsWith(MetricNames.COVERAGE)) { // one per slot: too many for a line
        partly.add(name.substring(MetricNames.COVERAGE.length()));
      } else if (!SHOWN_FIRST.containsKey(name) && !name.contains("[")) { // those of slices, classes and buckets are in the file
        figure(figures, name.replace('_', ' '), value);
      }
    });
    if (!partly.isEmpty()) {
      figures.add(partly.size() + " slots without a value in some examples (their coverage is in the result file)");
    }
    figures.add("staleness at most " + run.stalenessMax());
    if (run.skippedPushes() > 0) {
      figures.add(run.skippedPushes() + " skipped pushes (NaN or infinite)");
    }
    text.append(figures).append("\n  parameters' hash ").append(run.parametersHash())
        .append(", seed ").append(run.seed());
    if (!run.model().isEmpty()) {
      text.append(", model saved in ").append(run.model());
    }
    text.append(processes(run.processIds()));
    if (run.losses().hasUntrained()) { // last, where it is read
      text.append("\nWARNING: not all data were trained: ").append(run.losses().untrained());
    }
    return text.toString();
  }

  private static String resumed(long examples) {
    if (examples == 0) {
      return "";
    }
    return examples < 0
        ? "\n  resumed from a snapshot that does not say how many examples it contains: those of this life are counted"
        : "\n  resumed: " + count(examples) + " of these " + (examples == 1 ? "was" : "were")
            + " in the snapshot; examples trained after it in earlier lives are not counted";
  }

  private static String count(long examples) {
    return examples + (examples == 1 ? " example" : " examples");
  }

  /** Returns the process ids; a single number if all services are in one process. */
  private static String processes(Map<String, Long> ids) {
    if (Set.copyOf(ids.values()).size() == 1) {
      return "\n  process " + ids.values().iterator().next();
    }
    StringJoiner each = new StringJoiner(", ", "\n  processes ", "").setEmptyValue("");
    ids.forEach((name, id) -> each.add(name + " " + id));
    return each.toString();
  }

  private static void figure(StringJoiner figures, String name, double value) {
    if (Double.isFinite(value)) {
      figures.add(String.format(Locale.ROOT, value == Math.rint(value) ? "%s %.0f" : "%s %.5f", name, value));
    }
  }

  private static String s(int count) {
    return count == 1 ? "" : "s";
  }
}
