package io.regatta.data.feature;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.feature.BucketFeature;
import io.regatta.core.feature.Feature;
import io.regatta.core.feature.Feature.Missing;
import io.regatta.core.feature.FeatureStatistics;
import io.regatta.core.feature.FeatureTransform;
import io.regatta.core.feature.IdCoding;
import io.regatta.core.feature.IdFeature;
import io.regatta.core.feature.IdsFeature;
import io.regatta.core.feature.NumberFeature;
import io.regatta.core.feature.NumberFeature.Scale;
import io.regatta.core.feature.NumberFeature.Transform;
import io.regatta.core.feature.NumberStatistics;
import io.regatta.core.feature.TimeFeature;
import io.regatta.core.hash.XxHash64;
import io.regatta.data.BadLines;
import io.regatta.data.RowFormat;
import io.regatta.data.column.ColumnFacts;
import io.regatta.data.feature.RowSplit.Boundaries;
import io.regatta.data.feature.TableStatistics.FileFact;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Oracle: the statistics computed again from the same rows, held in memory. */
class TableAnalysisTest {

  private static final int ROWS = 40_000;
  private static final double ANY = Double.POSITIVE_INFINITY;
  private static final IdCoding ITEM = new IdCoding("item", 3, 0, List.of(), false);
  private static final List<Feature> FEATURES = List.of(
      new NumberFeature("n", "n", Missing.OWN, Double.NaN, 0, ANY, Transform.POWER, 2, Scale.STANDARD),
      new NumberFeature("plain", "n", Missing.OWN, Double.NaN, -ANY, ANY, Transform.NONE, 1, Scale.NONE),
      new BucketFeature("b", "b", Missing.OWN, "b", List.of(), 4),
      new IdFeature("c", "c", Missing.OWN, ITEM), new IdsFeature("t", "t", Missing.OWN, "|", "", 5, Feature.Pooling.SUM, ITEM),
      new TimeFeature("w", "w", Missing.OWN, TimeFeature.Format.EPOCH_S, "", ZoneId.of("UTC"), List.of(TimeFeature.Part.AGE_DAYS),
          LocalDate.of(1970, 1, 1)));
  private static final LabelColumn LABEL = new LabelColumn("y", "", false);

  @TempDir
  Path dir;
  private final List<String[]> good = new ArrayList<>();
  private List<Path> files;

  private static long id(String namespace, String value) {
    byte[] name = namespace.getBytes(StandardCharsets.UTF_8);
    byte[] text = value.getBytes(StandardCharsets.UTF_8);
    return XxHash64.of(text, 0, text.length, XxHash64.of(name, 0, name.length, 0));
  }

  @BeforeEach
  void write() throws IOException {
    Random random = new Random(5);
    files = List.of(dir.resolve("0.csv"), dir.resolve("1.csv"));
    for (Path file : files) {
      StringBuilder text = new StringBuilder("n,b,c,t,w,y\n");
      for (int i = 0; i < ROWS / 2; i++) {
        String[] row = {random.nextInt(9) == 0 ? "" : Double.toString(random.nextGaussian()), Integer.toString(random.nextInt(100)),
            "c" + (int) Math.abs(random.nextGaussian() * 4000), "t" + random.nextInt(5) + "|c" + random.nextInt(20000),
            Integer.toString(random.nextInt(10_000_000)), "1"};
        boolean bad = random.nextInt(1000) == 0;
        if (bad) {
          row[1] = "bad";
        } else {
          good.add(row);
        }
        text.append(String.join(",", row)).append('\n');
      }
      Files.writeString(file, text);
    }
  }

  private static RowFormat<?> format() {
    Set<String> columns = new LinkedHashSet<>(FeatureTransform.withoutStatistics(FEATURES).columns());
    columns.add("y");
    return RowFormats.of("csv", List.of(), columns, Set.of());
  }

