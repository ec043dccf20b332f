package io.regatta.training.feature;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.feature.FeatureField;
import io.regatta.data.BadLines;
import io.regatta.data.FileSource;
import io.regatta.data.Layout;
import io.regatta.data.Line;
import io.regatta.data.LineFormat;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotSource;
import io.regatta.data.feature.StatisticsFile;
import io.regatta.training.config.JobConfig;
import io.regatta.training.feature.DeclaredFeatures.Use;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.yaml.snakeyaml.Yaml;

class DeclaredFeaturesTest {

  private static final String FEATURES = """
      "C[1-2]": {"kind": "id"}, "C1xC2": {"kind": "cross", "of": ["C[1-2]"]},
      "x": {"kind": "number", "column": "price", "scale": "none"}, "b": {"kind": "bucket", "column": "price", "bounds": [1, 10]},
      "tags": {"kind": "ids", "max": 3, "pooling": "mean"}, "when": {"kind": "time", "format": "epoch_s", "parts": ["hour"]}""";

  @TempDir
  Path dir;

  private static JobConfig job(String features, String more) {
    return JobConfig.of(new JsonObject("{\"job\": \"j\", \"features\": {" + features + "}, \"labels\": {\"click\": {}}" + more + "}"));
  }

  private static Line line(String text) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    return new Line("request", 1, bytes, 0, bytes.length);
  }

  private static SlotBatch read(FileSource<?> source, int rows) {
    return readAll(source, rows);
  }

  private static <R> SlotBatch readAll(FileSource<R> source, int rows) {
    SlotBatch batch = SlotBatch.allocate(source.layout(), rows);
    int n = 0;
    try (SlotSource.Cursor<R> cursor = source.open()) {
      for (R row = cursor.next(); row != null; row = cursor.next()) {
        n += source.parse(row, batch, n) ? 1 : 0;
      }
    }
    return batch.first(n);
  }

  @Test
  void sectionsBecomeFieldsInTheOrderOfTheJob() {
    DeclaredFeatures features = DeclaredFeatures.of(job(FEATURES, ""));
    assertThat(features.transform().fields()).extracting(FeatureField::name)
        .containsExactly("C1", "C2", "C1xC2", "x", "b", "tags", "when.hour");
    assertThat(features.transform().columns()).containsExactly("C1", "C2", "price", "tags", "when");
    assertThat(features.layout().dense()).isEqualTo(2);
    assertThat(features.layout().widths()).containsExactly(1, 1, 1, 1, 3, 1);
    assertThat(features.layout().valued()).isTrue();
    assertThat(features.labels().columns()).containsExactly("click");
  }

  /** The same rows as a file of columns, and as lines of a request: the same floats and ids. */
  @Test
  void filesAndLinesGiveTheSameExamples() throws Exception {
    Path csv = Files.writeString(dir.resolve("a.csv"), """
        click,C1,C2,price,tags,when
        1,a,b,2.5,u|v,0
        0,,b,,,3600
        1,"a,b",c,100,u|v|w|x,86399
        """);
    DeclaredFeatures features = DeclaredFeatures.of(job(FEATURES, ""));
    SlotBatch file = read(features.source(List.of(csv), Use.TRAIN, new BadLines(BadLines.Policy.FAIL)), 3);
    assertThat(file.labels()).startsWith(1, 0, 1);
    assertThat(file.dense()).containsExactly(2.5f, 0, 0, 1, 100, 0);
    LineFormat lines = features.lines();
    SlotBatch requested = SlotBatch.allocate(lines.layout(), 3);
    List<String> objects = List.of("{\"C1\": \"a\", \"C2\": \"b\", \"price\": 2.5, \"tags\": [\"u\", \"v\"], \"when\": 0}",
        "{\"C2\": \"b\", \"when\": 3600, \"other\": [1]}",
        "{\"click\": 1, \"when\": 86399, \"tags\": \"u|v|w|x\", \"price\": 100, \"C2\": \"c\", \"C1\": \"a,b\"}");
    for (int i = 0; i < 3; i++) {
      assertThat(lines.parse(line(objects.get(i)), requested, i, new BadLines(BadLines.Policy.FAIL))).isTrue();
    }
    assertThat(requested.dense()).isEqualTo(file.dense());
    assertThat(requested.ids()).isEqualTo(file.ids());
    assertThat(requested.values()).isEqualTo(file.values());
    assertThat(requested.labels()).containsExactly(Float.NaN, Float.NaN, 1);
  }

  @Test
  void aSplitGivesEachRowToOnePart() throws Exception {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 500; i++) {
      text.append(i % 2).append(",v").append(i).append('\n');
    }
    Path file = Files.writeString(dir.resolve("a.csv"), text);
    DeclaredFeatures features = DeclaredFeatures.of(job("\"c\": {\"kind\": \"id\"}",
        ", \"data\": {\"format\": \"csv\", \"columns\": [\"click\", \"c\"], \"test\": {\"share\": 0.2, \"by\": \"hash\"}}"));
    List<Long> ids = new ArrayList<>();
    for (Use use : List.of(Use.TRAIN, Use.TEST)) {
      SlotBatch rows = read(features.source(List.of(file), use, new BadLines(BadLines.Policy.FAIL)), 500);
      assertThat(rows.rows()).isBetween(use == Use.TRAIN ? 350 : 60, use == Use.TRAIN ? 440 : 150);
      for (int i = 0; i < rows.rows(); i++) {
        ids.add(rows.ids()[i]);
      }
    }
    assertThat(ids).hasSize(500).doesNotHaveDuplicates();
    assertThat(read(features.source(List.of(file), Use.PREDICT, new BadLines(BadLines.Policy.FAIL)), 500).rows()).isEqualTo(500);
  }

  /** The last 2 of 10 rows in two files; a worker may read the second file alone. */
  @Test
  void aSplitByPositionHoldsForSomeOfTheFiles_andOnlyAsLongAsTheyAreTheSame() throws Exception {
    List<Path> files = new ArrayList<>();
    for (String name : List.of("a.csv", "b.csv")) {
      files.add(Files.writeString(dir.resolve(name), "click,c\n" + ("1," + name + "\n").repeat(5)));
    }
    JobConfig job = job("\"c\": {\"kind\": \"id\"}", ", \"data\": {\"dir\": \"" + dir + "\", \"test\": {\"share\": 0.2}}");
    StatisticsFile.write(Files.createDirectories(job.statisticsDirectory()),
        DeclaredFeatures.analyze(job, files, 1, 10, new BadLines(BadLines.Policy.FAIL), (bytes, all) -> { }));
    DeclaredFeatures features = DeclaredFeatures.of(job);
    BadLines fail = new BadLines(BadLines.Policy.FAIL);
    assertThat(read(features.source(files, Use.TRAIN, fail), 10).rows()).isEqualTo(8);
    assertThat(read(features.source(files.subList(0, 1), Use.TRAIN, fail), 10).rows()).isEqualTo(5);
    assertThat(read(features.source(files.subList(1, 2), Use.TRAIN, fail), 10).rows()).isEqualTo(3);
    assertThat(read(features.source(files.subList(1, 2), Use.TEST, fail), 10).rows()).isEqualTo(2);
    assertThat(features.statisticsFiles()).isEmpty();
    Files.writeString(files.get(1), "click,c\n1,x\n");
    assertThatThrownBy(() -> features.source(files, Use.TRAIN, fail)).isInstanceOf(InvalidInput.class)
        .hasMessageContainingAll("b.csv has 12 bytes, but 48 when", "run ./regatta analyze --overwrite");
    Path other = Files.writeString(dir.resolve("c.csv"), "click,c\n1,x\n");
    assertThatThrownBy(() -> features.source(List.of(other), Use.TRAIN, fail)).hasMessageContaining("c.csv was not there");
  }

  @Test
  void predictsFilesWithoutTheLabel() throws Exception {
    Path file = Files.writeString(dir.resolve("a.csv"), "c\nx\n");
    DeclaredFeatures features = DeclaredFeatures.of(job("\"c\": {\"kind\": \"id\"}", ""));
    SlotBatch rows = read(features.source(List.of(file), Use.PREDICT, new BadLines(BadLines.Policy.FAIL)), 1);
    assertThat(rows.labels()[0]).isNaN();
    assertThat(rows.layout()).isEqualTo(new Layout(0, List.of(1), false, rows.layout().emptyIds()));
    assertThatThrownBy(() -> read(features.source(List.of(file), Use.TRAIN, new BadLines(BadLines.Policy.FAIL)), 1))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("click");
  }

  @Test
  void theExampleOfThePageIsAJob() throws Exception {
    String page = Files.readString(Path.of(System.getProperty("regatta.root", "../../.."), "docs", "data.md"));
    String example = page.substring(page.indexOf("### Any table")).split("```yaml\n|```")[1];
    Map<String, Object> values = new Yaml().load(example);
    JobConfig job = JobConfig.of(new JsonObject(new JsonObject(values).encode()));
    assertThat(DeclaredFeatures.of(job).transform().fields()).extracting(FeatureField::name)
        .containsExactly("color", "tags", "price", "amount", "colorXprice");
    assertThat(job.program()).isEqualTo("io.regatta.program.TabularProgram");
  }

  @ParameterizedTest
  @CsvSource(delimiter = ';', quoteCharacter = '`', value = {
      "\"n\": {\"kind\": \"number\"}; ; statistics-j",
      "\"c\": {\"kind\": \"id\", \"min_count\": 2}; ; statistics of the training rows are missing",
      "\"c\": {\"kind\": \"id\"}; , \"data\": {\"test\": {\"share\": 0.2}}; run ./regatta analyze with the job file first",
      "\"c\": {\"kind\": \"id\"}; , \"data\": {\"statistics\": \"s\"}; data.statistics has no effect",
      "\"click\": {\"kind\": \"id\"}; ; the feature click reads the column click of the label",
      "\"c[1-2]\": {\"kind\": \"id\", \"column\": \"d\"}; ; stands for 2 features, but column d for 1 column",
      "\"c\": {\"kind\": \"cross\", \"of\": [\"a\", \"b\"]}; ; crosses a",
      "\"t\": {\"kind\": \"time\", \"zone\": \"Mars\"}; ; zone Mars",
      "\"t\": {\"kind\": \"time\", \"format\": \"yyyy-'\"}; ; yyyy-'"})
  void namesWhatIsWrong(String features, String more, String message) {
    assertThatThrownBy(() -> DeclaredFeatures.of(job(features, more == null ? "" : more))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining(message);
  }
}
