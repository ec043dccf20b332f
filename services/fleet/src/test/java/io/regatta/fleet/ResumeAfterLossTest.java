package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.Node;
import io.regatta.parameterserver.ParameterServerConfig;
import io.regatta.parameterserver.ParameterServerVerticle;
import io.regatta.protocol.snapshot.Snapshots;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousVerticle;
import io.regatta.trainer.Progress;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.config.TrainerConfig;
import io.regatta.trainer.result.RunResult;
import io.regatta.trainer.service.TrainerVerticle;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A run that lost a trainer ends without the rest of that trainer's data, and says so. Resumed from a snapshot that was
 * taken after the loss, it trains that rest, so that each pass has each example once.
 */
class ResumeAfterLossTest {

  /** For what hangs; it measures nothing. */
  private static final int SECONDS = 120;
  private static final int PASSES = 3;

  @TempDir
  Path dir;
  private Vertx vertx;
  private Node node;

  @BeforeEach
  void start() {
    vertx = Vertx.vertx();
    node = Node.embedded(vertx, null, "test");
  }

  @AfterEach
  void stop() throws Exception {
    get(node.close().eventually(vertx::close));
  }

  private static <T> T get(Future<T> future) throws Exception {
    return future.toCompletionStage().toCompletableFuture().get(SECONDS, TimeUnit.SECONDS);
  }

  private JobConfig job(String mode, String resume) {
    return JobConfig.of(new JsonObject().put("job", "tally").put("mode", mode).put("servers", 1).put("trainers", 2)
        .put("batch_size", ExampleTally.BATCH).put("epochs", PASSES).put("min_block", 4).put("resume", resume)
        .put("optimizer", new JsonObject().put("kind", "sgd").put("learning_rate", 1))
        .put("snapshots", new JsonObject().put("dir", dir.resolve("snapshots").toString()).put("every_pass", true)
            .put("keep", 100))
        .put("output", dir.resolve("model").toString()));
  }

  /** Trains with two trainers, the second of which fails after its second step; returns the first one's failure. */
  private Throwable trainWithLoss(JobConfig job, ExampleTally program) throws Exception {
    get(vertx.deployVerticle(new RendezvousVerticle(node, RendezvousConfig.defaults())));
    get(vertx.deployVerticle(new ParameterServerVerticle(node, ParameterServerConfig.defaults().at(0, 1, 1))));
    List<TrainerVerticle> trainers = Stream.of(0, 1)
        .map(rank -> new TrainerVerticle(node, new TrainerConfig(job, rank, ""), program, Progress.none())).toList();
    trainers.forEach(vertx::deployVerticle);
    Future<?> first = trainers.get(0).finished();
    first.toCompletionStage().handle((v, e) -> null).toCompletableFuture().get(SECONDS, TimeUnit.SECONDS);
    return first.cause();
  }

  private static ExampleTally life(List<Long> steps) {
    return new ExampleTally(new ExampleTally.Life(steps, Path.of(""), 0, Map.of()));
  }

  private static void remove(Path tree) throws IOException {
    try (Stream<Path> files = Files.walk(tree)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  @ParameterizedTest(name = "{0}, from a snapshot {1}")
  @CsvSource({"sync, after the last step", "sync, behind a pass", "async, after the last step", "async, behind a pass"})
  void when_a_run_that_lost_a_trainer_is_resumed_then_it_trains_the_rest(String mode, String from) throws Exception {
    JobConfig job = job(mode, "");
    ExampleTally before = life(List.of(ExampleTally.NEVER, 2L));
    assertThat(trainWithLoss(job, before)).hasMessageContaining("has ended without some of its data: trainer 1");
    for (Snapshots.Found found : Snapshots.list(Path.of(job.snapshots().dir()))) {
      if (from.equals("behind a pass") && found.manifest().pass() < 0) {
        remove(found.dir());
      }
    }

    ExampleTally after = life(List.of());
    RunResult result = LocalCluster.run(LocalCluster.Options.of(job(mode, "auto")).withProgram(after).withoutHazelcast()
        .withProgress(Progress.none())).get(0);

    Map<Integer, List<Long>> passes = new TreeMap<>();
    Map<Integer, List<Long>> expected = new TreeMap<>();
    for (int pass = 0; pass < PASSES; pass++) {
      int number = pass;
      passes.put(pass, Stream.of(before, after).flatMap(life -> life.trained().stream()).filter(t -> t.pass() == number)
          .flatMap(t -> t.examples().stream()).sorted().toList());
      expected.put(pass, LongStream.range(0, ExampleTally.EXAMPLES).boxed().toList());
    }
    assertThat(passes).as("examples trained, by pass").isEqualTo(expected);
    assertThat(result.examples()).as("examples of both lives, the lost trainer's too")
        .isEqualTo((long) PASSES * ExampleTally.EXAMPLES);
  }
}
