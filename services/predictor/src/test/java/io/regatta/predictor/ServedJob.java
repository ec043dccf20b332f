package io.regatta.predictor;

import io.regatta.core.progress.Progress;
import io.regatta.program.CtrDnn;
import io.regatta.training.config.JobConfig;
import io.regatta.training.run.LocalRun;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** A small CTR-DNN that is trained within the test, and its test data. */
final class ServedJob {

  private ServedJob() {}

  /** Trains in steps of 50 of 1000 examples and saves to {@code dir/output}. */
  static void train(Path dir, String output, long steps, JsonObject snapshots) {
    LocalRun.run(JobConfig.of(new JsonObject().put("job", "served").put("program", CtrDnn.class.getName()).put("mode", "sync")
        .put("output", dir.resolve(output).toString()).put("compute_threads", 1).put("batch_size", 50).put("max_steps", steps)
        .put("epochs", 2).put("data", new JsonObject().put("dir", dir.resolve("data").toString()))
        .put("optimizer", new JsonObject().put("kind", "adagrad").put("learning_rate", 0.05)).put("snapshots", snapshots)
        .put("settings", new JsonObject().put("hidden", new JsonArray().add(4)).put("id_space", 1001).put("embedding", 4)
            .put("train_rows", 1000).put("test_rows", 100).put("train_files", 1))), null, Progress.none());
  }

  static List<String> lines(Path dir) throws IOException {
    return Files.readAllLines(dir.resolve("data/test.tsv"));
  }

  /** Publishes a snapshot as writers do into a directory that is followed: whole, by its name. */
  static Path publish(Path snapshot, Path follow) throws IOException {
    Path part = Files.createDirectories(follow.resolve(snapshot.getFileName() + ".part"));
    try (Stream<Path> files = Files.list(snapshot)) {
      for (Path file : files.toList()) {
        Files.copy(file, part.resolve(file.getFileName()));
      }
    }
    return Files.move(part, follow.resolve(snapshot.getFileName()));
  }

  /** Flips a bit of the last value in the snapshot's file. */
  static Path damage(Path snapshot) throws IOException {
    Path file = snapshot.resolve("shard-00000-of-00001.safetensors");
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length - 1] ^= 1;
    Files.write(file, bytes);
    return file;
  }
}
