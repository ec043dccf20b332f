package io.regatta.data.feature;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.feature.Feature;
import io.regatta.core.feature.Feature.Missing;
import io.regatta.core.feature.Feature.Pooling;
import io.regatta.core.feature.FeatureStatistics;
import io.regatta.core.feature.FeatureTransform;
import io.regatta.core.feature.IdCoding;
import io.regatta.core.feature.IdFeature;
import io.regatta.core.feature.IdsFeature;
import io.regatta.core.feature.NumberFeature;
import io.regatta.core.feature.NumberFeature.Scale;
import io.regatta.core.feature.NumberFeature.Transform;
import io.regatta.core.hash.XxHash64;
import io.regatta.data.BadLines;
import io.regatta.data.DataCursor;
import io.regatta.data.Line;
import io.regatta.data.RowFormat;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotSource;
import io.regatta.data.feature.RowSplit.Boundaries;
import io.regatta.data.feature.RowSplit.Part;
import io.regatta.data.feature.TestPart.By;
import io.regatta.data.file.PipeCommand;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.zip.GZIPOutputStream;
import net.jpountz.xxhash.XXHash64;
import net.jpountz.xxhash.XXHashFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Rows of named columns in each format, bad ones, and the parts of a split. */
class FeatureSourceTest {

  private static final double ANY = Double.POSITIVE_INFINITY;
  private static final FeatureTransform TRANSFORM = FeatureTransform.of(List.<Feature>of(
      new NumberFeature("age", "age", Missing.OWN, Double.NaN, -ANY, ANY, Transform.NONE, 1, Scale.NONE),
      new IdFeature("job", "job", Missing.OWN, IdCoding.of("job"))), FeatureStatistics.NONE);
  private static final LabelColumn LABEL = new LabelColumn("click", "", false);

  @TempDir
  Path dir;

  private static BadLines fail() {
    return new BadLines(BadLines.Policy.FAIL);
  }

  private Path file(String name, String text) throws IOException {
    Path file = dir.resolve(name);
    try (OutputStream out = name.endsWith(".gz") ? new GZIPOutputStream(Files.newOutputStream(file)) : Files.newOutputStream(file)) {
      out.write(text.getBytes(StandardCharsets.UTF_8));
    }
    return file;
  }

  private static RowFormat<?> format(String name, List<String> given, LabelColumn label) {
    Set<String> needed = new LinkedHashSet<>(TRANSFORM.columns());
    if (!label.optional()) {
      needed.add(label.column());
    }
    return RowFormats.of(name, given, needed, label.optional() ? Set.of(label.column()) : Set.of());
  }

  private static <R> FeatureSource<R> source(RowFormat<R> format, LabelColumn label, RowSplit split, BadLines badLines, Path... files) {
    return new FeatureSource<>(format, TRANSFORM, label, split, List.of(files), badLines);
  }

  /** Returns one text for each good row: label, age, mark of a missing age, job. */
  private static <R> List<String> read(FeatureSource<R> source) {
    List<String> rows = new ArrayList<>();
    try (SlotSource.Cursor<R> cursor = source.open()) {
      for (R row = cursor.next(); row != null; row = cursor.next()) {
        SlotBatch batch = SlotBatch.allocate(source.layout(), 1);
        if (source.parse(row, batch, 0)) {
          rows.add(batch.labels()[0] + " " + batch.dense()[0] + " " + batch.dense()[1] + " " + batch.ids()[0]);
        }
      }
    }
    return rows;
  }

  private static String row(String label, String age, String job) {
    byte[] name = "job".getBytes(StandardCharsets.UTF_8);
    byte[] text = job.getBytes(StandardCharsets.UTF_8);
    long id = job.isEmpty() ? XxHash64.of(name, 0, name.length, 1)
        : XxHash64.of(text, 0, text.length, XxHash64.of(name, 0, name.length, 0));
    return label + " " + (age.isEmpty() ? "0.0 1.0" : age + " 0.0") + " " + id;
  }

