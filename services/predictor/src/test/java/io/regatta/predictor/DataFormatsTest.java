package io.regatta.predictor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import blue.strategic.parquet.ParquetWriter;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.progress.Progress;
import io.regatta.data.BadLines;
import io.regatta.data.LoaderOptions;
import io.regatta.data.SlotLoader;
import io.regatta.data.generate.CriteoGenerator;
import io.regatta.data.generate.GeneratedCriteo;
import io.regatta.data.prepare.Preparation;
import io.regatta.data.prepare.Preparations;
import io.regatta.training.config.DataConfig.Format;
import io.regatta.training.result.RunResult;
import io.regatta.training.run.LocalRun;
import io.regatta.training.testing.Jobs;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Types;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** {@code data.format}: the same examples however they are written, and keys that a program would not look at. */
class DataFormatsTest {

  private static final long ID_SPACE = 1L << 40;

  @TempDir
  Path dir;

  private RunResult run(String config, String... keys) throws Exception {
    String[] all = Stream.concat(Stream.of("data.dir=" + dir.resolve("data"), "output=", "mode=sync", "epochs=1",
        "batch_size=100", "data.drop_last=false"), Stream.of(keys)).toArray(String[]::new);
    return LocalRun.run(Jobs.job(config, all), null, Progress.none());
  }

  private RunResult ctrDnn(String model, String... keys) throws Exception {
    return run("ctr-dnn", Stream.concat(Stream.of("settings.hidden=8,4", "settings.id_space=" + ID_SPACE, "overlap=false",
        "output=" + dir.resolve(model)), Stream.of(keys)).toArray(String[]::new));
  }

  private void prepare(String file, Preparations.Format format) {
    Preparation.Output output = new Preparation.Output(dir.resolve("data"), file + "." + format, 3, 1);
    try (Preparation preparation = Preparations.criteo(List.of(dir.resolve("data").resolve(file)), output, ID_SPACE, format,
        new BadLines(BadLines.Policy.FAIL))) {
      preparation.run(Progress.none());
    }
  }

  private float[] scores(String model, List<String> lines) throws Exception {
    try (Predictor predictor = Predictor.load(dir.resolve(model))) {
      return predictor.predict(lines).get().scores();
    }
  }

  /** As {@code regatta predict} does it. */
  private float[] scoresOf(Path file, String model, Format format) throws Exception {
    try (Predictor predictor = Predictor.load(dir.resolve(model), null, format);
        SlotLoader loader = SlotLoader.open(predictor.examples(List.of(file)), LoaderOptions.inOrder(1000), 0)) {
      return predictor.predict(loader.next()).get().scores();
    }
  }

  @Test
  void trainingDataWithoutAnExampleAreRefused() throws Exception {
    Path data = Files.createDirectories(dir.resolve("data"));
    Files.writeString(data.resolve("empty"), "# nothing but a comment\n\n");
    Files.writeString(data.resolve("test"), "1 1:1\n-1 2:1\n");
    assertThatThrownBy(() -> run("logistic-regression", "data.files=empty", "data.test_files=test", "output=" + dir.resolve("none")))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("contain no examples (data.files: [empty])");
    assertThat(dir.resolve("none")).doesNotExist();
  }

  @Test
  void whatIsPreparedTrainsAndServesAsTheOriginal() throws Exception {
    Path data = dir.resolve("data");
    String train = CriteoGenerator.ensure(data, new CriteoGenerator.Size(3, 2000, 400, 1)).train(data).get(0)
        .getFileName().toString();
    RunResult original = ctrDnn("criteo", "data.files=" + train);
    float[] scores = scores("criteo", Files.readAllLines(dir.resolve("data/test.tsv")));
    for (Preparations.Format format : Preparations.Format.values()) {
      prepare(train, format);
      prepare("test.tsv", format);
      RunResult prepared = ctrDnn(format.name(), "data.files=" + train + "." + format, "data.test_files=test.tsv." + format,
          "data.format=" + format.name().toLowerCase(Locale.ROOT));

      assertThat(prepared.parametersHash()).isEqualTo(original.parametersHash());
      assertThat(prepared.auc()).isEqualTo(original.auc());
      List<String> lines = Files.readAllLines(dir.resolve("data/test.tsv." + format + "-00000"));
      assertThat(scores(format.name(), lines)).containsExactly(Arrays.copyOf(scores, lines.size()), within(0f));
    }
  }

