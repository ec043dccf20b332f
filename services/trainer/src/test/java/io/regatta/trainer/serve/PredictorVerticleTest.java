package io.regatta.trainer.serve;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.process.Blocking;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
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
        .hasMessageContaining("is a snapshot, which has no word of the program");
  }

  @Test
  void it_starts_with_the_last_good_snapshot_and_ends_while_one_is_being_read() throws Exception {
    Path follow = Files.createDirectories(dir.resolve("follow"));
    ServedJob.publish(dir.resolve("snapshots/step-000000004"), follow);
    ServedJob.damage(ServedJob.publish(dir.resolve("snapshots/step-000000008"), follow));
    Vertx vertx = Vertx.vertx();
    Node node = Blocking.get(Node.embedded(vertx, null, NodeConfig.defaults(), "application"));
    PredictorVerticle service = new PredictorVerticle(node,
        new PredictorConfig(dir.resolve("model").toString(), follow.toString(), 10, 0, 1 << 20), null);
    String id = Blocking.get(vertx.deployVerticle(service));
    assertThat(node.metrics().get("regatta.predictor.step").gauge().value()).isEqualTo(4);

    Path pipe = Files.createDirectories(follow.resolve("step-000000012")).resolve("manifest.json");
    assertThat(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor()).isZero();
    try (OutputStream reader = Files.newOutputStream(pipe)) { // returns when it is being read, which does not end
      Blocking.get(vertx.undeploy(id));
    }
    Blocking.get(node.close());
    Blocking.get(vertx.close());
  }
}
