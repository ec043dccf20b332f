package io.regatta.predictor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.progress.Progress;
import io.regatta.data.testing.DataSets;
import io.regatta.training.result.RunResult;
import io.regatta.training.run.LocalRun;
import io.regatta.training.testing.Jobs;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The model of {@code configs/census.yaml} predicts the lines of its test file. */
class CensusScoresTest {

  @TempDir
  Path dir;

  @Test
  void itsScoresAreRightAsOftenAsTheRunSays() throws Exception {
    Path data = DataSets.directory("adult_census");
    RunResult result = LocalRun.run(Jobs.job("census", "data.dir=" + data, "batch_size=128", "epochs=1",
        "output=" + dir.resolve("census")), null, Progress.none());

    List<String> lines = Files.readAllLines(data.resolve("adult.test"));
    List<String> test = lines.stream().filter(line -> line.contains(",")).toList();
    try (Predictor predictor = Predictor.load(dir.resolve("census"))) {
      float[] scores = predictor.predict(lines).get().scores();
      assertThat(scores).as("the comment at the beginning of the file is no example").hasSameSizeAs(test);
      long right = IntStream.range(0, scores.length)
          .filter(i -> scores[i] > 0.5 == test.get(i).contains(">50K")).count();
      assertThat((double) right / scores.length).isCloseTo(result.accuracy(), within(1e-3));
    }
  }
}