  /** Files in the data directory that the job does not name. */
  @Test
  void packedFilesAreFoundUnderTheProgramsOwnNamesAndMissingOnesNamed() throws Exception {
    Path data = dir.resolve("data");
    Path train = CriteoGenerator.ensure(data, new CriteoGenerator.Size(3, 1000, 200, 1)).train(data).get(0);
    RunResult original = ctrDnn("criteo", "seed=3", "settings.train_rows=1000", "settings.test_rows=200", "settings.train_files=1");
    Files.delete(data.resolve(GeneratedCriteo.NAME));
    pack(train);
    pack(data.resolve("test.tsv"));
    RunResult both = ctrDnn("both", "seed=3");
    Files.delete(train);
    Files.delete(data.resolve("test.tsv"));
    RunResult packed = ctrDnn("packed", "seed=3");
    assertThat(both.parametersHash()).as("once").isEqualTo(original.parametersHash());
    assertThat(packed.parametersHash()).isEqualTo(original.parametersHash());
    assertThat(packed.auc()).isEqualTo(original.auc());
    Files.move(data.resolve("test.tsv.gz"), data.resolve("held-out.gz"));
    assertThat(ctrDnn("named", "seed=3", "data.test_files=held-out").auc()).as("training files need not be named").isEqualTo(original.auc());
    assertThatThrownBy(() -> ctrDnn("none")).isInstanceOf(InvalidInput.class).hasMessageContainingAll(
        data.resolve("test.tsv") + " does not exist", "compressed (.gz) or not", "data.test_files");
    Files.move(data.resolve("held-out.gz"), data.resolve("test.tsv.gz"));
    Files.move(data.resolve(train.getFileName() + ".gz"), data.resolve("day-0.gz"));
    assertThatThrownBy(() -> ctrDnn("none")).isInstanceOf(InvalidInput.class).hasMessageContainingAll("no file train* in " + data,
        "data.files");
  }