  private List<String> read(String format, List<String> given, Path... files) {
    return read(source(format(format, given, LABEL), LABEL, RowSplit.ALL, fail(), files));
  }

  @Test
  void csv_has_a_header_or_given_names() throws IOException {
    String[] expected = {row("1.0", "30.0", "clerk, \"senior\"\nnight"), row("0.0", "", "")};
    assertThat(read("csv", List.of(), file("a.csv", "\uFEFFjob,other, age ,click\r\n"
        + "\"clerk, \"\"senior\"\"\nnight\",x, 30 ,1\r\n,y,,false\r\n"))).containsExactly(expected);
    assertThat(read("csv", List.of("click", "age", "job"), file("b.csv.gz",
        "true,30,\"clerk, \"\"senior\"\"\nnight\"\n0,,\n"))).containsExactly(expected);
  }

  @Test
  void tsv_has_no_quotes() throws IOException {
    assertThat(read("tsv", List.of(), file("a.tsv", "click\tage\tjob\n1\t-4.5\t\"a, b\"\n0\t\t\n")))
        .containsExactly(row("1.0", "-4.5", "\"a, b\""), row("0.0", "", ""));
  }

  /** Oracle: the rules of RFC 4180, by hand; values longer and rows more than a block of the reader. */
  @Test
  void values_in_quotes_may_hold_anything_and_cross_blocks() throws IOException {
    StringBuilder text = new StringBuilder("job,age,click\r\n\r\n");
    List<String> expected = new ArrayList<>();
    Random random = new Random(2);
    String[] parts = {"a", "\"\"", ",", "\n", "\r\n", "é", " "};
    for (int i = 0; i < 4000; i++) {
      StringBuilder value = new StringBuilder("x");
      for (int n = random.nextInt(400); n > 0; n--) {
        value.append(parts[random.nextInt(parts.length)]);
      }
      value.append('x');
      text.append('"').append(value).append("\",\"").append(i).append("\",1").append(i % 2 == 0 ? "\r\n" : "\n");
      expected.add(row("1.0", i + ".0", value.toString().replace("\"\"", "\"")));
    }
    assertThat(read("csv", List.of(), file("a.csv", text.toString()))).isEqualTo(expected);
    assertThat(read("csv", List.of(), file("b.csv", "click,age,job\n1,30,a \"b\" c"))).containsExactly(row("1.0", "30.0", "a \"b\" c"));
  }

  @Test
  void libsvm_and_multislot_have_columns_too() throws IOException {
    LabelColumn label = new LabelColumn("label", "1", false);
    List<Feature> features = List.of(new NumberFeature("seven", "7", Missing.OWN, Double.NaN, Double.NEGATIVE_INFINITY,
        Double.POSITIVE_INFINITY, Transform.NONE, 0.5, Scale.NONE),
        new IdsFeature("f", "features", Missing.OWN, " ", ":", 3, Pooling.SUM, IdCoding.of("f")));
    FeatureTransform transform = FeatureTransform.of(features, FeatureStatistics.NONE);
    RowFormat<?> libsvm = RowFormats.of("libsvm", List.of(), new LinkedHashSet<>(List.of("7", "features", "label")), Set.of());
    SlotBatch rows = rows(new FeatureSource<>(libsvm, transform, label, RowSplit.ALL,
        List.of(file("a.svm", "+1 3:1 7:0.5 # note\n# comment\n-1 qid:4 9:2\n")), fail()), 2);
    assertThat(rows.labels()).containsExactly(1, 0);
    assertThat(rows.dense()).containsExactly(0.5f, 0, 0, 1);
    assertThat(rows.values()).containsExactly(1, 0.5f, 0, 2, 0, 0);
    assertThatThrownBy(() -> RowFormats.of("libsvm", List.of(), Set.of("x"), Set.of())).hasMessageContaining("has no column x");
    RowFormat<?> slots = RowFormats.of("multislot", List.of("label", "7", "features"),
        new LinkedHashSet<>(List.of("7", "features", "label")), Set.of());
    assertThat(rows(new FeatureSource<>(slots, transform, label, RowSplit.ALL,
        List.of(file("a.slots", "1 1 1 0.5 2 3:1 7:0.5\n1 0 0 1 9:2\n")), fail()), 2)).usingRecursiveComparison()
        .ignoringFields("dense").isEqualTo(rows);
    assertThatThrownBy(() -> rows(new FeatureSource<>(slots, transform, label, RowSplit.ALL,
        List.of(file("b.slots", "1 1 1 0.5 2 3:1\n")), fail()), 1)).hasMessageContaining("features: the line ends after 1 of 2 values");
    assertThatThrownBy(() -> RowFormats.of("multislot", List.of(), Set.of("x"), Set.of())).hasMessageContaining("data.columns");
  }

