package io.regatta.load.features;

import io.regatta.core.feature.Feature;
import io.regatta.core.feature.Feature.Missing;
import io.regatta.core.feature.FeatureStatistics;
import io.regatta.core.feature.FeatureTransform;
import io.regatta.core.feature.IdCoding;
import io.regatta.core.feature.IdFeature;
import io.regatta.core.feature.NumberFeature;
import io.regatta.core.feature.NumberFeature.Scale;
import io.regatta.core.feature.NumberFeature.Transform;
import io.regatta.core.progress.LoadListener;
import io.regatta.data.BadLines;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotSource;
import io.regatta.data.feature.FeatureSource;
import io.regatta.data.feature.LabelColumn;
import io.regatta.data.feature.RowFormats;
import io.regatta.data.feature.RowParts;
import io.regatta.data.feature.RowSplit;
import io.regatta.data.feature.TableAnalysis;
import io.regatta.load.process.Task;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;

/** The reading of a table of a label, 13 numbers and 26 texts, by one thread. Owned by the worker's main thread. */
final class FeatureReading implements Task {

  static final int NUMBERS = 13;
  static final int TEXTS = 26;
  private static final int BATCH = 1000;
  private static final int DISTINCT_MAX = 1 << 18;

  private final boolean analyze;
  private final Path file;
  private final List<Feature> features = new ArrayList<>();
  private final LabelColumn label = new LabelColumn("label", "", false);
  private final FeatureTransform transform;

  /** @param setup with {@code kind} and {@code file} */
  FeatureReading(JsonObject setup) {
    analyze = setup.getString("kind").equals(FeaturesDriver.ANALYZE);
    file = Path.of(setup.getString("file"));
    double any = Double.POSITIVE_INFINITY;
    IntStream.rangeClosed(1, NUMBERS).mapToObj(i -> "I" + i).forEach(name -> features.add(new NumberFeature(name, name, Missing.OWN,
        Double.NaN, -any, any, Transform.LOG, 0.5, analyze ? Scale.STANDARD : Scale.NONE)));
    IntStream.rangeClosed(1, TEXTS).mapToObj(i -> "C" + i).forEach(name ->
        features.add(new IdFeature(name, name, Missing.OWN, analyze ? new IdCoding(name, 3, 0, List.of(), false) : IdCoding.of(name))));
    transform = FeatureTransform.withoutStatistics(features);
  }

  @Override
  public JsonObject run(JsonObject command) {
    JsonObject answer = new JsonObject();
    long rows = 0;
    for (int i = 0; i < command.getInteger("times", 1); i++) {
      rows += analyze ? analyzed() : read(answer);
    }
    return answer.put("examples", rows);
  }

  private long analyzed() {
    LinkedHashSet<String> needed = new LinkedHashSet<>(transform.columns());
    needed.add("label");
    LoadListener none = (done, all) -> { };
    return TableAnalysis.run(RowFormats.of("csv", List.of(), needed, Set.of()), List.of(file), features, label, RowParts.NONE, 1,
        DISTINCT_MAX, new BadLines(BadLines.Policy.FAIL), none).facts().rows();
  }

  private long read(JsonObject answer) {
    LinkedHashSet<String> needed = new LinkedHashSet<>(transform.columns());
    needed.add("label");
    FeatureTransform complete = FeatureTransform.of(features, FeatureStatistics.NONE);
    return read(new FeatureSource<>(RowFormats.of("csv", List.of(), needed, Set.of()), complete, label, RowSplit.ALL, List.of(file),
        new BadLines(BadLines.Policy.FAIL)), answer);
  }

  private static <R> long read(FeatureSource<R> source, JsonObject answer) {
    SlotBatch batch = SlotBatch.allocate(source.layout(), BATCH);
    long rows = 0;
    double floats = 0;
    long positive = 0;
    try (SlotSource.Cursor<R> cursor = source.open()) {
      int at = 0;
      for (R row = cursor.next(); row != null; row = cursor.next()) {
        source.parse(row, batch, at++);
        rows++;
        if (at == BATCH) {
          floats += sum(batch, at);
          positive += positive(batch, at);
          at = 0;
        }
      }
      floats += sum(batch, at);
      positive += positive(batch, at);
    }
    answer.put("floats", floats).put("positive", positive);
    return rows;
  }

  private static double sum(SlotBatch batch, int rows) {
    double sum = 0;
    for (int i = 0; i < rows * batch.layout().dense(); i++) {
      sum += batch.dense()[i];
    }
    return sum;
  }

  private static long positive(SlotBatch batch, int rows) {
    long positive = 0;
    for (int i = 0; i < rows; i++) {
      positive += (long) batch.labels()[i];
    }
    return positive;
  }

  @Override
  public void close() {}
}
