package io.regatta.trainer.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.trainer.Progress;
import io.regatta.trainer.data.BadLines;
import io.regatta.trainer.data.CriteoGenerator;
import io.regatta.trainer.prepare.Preparation;
import io.regatta.trainer.prepare.Preparations;
import io.regatta.trainer.result.RunResult;
import io.regatta.trainer.run.LocalRun;
import io.regatta.trainer.serve.Predictor;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.IntStream;
import java.util.stream.Stream;
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
      logistic-regression | data.pipe_command=sort | data.format is multislot (as what a data.pipe_command writes is taken to be), but logistic-regression reads libsvm
      wide-and-deep | data.format=libsvm | data.format is libsvm, but wide-and-deep reads criteo, multislot, slots; set data.format: criteo
      ctr-dnn | data.format=slots | name the files in data.files and data.test_files
      word2vec | data.pipe_command=sort | data.pipe_command is set, but word2vec reads its files as they are; take it out
      fit-a-line | data.format=slots | data.format is set, but fit-a-line
      census | data.shard_by=file | data.shard_by is set, but census has one file, of which every worker reads all; take it out
      fit-a-line | data.shard_by=file data.reading=in_memory data.global_shuffle=true | data.shard_by, with data.reading and data.global_shuffle is set, but fit-a-line
      """)
  void keysThatWouldDoNothingStopTheStart(String config, String keys, String told) {
    assertThatThrownBy(() -> run(config, Stream.concat(Stream.of("data.shuffle_buffer=0"), Stream.of(keys.split(" ")))
        .toArray(String[]::new))).isInstanceOf(InvalidInput.class).hasMessageContaining(told);
  }
}
