package io.regatta.fleet.command.table;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.feature.Feature;
import io.regatta.core.feature.FeatureField;
import io.regatta.core.feature.FeatureTransform;
import io.regatta.core.feature.InputRow;
import io.regatta.data.BadLines;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotSource;
import io.regatta.data.feature.FeatureSource;
import io.regatta.data.file.DataFiles;
import io.regatta.fleet.command.output.Report;
import io.regatta.predictor.Predictor;
import io.regatta.training.feature.DeclaredFeatures;
import io.regatta.training.feature.DeclaredFeatures.Use;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** The command that says what each feature of a model is worth. */
@Command(name = "explain", mixinStandardHelpOptions = true,
    description = "Says what each declared feature of a saved model is worth: the loss in a metric if its values are shuffled, its coverage, "
        + "and the weights of a linear part.")
public final class ExplainCommand implements Callable<Integer> {

  private static final double PERCENT = 100;

  @Spec
  private CommandSpec spec;

  @Parameters(index = "0", paramLabel = "MODEL", description = "directory of the model, as a run saved it (output)")
  private Path model;

  @Option(names = "--data", required = true, paramLabel = "FILE", description = "rows with labels, in the format of the training files; "
      + "rows that training has not seen")
  private String data;

  @Option(names = "--rows", paramLabel = "N", defaultValue = "20000", description = "most rows that are used (default: ${DEFAULT-VALUE})")
  private int rows;

  @Option(names = "--repeats", paramLabel = "N", defaultValue = "3", description = "shufflings of each feature (default: ${DEFAULT-VALUE})")
  private int repeats;

  @Option(names = "--seed", paramLabel = "N", defaultValue = "1", description = "seed of the shufflings (default: ${DEFAULT-VALUE})")
  private long seed;

  @Option(names = "--metric", paramLabel = "NAME", defaultValue = "", description = "metric that is lost (default: auc, or the model's first)")
  private String metric;

  @Option(names = "--result", paramLabel = "FILE", description = "writes the numbers as JSON")
  private Path result;

  @Option(names = "--plot", paramLabel = "FILE", description = "draws the importance as SVG")
  private Path plot;

  @Override
  public Integer call() {
    if (rows < 2 || repeats < 1) {
      throw new InvalidInput(rows < 2 ? "--rows must be at least 2, not " + rows : "--repeats must be at least 1, not " + repeats);
    }
    try (Predictor predictor = Predictor.load(model)) {
      DeclaredFeatures features = predictor.features().orElseThrow(() -> new InvalidInput("model " + model
          + " declares no features; explain takes a model whose job file has the section features"));
      Map<Long, String> names = new HashMap<>();
      SlotBatch examples = read(features.source(List.of(DataFiles.path(data)), Use.PREDICT, BadLines.refused()), features, names);
      Explanation.Result found = new Explanation(predictor, examples, features.transform().fields(), names, metric).run(repeats, seed);
      print(found, spec.commandLine().getOut());
      if (result != null) {
        write(result, json(found).encodePrettily());
      }
      if (plot != null) {
        write(plot, ImportancePlot.svg(found));
      }
    }
    return Report.DONE;
  }

  private <R> SlotBatch read(FeatureSource<R> source, DeclaredFeatures features, Map<Long, String> names) {
    FeatureTransform transform = features.transform();
    Map<String, Integer> columns = new HashMap<>(); // of the features whose text is one id
    for (Feature feature : features.declared()) {
      if (feature.columns().size() == 1) {
        columns.put(feature.name(), transform.columns().indexOf(feature.columns().get(0)));
      }
    }
    SlotBatch examples = SlotBatch.allocate(source.layout(), rows);
    int n = 0;
    try (SlotSource.Cursor<R> cursor = source.open()) {
      for (R row = cursor.next(); row != null && n < rows; row = cursor.next()) {
        if (!source.parse(row, examples, n)) {
          continue;
        }
        if (Float.isNaN(examples.labels()[n])) {
          throw new InvalidInput("--data: " + data + " has rows without a label; give rows whose outcome is known");
        }
        InputRow input = source.columns();
        for (FeatureField field : transform.fields()) {
          Integer column = columns.get(field.name());
          int at = n;
          if (column != null) {
            Explanation.single(field, examples, at).forEach(id -> names.computeIfAbsent(id, any -> text(input, column)));
          }
        }
        n++;
      }
    }
    if (n < 2) {
      throw new InvalidInput("--data: " + data + " has " + n + " rows; give 2 or more");
    }
    return examples.first(n);
  }

  private static String text(InputRow row, int column) {
    return switch (row.type(column)) {
      case TEXT -> Yaml.line(new String(row.bytes(column), row.from(column), row.to(column) - row.from(column), StandardCharsets.UTF_8));
      case WHOLE -> Long.toString(row.whole(column));
      case NUMBER -> Double.toString(row.number(column));
      case MISSING, TEXTS -> "";
    };
  }

  private static void print(Explanation.Result found, PrintWriter out) {
    Report.say(out, String.format(Locale.ROOT, "%s %.5f on %d examples; loss if a feature is shuffled:", found.metric(), found.value(),
        found.examples()));
    for (Explanation.Entry entry : found.entries()) {
      StringBuilder line = new StringBuilder(String.format(Locale.ROOT, "%-30s %8.5f ± %.5f  %5.1f %% missing", entry.name(), entry.importance(),
          entry.deviation(), PERCENT * entry.missing()));
      if (!Double.isNaN(entry.trained())) {
        line.append(String.format(Locale.ROOT, "  %5.1f %% trained", PERCENT * entry.trained()));
      }
      if (!entry.values().isEmpty()) {
        line.append("  ");
        entry.values().stream().limit(3).forEach(value -> line.append(String.format(Locale.ROOT, " %s: %+.3f", value.value(), value.weight())));
      }
      Report.say(out, line);
    }
  }

  private JsonObject json(Explanation.Result found) {
    JsonArray features = new JsonArray();
    for (Explanation.Entry entry : found.entries()) {
      JsonObject feature = new JsonObject().put("name", entry.name()).put("importance", entry.importance())
          .put("deviation", entry.deviation()).put("missing", entry.missing());
      if (!Double.isNaN(entry.trained())) {
        feature.put("trained", entry.trained());
      }
      if (!Double.isNaN(entry.weight())) {
        JsonArray values = new JsonArray();
        entry.values().forEach(value -> values.add(new JsonObject().put("value", value.value()).put("weight", value.weight())
            .put("examples", value.examples())));
        feature.put("mean_weight", entry.weight()).put("weights", values);
      }
      features.add(feature);
    }
    return new JsonObject().put("model", model.toString()).put("data", data).put("metric", found.metric()).put("value", found.value())
        .put("examples", found.examples()).put("repeats", repeats).put("seed", seed).put("features", features);
  }

  private static void write(Path file, String text) {
    try {
      Files.writeString(file, text);
    } catch (IOException e) {
      throw new InvalidInput(file + " cannot be written: " + e, e);
    }
  }
}