  private static void pack(Path file) throws IOException {
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(file.resolveSibling(file.getFileName() + ".gz")))) {
      Files.copy(file, out);
    }
  }

  /** The columns of a Criteo file in files that name them, in another order and with one more. */
  @Test
  void namedColumnsTrainAndServeAsTheOriginal() throws Exception {
    Path data = dir.resolve("data");
    Path train = CriteoGenerator.ensure(data, new CriteoGenerator.Size(3, 1000, 200, 1)).train(data).get(0);
    RunResult original = ctrDnn("criteo", "data.files=" + train.getFileName());
    for (Path file : List.of(train, data.resolve("test.tsv"))) {
      csv(file, Files.newOutputStream(file.resolveSibling(file.getFileName() + ".csv")), "");
      csv(file, new GZIPOutputStream(Files.newOutputStream(file.resolveSibling(file.getFileName() + ".csv.gz"))), "");
      csv(file, Files.newOutputStream(file.resolveSibling(file.getFileName() + ".short")), "C7");
      parquet(file, file.resolveSibling(file.getFileName() + ".parquet"));
    }
    for (String kind : List.of("csv", "csv.gz", "parquet")) {
      RunResult named = ctrDnn(kind, "data.files=" + train.getFileName() + "." + kind, "data.test_files=test.tsv." + kind,
          "data.format=" + kind.replace(".gz", ""));
      assertThat(named.parametersHash()).as(kind).isEqualTo(original.parametersHash());
      assertThat(named.auc()).as(kind).isEqualTo(original.auc());
    }
    List<String> lines = Files.readAllLines(data.resolve("test.tsv"));
    float[] scores = scores("criteo", lines);
    assertThat(scores("csv", lines)).containsExactly(scores, within(0f));
    for (String kind : List.of("csv", "csv.gz", "parquet")) {
      assertThat(scoresOf(data.resolve("test.tsv." + kind), kind, null)).as(kind).containsExactly(scores, within(0f));
    }
    assertThat(scoresOf(data.resolve("test.tsv"), "parquet", Format.CRITEO)).containsExactly(scores, within(0f));
    assertThatThrownBy(() -> scoresOf(data.resolve("test.tsv"), "csv", Format.LIBSVM)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("reads criteo, multislot, slots, csv, parquet");
    assertThatThrownBy(() -> scoresOf(data.resolve("test.tsv"), "csv", Format.SLOTS)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("check that --format names their format");
    assertThatThrownBy(() -> ctrDnn("short", "data.files=" + train.getFileName() + ".short", "data.test_files=test.tsv.csv",
        "data.format=csv")).isInstanceOf(InvalidInput.class).hasMessageContaining(".short, line 1: expected a column named C7");
    assertThatThrownBy(() -> ctrDnn("piped", "data.format=csv", "data.pipe_command=sort"))
        .hasStackTraceContaining("pipe_command writes lines, but format: csv names columns in the file itself");
  }

  /** In Criteo text and in CSV an empty value is hashed, but does not count as a value. */
  @Test
  void coverageIsTheShareOfExamplesWithAValueInTheSlot() throws Exception {
    Path data = dir.resolve("data");
    Path train = CriteoGenerator.ensure(data, new CriteoGenerator.Size(3, 300, 100, 1)).train(data).get(0);
    List<String[]> rows = new ArrayList<>();
    for (String line : Files.readAllLines(train)) {
      String[] fields = line.split("\t", -1);
      fields[14] = rows.size() % 2 == 0 ? "" : fields[14] + "x";
      rows.add(fields);
    }
    Path file = Files.write(data.resolve("holes.tsv"), rows.stream().map(row -> String.join("\t", row)).toList());
    csv(file, Files.newOutputStream(data.resolve("holes.csv")), "");
    csv(data.resolve("test.tsv"), Files.newOutputStream(data.resolve("test.csv")), "");
    RunResult tsv = ctrDnn("tsv", "data.files=holes.tsv");
    Map<String, Double> expected = new TreeMap<>();
    for (int slot = 0; slot < 26; slot++) {
      int column = 14 + slot;
      double share = (double) rows.stream().filter(row -> !row[column].isEmpty()).count() / rows.size();
      if (share < 1) {
        expected.put("coverage_slot_" + slot, share);
      }
    }
    assertThat(expected.get("coverage_slot_0")).isEqualTo(0.5);
    assertThat(coverage(tsv)).isEqualTo(expected);
    assertThat(coverage(ctrDnn("csv", "data.files=holes.csv", "data.test_files=test.csv", "data.format=csv"))).isEqualTo(expected);
    assertThat(tsv.metrics().get("batch_auc")).as("of 3 batches").isEqualTo(tsv.metrics().get("train_auc"));
  }

  private static Map<String, Double> coverage(RunResult result) {
    Map<String, Double> coverage = new TreeMap<>(result.metrics());
    coverage.keySet().removeIf(name -> !name.startsWith("coverage_slot_"));
    return coverage;
  }

  private static List<String> columns() {
    return Stream.concat(Stream.concat(Stream.of("label"), IntStream.rangeClosed(1, 13).mapToObj(i -> "I" + i)),
        IntStream.rangeClosed(1, 26).mapToObj(i -> "C" + i)).toList();
  }

  /** Backwards, behind a column that nobody asks for. */
  private static void csv(Path tsv, OutputStream file, String without) throws IOException {
    List<String> names = columns();
    List<String> lines = Files.readAllLines(tsv);
    try (PrintStream out = new PrintStream(file)) {
      for (int row = -1; row < lines.size(); row++) {
        List<String> fields = row < 0 ? names : List.of(lines.get(row).split("\t", -1));
        StringBuilder line = new StringBuilder(row < 0 ? "number" : "\"" + row + ", say\"");
        for (int c = names.size() - 1; c >= 0; c--) {
          if (!names.get(c).equals(without)) {
            line.append(',').append(fields.get(c));
          }
        }
        out.println(line);
      }
    }
  }

  private static void parquet(Path tsv, Path file) throws IOException {
    List<String> names = columns();
    Types.GroupBuilder<MessageType> schema = Types.buildMessage();
    for (String name : names) {
      schema = name.startsWith("C") ? schema.optional(PrimitiveTypeName.BINARY).as(LogicalTypeAnnotation.stringType()).named(name)
          : schema.optional(PrimitiveTypeName.INT64).named(name);
    }
    try (ParquetWriter<String[]> writer = ParquetWriter.writeFile(schema.named("row"), file.toFile(), (row, out) -> {
      for (int c = 0; c < row.length; c++) {
        if (!row[c].isEmpty()) {
          out.write(names.get(c), names.get(c).startsWith("C") ? row[c] : (Object) Long.valueOf(row[c]));
        }
      }
    })) {
      for (String line : Files.readAllLines(tsv)) {
        writer.write(line.split("\t", -1));
      }
    }
  }

  @Test
  void aCommandMayWriteTheProgramsOwnFormat() throws Exception {
    Files.createDirectories(dir.resolve("data"));
    String lines = String.join("", IntStream.range(0, 300).mapToObj(i -> "+-".charAt(i % 2) + "1 1:0.5 " + (2 + i % 7) + ":1\n")
        .toList());
    Files.writeString(dir.resolve("data/a"), lines);
    Files.writeString(dir.resolve("data/b"), lines.replace(' ', ','));
    RunResult plain = run("logistic-regression", "data.files=a", "data.test_files=a");
    RunResult piped = run("logistic-regression", "data.files=b", "data.test_files=b", "data.pipe_command=tr , ' '",
        "data.format=libsvm");
    assertThat(piped.parametersHash()).isEqualTo(plain.parametersHash());
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      logistic-regression | data.pipe_command=sort | data.format is multislot (the default for the output of a data.pipe_command), but logistic-regression reads libsvm
      wide-and-deep | data.format=libsvm | data.format is libsvm, but wide-and-deep reads criteo, multislot, slots, csv, parquet; set data.format: criteo
      ctr-dnn | data.format=slots | name the files in data.files and data.test_files
      word2vec | data.pipe_command=sort | data.pipe_command is set, but word2vec reads its files without a format or command; remove it
      fit-a-line | data.format=slots | data.format is set, but fit-a-line
      census | data.shard_by=file | data.shard_by is set, but census has one file, which every worker reads completely; remove it
      fit-a-line | data.shard_by=file data.reading=in_memory data.global_shuffle=true | data.shard_by, with data.reading and data.global_shuffle is set, but fit-a-line
      """)
  void keysThatWouldDoNothingStopTheStart(String config, String keys, String told) {
    assertThatThrownBy(() -> run(config, Stream.concat(Stream.of("data.shuffle_buffer=0"), Stream.of(keys.split(" ")))
        .toArray(String[]::new))).isInstanceOf(InvalidInput.class).hasMessageContaining(told);
  }
}