  private TableStatistics analyze(RowParts parts, int threads, int limit) {
    return TableAnalysis.run(format(), files, FEATURES, LABEL, parts, threads, limit, new BadLines(BadLines.Policy.SKIP, false),
        (bytes, all) -> assertThat(bytes).isBetween(0L, all));
  }

  @Test
  void statistics_equal_those_of_the_rows_in_memory() {
    TableStatistics found = analyze(RowParts.NONE, 2, 1 << 18);
    FeatureStatistics statistics = found.features();
    double[] squares = good.stream().filter(row -> !row[0].isEmpty()).mapToDouble(row -> Math.max(0, Double.parseDouble(row[0])))
        .map(x -> x * x).toArray();
    close(statistics.numbers().get("n"), squares);
    close(statistics.numbers().get("w.age_days"), good.stream().mapToDouble(row -> Long.parseLong(row[4]) / 86400.0).toArray());
    assertThat(statistics.numbers()).hasSize(2);
    assertThat(statistics.bounds().get("b")).hasSize(3);
    for (int i = 0; i < 3; i++) {
      assertThat(statistics.bounds().get("b").get(i)).isCloseTo(25 * (i + 1), within(2.0));
    }
    Map<String, Integer> counts = new TreeMap<>();
    good.forEach(row -> {
      counts.merge(row[2], 1, Integer::sum);
      Arrays.stream(row[3].split("\\|")).forEach(value -> counts.merge(value, 1, Integer::sum));
    });
    assertThat(statistics.vocabularies().get("item").size())
        .isEqualTo((int) counts.values().stream().filter(count -> count >= 3).count());
    counts.forEach((value, count) ->
        assertThat(statistics.vocabularies().get("item").has(id("item", value))).as(value).isEqualTo(count >= 3));
    assertThat(found.facts().rows()).isEqualTo(good.size());
    assertThat(found.facts().badLines()).isEqualTo(ROWS - good.size());
    ColumnFacts n = found.facts().columns().get("n");
    assertThat(n.missing()).isEqualTo(good.size() - squares.length);
    assertThat(n.type()).isEqualTo(ColumnFacts.Type.NUMBER);
    assertThat((double) n.distinct()).isCloseTo(squares.length, within(4 * n.distinctError() * squares.length));
    ColumnFacts b = found.facts().columns().get("b");
    assertThat(List.of(b.type(), b.missing(), b.distinct(), b.distinctError())).containsExactly(ColumnFacts.Type.WHOLE, 0L, 100L, 0.0);
    assertThat(b.numbers().orElseThrow().quantiles().get(2)).isCloseTo(49.5, within(2.0));
    assertThat(found.files()).extracting(FileFact::rows).containsExactly(ROWS / 2L, ROWS / 2L);
  }

  private static void close(NumberStatistics found, double[] values) {
    double mean = Arrays.stream(values).average().orElseThrow();
    double variance = Arrays.stream(values).map(value -> (value - mean) * (value - mean)).average().orElseThrow();
    assertThat(found.mean()).isCloseTo(mean, within(1e-9 * mean));
    assertThat(found.deviation()).isCloseTo(Math.sqrt(variance), within(1e-9 * Math.sqrt(variance)));
    assertThat(found.min()).isEqualTo(Arrays.stream(values).min().orElseThrow());
    assertThat(found.max()).isEqualTo(Arrays.stream(values).max().orElseThrow());
  }

  @Test
  void files_of_statistics_do_not_depend_on_threads_and_are_read_again() throws IOException {
    RowParts test = new RowParts(new TestPart(0.25, TestPart.By.HASH), TestPart.NONE);
    TableStatistics one = analyze(test, 1, 1 << 18);
    StatisticsFile.write(dir.resolve("one"), one);
    for (int threads : new int[] {2, 7}) {
      Path there = dir.resolve("more" + threads);
      StatisticsFile.write(there, analyze(test, threads, 1 << 18));
      for (String file : StatisticsFile.read(there).files().keySet()) {
        assertThat(there.resolve(file)).hasSameBinaryContentAs(dir.resolve("one").resolve(file));
      }
    }
    TableStatistics read = StatisticsFile.read(dir.resolve("one")).statistics();
    assertThat(read.features().digest()).isEqualTo(one.features().digest());
    assertThat(read.facts()).isEqualTo(one.facts());
    assertThat(read.files()).isEqualTo(one.files());
    assertThat(read.boundaries()).isEqualTo(Boundaries.NONE);
    assertThat(FeatureTransform.of(FEATURES, read.features()).digest()).isEqualTo(FeatureTransform.of(FEATURES, one.features()).digest());
  }

