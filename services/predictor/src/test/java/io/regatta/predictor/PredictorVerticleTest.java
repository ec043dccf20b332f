package io.regatta.predictor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.process.Blocking;
import io.regatta.snapshot.ManifestFile;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** How a service begins and ends whose snapshots cannot be read. */
@Timeout(value = 1, unit = TimeUnit.MINUTES)
class PredictorVerticleTest {

  @TempDir
  static Path dir;

  @BeforeAll
  static void train() {
    ServedJob.train(dir, "model", 2, new JsonObject());
    ServedJob.train(dir, "snapshots", 8, new JsonObject().put("every_steps", 4));
  }

  /** Asked before a node starts. */
  @Test
  void what_is_no_model_is_known_without_reading_it() {
    Predictor.check(dir.resolve("model"));
    assertThatThrownBy(() -> Predictor.check(dir.resolve("none"))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining(dir.resolve("none") + " does not exist");
    assertThatThrownBy(() -> Predictor.check(dir.resolve("snapshots/step-000000004"))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("is a snapshot, which does not name its program");
  }

  @Test
  void it_starts_with_the_last_good_snapshot_and_ends_while_one_is_being_read() throws Exception {
    Path follow = Files.createDirectories(dir.resolve("follow"));
    ServedJob.publish(dir.resolve("snapshots/step-000000004"), follow);
    ServedJob.damage(ServedJob.publish(dir.resolve("snapshots/step-000000008"), follow));
    Vertx vertx = Vertx.vertx();
    Node node = Blocking.get(Node.embedded(vertx, null, NodeConfig.defaults(), "application"));
    PredictorVerticle service = new PredictorVerticle(node,
        PredictorConfig.of(dir.resolve("model").toString(), follow.toString(), 10, 1 << 20), null);
    String id = Blocking.get(vertx.deployVerticle(service));
    assertThat(node.metrics().get("regatta.predictor.step").gauge().value()).isEqualTo(4);

    Path endless = endless(dir.resolve("snapshots/step-000000008"), follow);
    while (!isOpen(endless)) {
      Thread.onSpinWait();
    }
    Blocking.get(vertx.undeploy(id));
    Blocking.get(node.close());
    Blocking.get(vertx.close());
  }

  /** A snapshot with a file of holes, which takes half an hour to compare; returns that file. */
  private static Path endless(Path snapshot, Path follow) throws IOException {
    Path next = Files.move(ServedJob.publish(snapshot, dir.resolve("next")), dir.resolve("next/step-000000012"));
    long bytes = 1L << 39;
    try (RandomAccessFile holes = new RandomAccessFile(next.resolve("holes").toFile(), "rw")) {
      holes.setLength(bytes);
    }
    JsonObject manifest = ManifestFile.read(next);
    ManifestFile.write(next.resolve(ManifestFile.NAME), manifest.put("trainers_files", new JsonArray().add(
        new JsonObject().put("file", "holes").put("bytes", bytes).put("sha256", "0".repeat(64)))));
    return Files.move(next, follow.resolve(next.getFileName())).resolve("holes");
  }

  private static boolean isOpen(Path file) throws IOException {
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"))) {
      return descriptors.anyMatch(descriptor -> {
        try {
          return Files.readSymbolicLink(descriptor).equals(file);
        } catch (IOException closed) {
          return false;
        }
      });
    }
  }
}
