package io.regatta.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.progress.Progress;
import io.regatta.data.file.DataFiles;
import io.regatta.data.prepare.Preparation;
import io.regatta.data.prepare.Preparations;
import io.regatta.training.result.RunResult;
import io.regatta.training.run.LocalRun;
import io.regatta.training.testing.Jobs;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Files of S3, through the library that docs/data.md names, from a server of the test's own: they train what files of a disk train. */
class S3FilesTest {

  /** Settings of the library and of the client below it; a server on this machine checks no key. */
  private static final Map<String, String> ACCESS = Map.of("s3.spi.endpoint-protocol", "http", "s3.spi.force-path-style", "true",
      "aws.region", "us-east-1", "aws.accessKeyId", "test", "aws.secretAccessKey", "test");

  @TempDir
  Path dir;

  @BeforeAll
  static void access() {
    ACCESS.forEach(System::setProperty);
  }

  @AfterAll
  static void noAccess() {
    ACCESS.keySet().forEach(System::clearProperty);
  }

  private static RunResult train(String directory) throws Exception {
    return LocalRun.run(Jobs.job("logistic-regression", "data.dir=" + directory, "data.files=train,more.gz", "data.test_files=test",
        "output=", "mode=sync", "epochs=1", "batch_size=50"), null, Progress.none());
  }

  @Test
  void filesOfS3TrainWhatFilesOfADiskTrain() throws Exception {
    String lines = String.join("", IntStream.range(0, 400).mapToObj(i -> "+-".charAt(i % 2) + "1 1:0.5 " + (2 + i % 7) + ":1\n")
        .toList());
    Path data = Files.createDirectories(dir.resolve("data"));
    Files.writeString(data.resolve("train-00000"), lines.substring(0, lines.indexOf('\n', 2000) + 1)); // parts, found by listing
    Files.writeString(data.resolve("train-00001"), lines.substring(lines.indexOf('\n', 2000) + 1));
    Files.writeString(data.resolve("test"), lines);
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(data.resolve("more.gz")))) {
      out.write(lines.getBytes());
    }
    try (S3Bucket bucket = new S3Bucket("bucket", data)) {
      RunResult disk = train(data.toString());
      assertThat(train(bucket.uri("")).parametersHash()).isEqualTo(disk.parametersHash());
      assertThat(bucket.ranges()).isPositive();

      Preparation.Output output = new Preparation.Output(dir.resolve("parts"), "t", 3, 2);
      try (Preparation split = Preparations.split(List.of(DataFiles.path(bucket.uri("test")), DataFiles.path(bucket.uri("more.gz"))),
          output)) {
        split.run(Progress.none());
      }
      StringBuilder parts = new StringBuilder();
      for (int part = 0; part < 3; part++) {
        parts.append(Files.readString(dir.resolve("parts/t-0000" + part)));
      }
      assertThat(parts.toString()).isEqualTo(lines + lines);

      assertThatThrownBy(() -> DataFiles.readable(DataFiles.path(bucket.uri("none")))).isInstanceOf(InvalidInput.class)
          .hasMessageContaining("/bucket/data/none does not exist");
      for (String prefix : new String[] {bucket.uri("none"), bucket.uri("none/")}) {
        assertThatThrownBy(() -> DataFiles.withPrefix(DataFiles.path(prefix), "train")).isInstanceOf(InvalidInput.class)
            .hasMessageContaining("/bucket/data/none");
        assertThatThrownBy(() -> train(prefix)).isInstanceOf(InvalidInput.class).hasMessageContaining("/bucket/data/none");
      }
    }
  }
}