  @Test
  void rows_of_the_validation_and_test_parts_enter_no_statistic() throws IOException {
    Path file = dir.resolve("split.csv");
    StringBuilder text = new StringBuilder("n,b,c,t,w,y\n");
    for (int i = 0; i < 10; i++) {
      text.append(i < 7 ? "1,1,train,x,0,1\n" : "1000,1,test,x,0,1\n");
    }
    Files.writeString(file, text);
    files = List.of(file);
    TableStatistics found = analyze(new RowParts(new TestPart(0.2, TestPart.By.POSITION), new TestPart(0.1, TestPart.By.POSITION)), 2, 100);
    assertThat(found.boundaries()).isEqualTo(new Boundaries(Optional.of(new RowFormat.Place(file.toString(), 0, 9)),
        Optional.of(new RowFormat.Place(file.toString(), 0, 10))));
    assertThat(found.features().numbers().get("n").max()).isEqualTo(1);
    assertThat(found.values().get("item")).extracting(each -> new String(each.text(), StandardCharsets.UTF_8) + each.count())
        .containsExactly("train7", "x7");
    StatisticsFile.write(dir.resolve("s"), found);
    assertThat(StatisticsFile.read(dir.resolve("s")).statistics().boundaries()).isEqualTo(found.boundaries());
  }

  @Test
  void too_many_distinct_values_are_refused_with_two_ways_out() {
    assertThatThrownBy(() -> analyze(RowParts.NONE, 2, 50)).isInstanceOf(InvalidInput.class)
        .hasMessageContainingAll("item has more than 50 distinct values", "--distinct-limit", "admit_count");
  }

  @Test
  void a_file_that_is_no_statistics_is_refused() throws IOException {
    assertThatThrownBy(() -> StatisticsFile.read(dir)).isInstanceOf(InvalidInput.class).hasMessageContaining("features.json");
    Path file = dir.resolve(StatisticsFile.NAME);
    Files.writeString(file, "{\"format\": 2}");
    assertThatThrownBy(() -> StatisticsFile.read(dir)).hasMessageContaining("its format is 2, expected 1");
    Files.writeString(file, "{");
    assertThatThrownBy(() -> StatisticsFile.read(dir)).hasMessageContaining("is no JSON");
    Files.writeString(file, "{\"format\": 1, \"features\": {\"bounds\": {\"b\": [1, \"x\"]}}}");
    assertThatThrownBy(() -> StatisticsFile.read(dir)).hasMessageContaining("of b is no number");
    Files.writeString(file, "{\"format\": 1, \"features\": {\"vocabularies\": {\"c\": {\"file\": \"../x\"}}}}");
    assertThatThrownBy(() -> StatisticsFile.read(dir)).hasMessageContaining("'../x' is no name");
    Files.writeString(file, "{\"format\": 1, \"features\": {\"vocabularies\": {\"c\": {\"file\": \"vocabulary-0.tsv\"}}}}");
    Files.writeString(dir.resolve("vocabulary-0.tsv"), "a\\tb\\\\\t3\nno count\n");
    assertThatThrownBy(() -> StatisticsFile.read(dir)).hasMessageContaining("vocabulary-0.tsv, line 2");
    Files.writeString(dir.resolve("vocabulary-0.tsv"), "a\\tb\\\\\t3\n");
    assertThat(StatisticsFile.read(dir).statistics().features().vocabularies().get("c").has(id("c", "a\tb\\"))).isTrue();
  }
}