  private static <R> SlotBatch rows(FeatureSource<R> source, int count) {
    SlotBatch batch = SlotBatch.allocate(source.layout(), count);
    int n = 0;
    try (SlotSource.Cursor<R> cursor = source.open()) {
      for (R row = cursor.next(); row != null; row = cursor.next()) {
        n += source.parse(row, batch, n) ? 1 : 0;
      }
    }
    return batch.first(n);
  }

  @Test
  void lines_may_come_through_a_command() throws IOException {
    RowFormat<?> format = RowFormats.of("csv", List.of("click", "age", "job"), new LinkedHashSet<>(List.of("age", "job", "click")), Set.of(),
        PipeCommand.of("tr ';' ','"));
    assertThat(read(source(format, LABEL, RowSplit.ALL, fail(), file("a.txt", "1;30;x\n")))).containsExactly(row("1.0", "30.0", "x"));
  }

  @Test
  void json_lines_name_their_columns() throws IOException {
    assertThat(read("json", List.of(), file("a.json", "{\"click\": 1, \"age\": 30, \"job\": \"x\", \"more\": {\"a\": [1]}}\n\n"
        + "{\"job\": null, \"click\": false}\n{\"age\": 1.5e0, \"job\": 7, \"click\": \"true\"}\n")))
        .containsExactly(row("1.0", "30.0", "x"), row("0.0", "", ""), row("1.0", "1.5", "7"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"[1]", "{\"age\": [[1]]}", "{\"age\": {\"a\": 1}}", "{\"age\": 1", "{} {}", "{\"none\": 1}", "{age: 1}", "x",
      "{\"age\": 1} x", "{\"age\": NaN}", "{\"age\": [1, 2], \"click\": 1}", "{\"age\": 1, \"click\": 2}", "{\"age\": 1}"})
  void a_line_that_is_no_row_is_bad(String line) throws IOException {
    Path file = file("a.json", "{\"age\": 1, \"click\": 1}\n" + line + "\n");
    assertThatThrownBy(() -> read("json", List.of(), file)).isInstanceOf(InvalidInput.class).hasMessageContaining("a.json, line 2, ");
    BadLines skip = new BadLines(BadLines.Policy.SKIP);
    assertThat(read(source(format("json", List.of(), LABEL), LABEL, RowSplit.ALL, skip, file))).hasSize(1);
    assertThat(skip.skipped()).isEqualTo(1);
  }

  @Test
  void a_bad_value_is_named_by_file_line_and_column() throws IOException {
    assertBad("a.csv", "click,age,job\n1,2,x\n1,old,x\n", "a.csv, line 3, column age: expected a number, found 'old'");
    assertBad("b.csv", "click,age,job\n2,2,x\n", "b.csv, line 2, column click: expected label 0 or 1, found '2'");
    assertBad("c.csv", "click,age,job\n,2,x\n", "c.csv, line 2, column click: expected label 0 or 1, found ''");
    assertBad("d.csv", "click,age,job\n1,2\n", "d.csv, line 2, column 3 (job): the row ends after 2 columns");
    assertBad("e.csv", "click,age\n1,2\n", "e.csv, line 1: expected a column named job, found [click, age]");
    assertThatThrownBy(() -> format("csv", List.of("age", "click"), LABEL)).hasMessageContaining("data.columns names no column job");
    assertThatThrownBy(() -> format("csv", List.of("age", "age"), LABEL)).hasMessageContaining("the column age twice");
    assertThatThrownBy(() -> format("json", List.of("age"), LABEL)).hasMessageContaining("has no effect on the format json");
  }

  private void assertBad(String name, String text, String message) throws IOException {
    Path file = file(name, text);
    assertThatThrownBy(() -> read("csv", List.of(), file)).isInstanceOf(InvalidInput.class).hasMessageContaining(message);
  }

  @Test
  void an_optional_label_may_be_absent() throws IOException {
    LabelColumn optional = new LabelColumn("click", "", true);
    Path file = file("a.csv", "age,job\n30,x\n");
    assertThat(read(source(format("csv", List.of(), optional), optional, RowSplit.ALL, fail(), file)))
        .containsExactly(row("NaN", "30.0", "x"));
  }

  @Test
  void a_text_may_be_the_positive_label() throws IOException {
    LabelColumn income = new LabelColumn("income", ">50K", false);
    Path file = file("a.csv", "age,job,income\n30,x,>50K\n30,x,<=50K\n");
    assertThat(read(source(format("csv", List.of(), income), income, RowSplit.ALL, fail(), file)))
        .containsExactly(row("1.0", "30.0", "x"), row("0.0", "30.0", "x"));
  }

  @Test
  void a_served_line_is_the_row_of_a_file() {
    JsonLineFormat format = new JsonLineFormat(TRANSFORM, LABEL);
    SlotBatch batch = SlotBatch.allocate(format.layout(), 1);
    byte[] text = "  {\"age\": 30, \"job\": \"x\"}".getBytes(StandardCharsets.UTF_8);
    assertThat(format.parse(new Line("request", 1, text, 2, text.length), batch, 0, fail())).isTrue();
    assertThat(batch.labels()[0] + " " + batch.dense()[0] + " " + batch.dense()[1] + " " + batch.ids()[0])
        .isEqualTo(row("NaN", "30.0", "x"));
  }

  private Path[] twoFiles(String format) throws IOException {
    Path[] files = new Path[2];
    for (int f = 0; f < 2; f++) {
      StringBuilder text = new StringBuilder(format.equals("csv") ? "click,age,job\n" : "");
      for (int i = 0; i < 500; i++) {
        int age = f * 500 + i;
        text.append(format.equals("csv") ? "1," + age + ",\"x\ny\"\n" : "{\"click\": 1, \"age\": " + age + "}\n");
      }
      files[f] = file(f + "." + format, text.toString());
    }
    return files;
  }

  private static List<Integer> ages(List<String> rows) {
    return rows.stream().map(text -> (int) Float.parseFloat(text.split(" ")[1])).toList();
  }

  private static RowSplit byHash(Part part) {
    return new RowParts(new TestPart(0.3, By.HASH), TestPart.NONE).split(Boundaries.NONE, part);
  }

  private static RowSplit byPosition(RowFormat.Place first, Part part) {
    return new RowParts(new TestPart(0.4, By.POSITION), TestPart.NONE)
        .split(new Boundaries(Optional.empty(), Optional.ofNullable(first)), part);
  }

  /** Each row is in one part, whichever way the parts of validation and test rows are chosen. */
  @ParameterizedTest
  @CsvSource({"HASH, HASH, 700, 100, 200", "POSITION, POSITION, 700, 100, 200", "HASH, POSITION, 700, 100, 200", "POSITION, HASH, 720, 80, 200"})
  void when_rows_validate_and_test_then_each_row_is_in_one_part(By ofTest, By ofValidation, int train, int validate, int tested)
      throws IOException {
    Path[] files = twoFiles("json");
    RowFormat<?> format = format("json", List.of(), LABEL);
    RowParts parts = new RowParts(new TestPart(0.2, ofTest), new TestPart(0.1, ofValidation));
    Boundaries boundaries = new Boundaries(place(ofTest == By.POSITION ? 701 : 901), place(801));
    List<List<Integer>> ages = new ArrayList<>();
    for (Part part : Part.values()) {
      ages.add(ages(read(source(format, LABEL, parts.split(boundaries, part), fail(), files))));
    }
    assertThat(ages.stream().flatMap(List::stream).sorted().toList())
        .isEqualTo(ages(read(source(format, LABEL, RowSplit.ALL, fail(), files))).stream().sorted().toList());
    assertThat(ages.get(0)).hasSizeBetween(train - 60, train + 60);
    assertThat(ages.get(1)).hasSizeBetween(validate - 40, validate + 40);
    assertThat(ages.get(2)).hasSizeBetween(tested - 40, tested + 40);
  }

  /** Returns the place of a row, counted from 1 over both files. */
  private static Optional<RowFormat.Place> place(int row) {
    return Optional.of(new RowFormat.Place("1.json", row > 500 ? 1 : 0, row > 500 ? row - 500 : row));
  }

  @ParameterizedTest
  @ValueSource(strings = {"csv", "json"})
  void the_parts_of_a_split_are_all_rows_once(String name) throws IOException {
    Path[] files = twoFiles(name);
    RowFormat<?> format = format(name, List.of(), LABEL);
    List<Integer> all = ages(read(source(format, LABEL, RowSplit.ALL, fail(), files)));
    assertThat(all).hasSize(1000);
    List<Integer> training = ages(read(source(format, LABEL, byHash(Part.TRAIN), fail(), files)));
    List<Integer> test = ages(read(source(format, LABEL, byHash(Part.TEST), fail(), files)));
    assertThat(test).hasSizeBetween(250, 350).isSorted().doesNotContainAnyElementsOf(training);
    assertThat(training).hasSize(1000 - test.size()).isSorted();
    long line = name.equals("csv") ? 2 + 2 * 100 : 101;
    RowFormat.Place boundary = new RowFormat.Place("1." + name, 1, line);
    assertThat(ages(read(source(format, LABEL, byPosition(boundary, Part.TRAIN), fail(), files)))).isEqualTo(all.subList(0, 600));
    assertThat(ages(read(source(format, LABEL, byPosition(boundary, Part.TEST), fail(), files)))).isEqualTo(all.subList(600, 1000));
    assertThat(read(source(format, LABEL, byPosition(null, Part.TEST), fail(), files))).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"csv", "json"})
  void reading_resumes_in_a_part(String name) throws IOException {
    resumes(source(format(name, List.of(), LABEL), LABEL, byHash(Part.TRAIN), fail(), twoFiles(name)));
  }

