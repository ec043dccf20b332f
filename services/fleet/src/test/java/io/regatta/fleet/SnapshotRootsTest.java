package io.regatta.fleet;

import static io.regatta.node.testing.EmbeddedNode.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.Model;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.core.Linear;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.progress.Progress;
import io.regatta.node.Node;
import io.regatta.node.testing.EmbeddedNode;
import io.regatta.parameterserver.ParameterServerConfig;
import io.regatta.parameterserver.ParameterServerVerticle;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousVerticle;
import io.regatta.snapshot.SnapshotKind;
import io.regatta.snapshot.Snapshots;
import io.regatta.trainer.TrainerVerticle;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.TrainerConfig;
import io.regatta.training.rank.FleetTrainer;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Jobs whose directories a server does not write to, or read from. */
class SnapshotRootsTest {

  @RegisterExtension
  final EmbeddedNode embedded = new EmbeddedNode();

  @TempDir
  Path dir;

  private JobConfig job(JsonObject directories) {
    return JobConfig.of(new JsonObject().put("job", "rooted").put("mode", "async").put("servers", 1).put("trainers", 1)
        .put("batch_size", ExampleTally.BATCH).put("min_block", 4)
        .put("optimizer", new JsonObject().put("kind", "sgd").put("learning_rate", 1)).mergeIn(directories));
  }

  private void train(ParameterServerConfig server, JobConfig job, AtomicBoolean began) throws Exception {
    ExampleTally.Life life = new ExampleTally.Life(List.of(ExampleTally.NEVER), Path.of(""), 0, Map.of());
    ExampleTally tally = new ExampleTally(life, 1);
    train(server, job, worker -> {
      began.set(true);
      tally.run(worker);
    });
  }

  private void train(ParameterServerConfig server, JobConfig job, TrainingProgram program) throws Exception {
    Vertx vertx = embedded.vertx();
    Node node = embedded.node();
    get(vertx.deployVerticle(new RendezvousVerticle(node, RendezvousConfig.defaults())));
    get(vertx.deployVerticle(new ParameterServerVerticle(node, server)));
    TrainerVerticle trainer = new TrainerVerticle(node, new TrainerConfig(job, 0, ""), program, Progress.none());
    get(vertx.deployVerticle(trainer));
    get(trainer.finished());
  }

  @ParameterizedTest
  @CsvSource({"snapshots.dir, write its snapshots", "output, write its snapshots",
      "init_from, read the snapshot to start from"})
  void when_a_server_takes_no_snapshots_there_then_the_job_does_not_begin(String key, String what) throws Exception {
    Path elsewhere = Files.createDirectory(dir.resolve("elsewhere"));
    Path root = Files.createDirectory(dir.resolve("root"));
    JsonObject directories = switch (key) {
      case "snapshots.dir" -> new JsonObject().put("snapshots", new JsonObject().put("dir", elsewhere.toString()));
      case "output" -> new JsonObject().put("output", elsewhere.toString())
          .put("snapshots", new JsonObject().put("every_pass", true));
      default -> new JsonObject().put("init_from", elsewhere.toString());
    };
    Files.createDirectory(elsewhere.resolve("emb_txt")); // a table of Paddle, to begin with
    AtomicBoolean began = new AtomicBoolean();
    assertThatThrownBy(() -> train(ParameterServerConfig.defaults().at(0, 1, 1).rootedAt(List.of(root.toString())),
        job(directories), began)).cause()
        .isInstanceOf(InvalidInput.class).hasMessageContaining("job rooted: parameter server 0 at 127.0.0.1:")
        .hasMessageContaining("does not " + what + ": directory '" + elsewhere + "' is not below " + root)
        .hasMessageContaining("parameter_server.snapshot_roots").hasMessageNotContaining("\n");
    assertThat(began).isFalse();
  }

  /** The job does not say that its program takes snapshots, and may have output without any. */
  @Test
  void when_the_program_asks_for_a_snapshot_that_the_server_does_not_write_then_the_job_ends() throws Exception {
    Path elsewhere = Files.createDirectory(dir.resolve("elsewhere"));
    Path root = Files.createDirectory(dir.resolve("root"));
    assertThatThrownBy(() -> train(ParameterServerConfig.defaults().at(0, 1, 1).rootedAt(List.of(root.toString())),
        job(new JsonObject().put("output", elsewhere.toString())), worker -> {
          try (Model model = Model.newInstance("line")) {
            model.setBlock(Linear.builder().setUnits(1).build());
            try (FleetTrainer trainer = worker.distributedTrainer(model, LineProgram.config(worker))) {
              trainer.initialize(new Shape(1, 1));
              worker.snapshot(trainer, SnapshotKind.FULL);
            }
          }
        })).cause().isInstanceOf(InvalidInput.class).hasMessageContaining("does not write its snapshots: directory '"
            + elsewhere + "' is not below " + root);
  }

  @Test
  void when_the_job_names_a_root_by_a_link_then_its_snapshots_are_there() throws Exception {
    Path real = Files.createDirectory(dir.resolve("nfs"));
    Path home = Files.createSymbolicLink(dir.resolve("home"), real);
    JobConfig job = job(new JsonObject().put("epochs", 2)
        .put("snapshots", new JsonObject().put("dir", home.resolve("snapshots").toString()).put("every_pass", true)));
    train(ParameterServerConfig.defaults().at(0, 1, 1).rootedAt(List.of(real.toString())), job, new AtomicBoolean());
    assertThat(Snapshots.list(real.resolve("snapshots"))).hasSize(2);
  }
}
