package io.regatta.program;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.progress.Progress;
import io.regatta.data.testing.DataSets;
import io.regatta.training.config.GpuAssignment;
import io.regatta.training.config.JobConfig;
import io.regatta.training.heter.run.LocalCompute;
import io.regatta.training.result.RunResult;
import io.regatta.training.run.LocalRun;
import io.regatta.training.session.LocalSession;
import io.regatta.training.testing.Jobs;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Every built-in program with a heter worker gives the bits that it gives without one. */
class CutProgramsTest {

  private static final String[] CRITEO = {"settings.train_rows=2000", "settings.test_rows=300", "settings.hidden=16,8",
      "epochs=1", "max_steps=10"};
  private static final String[] TEXT = {"settings.train_lines=300", "settings.test_lines=50", "settings.min_count=1",
      "epochs=1", "max_steps=10", "batch_size=32"};

  @TempDir
  Path dir;

  static Stream<Arguments> programs() {
    return Stream.of(
        Arguments.of("fit-a-line", "dense", new String[] {"epochs=1", "max_steps=10"}),
        Arguments.of("census", "dense", new String[] {"epochs=1", "max_steps=10"}),
        Arguments.of("wide-and-deep", "dense", CRITEO),
        Arguments.of("ctr-dnn", "dense", CRITEO),
        Arguments.of("deepfm", "dense", CRITEO),
        Arguments.of("word2vec", "dense", TEXT),
        Arguments.of("skip-gram", "loss", TEXT),
        Arguments.of("ctr-dnn", "loss", CRITEO),
        Arguments.of("logistic-regression", "loss", new String[] {"epochs=1", "max_steps=10"}),
        Arguments.of("lenet", "dense", new String[] {"trainers=1", "epochs=2", "max_steps=8", "batch_size=16",
            "settings.dropout=0.3",
            "settings.train_images=80", "settings.test_images=40"}),
        Arguments.of("resnet50", "dense", new String[] {"trainers=1", "epochs=1", "max_steps=2", "batch_size=2",
            "settings.image_size=32",
            "settings.classes=3", "settings.train_images=6", "settings.test_images=3"}));
  }

  private String[] overrides(String name, String part, int workers, String... more) throws Exception {
    List<String> all = new ArrayList<>(List.of(more));
    all.add("output=");
    all.add("heter.workers=" + workers);
    all.add("heter.part=" + part);
    all.add("heter.seed_batches=true");
    switch (name) {
      case "fit-a-line" -> all.add("data.dir=" + DataSets.directory("boston_housing"));
      case "census" -> all.add("data.dir=" + DataSets.directory("adult_census"));
      case "lenet", "resnet50" -> { }
      default -> all.add("data.dir=" + dir.resolve("data"));
    }
    return all.toArray(String[]::new);
  }

  @ParameterizedTest
  @MethodSource("programs")
  void givesTheSameBits_whenAHeterWorkerComputesItsPart(String name, String part, String[] more) throws Exception {
    RunResult whole = LocalRun.run(Jobs.job(name, overrides(name, part, 0, more)), null, Progress.none());
    JobConfig job = Jobs.job(name, overrides(name, part, 1, more));
    LocalCompute compute = new LocalCompute(job, null).start();
    RunResult cut;
    try (compute) {
      cut = LocalRun.run(new LocalSession(job, compute), null, Progress.none(), null, GpuAssignment.NONE);
    }
    compute.ended().join();

    assertThat(cut.parametersHash()).isNotEmpty().isEqualTo(whole.parametersHash());
    assertThat(cut.loss()).isEqualTo(whole.loss());
    assertThat(compute.sums().batches()).isEqualTo(cut.steps());
  }
}