  private static <R> void resumes(FeatureSource<R> source) {
    List<Integer> all = ages(read(source));
    for (int taken : new int[] {1, 100, all.size() - 3}) {
      DataCursor place;
      try (SlotSource.Cursor<R> cursor = source.open()) {
        for (int i = 0; i < taken; i++) {
          cursor.next();
        }
        place = cursor.place();
      }
      List<Integer> rest = new ArrayList<>();
      try (SlotSource.Cursor<R> cursor = source.open(place)) {
        for (R row = cursor.next(); row != null; row = cursor.next()) {
          SlotBatch batch = SlotBatch.allocate(source.layout(), 1);
          source.parse(row, batch, 0);
          rest.add((int) batch.dense()[0]);
        }
      }
      assertThat(rest).isEqualTo(all.subList(taken, all.size()));
    }
  }

  /** Oracle: lz4-java's implementation of the same hash. */
  @Test
  void xxh64_equals_another_implementation() {
    XXHash64 oracle = XXHashFactory.safeInstance().hash64();
    Random random = new Random(1);
    byte[] bytes = new byte[120];
    for (int i = 0; i < 100_000; i++) {
      random.nextBytes(bytes);
      int from = random.nextInt(20);
      int length = random.nextInt(101);
      long seed = random.nextLong();
      assertThat(XxHash64.of(bytes, from, from + length, seed)).isEqualTo(oracle.hash(bytes, from, length, seed));
    }
  }
}
