package io.regatta.fleet;

import static io.regatta.node.testing.EmbeddedNode.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.progress.Progress;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.fleet.local.ScratchDirectory;
import io.regatta.node.Node;
import io.regatta.node.testing.EmbeddedNode;
import io.regatta.parameterserver.ParameterServerConfig;
import io.regatta.parameterserver.ParameterServerVerticle;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousVerticle;
import io.regatta.snapshot.Snapshots;
import io.regatta.trainer.TrainerVerticle;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.TrainerConfig;
import io.regatta.training.result.RunResult;
import io.regatta.training.snapshot.StartingPoint;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * A run that lost a trainer ends without the rest of that trainer's data, and says so. Resumed from a snapshot that was
 * taken after the loss, it trains that rest, so that each pass has each example once.
 */
class ResumeAfterLossTest {

  private static final int PASSES = 3;

  @TempDir
  Path dir;
  @RegisterExtension
  final EmbeddedNode embedded = new EmbeddedNode();

  private JobConfig job(String mode, int threads, String resume) {
    return JobConfig.of(new JsonObject().put("job", "tally").put("mode", mode).put("servers", 1).put("trainers", 2)
        .put("threads", threads).put("batch_size", ExampleTally.BATCH).put("epochs", PASSES).put("min_block", 4).put("resume", resume)
        .put("optimizer", new JsonObject().put("kind", "sgd").put("learning_rate", 1))
        .put("snapshots", new JsonObject().put("dir", dir.resolve("snapshots").toString()).put("every_pass", true)
            .put("keep", 100))
        .put("output", dir.resolve("model").toString()));
  }

  /** Trains with two trainers, the second of which fails; returns the first one's failure. */
  private Throwable trainWithLoss(JobConfig job, ExampleTally program) throws Exception {
    Vertx vertx = embedded.vertx();
    Node node = embedded.node();
    String rendezvous = get(vertx.deployVerticle(new RendezvousVerticle(node, RendezvousConfig.defaults())));
    String server = get(vertx.deployVerticle(new ParameterServerVerticle(node,
        ParameterServerConfig.defaults().at(0, 1, 1).rootedAt(StartingPoint.directories(job)))));
    List<TrainerVerticle> trainers = Stream.of(0, 1)
        .map(rank -> new TrainerVerticle(node, new TrainerConfig(job, rank, ""), program, Progress.none())).toList();
    List<Future<String>> deployed = trainers.stream().map(vertx::deployVerticle).toList();
    Future<?> first = trainers.get(0).finished();
    get(first.otherwiseEmpty());
    for (Future<String> each : deployed) {
      get(vertx.undeploy(get(each)));
    }
    get(vertx.undeploy(server));
    get(vertx.undeploy(rendezvous));
    return first.cause();
  }

  private static ExampleTally life(List<Long> steps) {
    return life(steps, 1);
  }

  private static ExampleTally life(List<Long> steps, int threads) {
    return new ExampleTally(new ExampleTally.Life(steps, Path.of(""), 0, Map.of()), threads);
  }

  @ParameterizedTest(name = "{0}, from a snapshot {1}")
  @CsvSource({"sync, after the last step", "sync, behind a pass", "async, after the last step", "async, behind a pass"})
  void when_a_run_that_lost_a_trainer_is_resumed_then_it_trains_the_rest(String mode, String from) throws Exception {
    JobConfig job = job(mode, 1, "");
    ExampleTally before = life(List.of(ExampleTally.NEVER, 2L));
    assertThat(trainWithLoss(job, before)).hasMessageContaining("has ended without some of its data: trainer 1");
    for (Snapshots.Found found : Snapshots.list(Path.of(job.snapshots().dir()))) {
      if (from.equals("behind a pass") && found.manifest().pass() < 0) {
        ScratchDirectory.remove(found.dir());
      }
    }

    ExampleTally after = life(List.of());
    RunResult result = LocalCluster.run(LocalCluster.Options.of(job(mode, 1, "auto")).withProgram(after).withoutHazelcast()
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

  /** Trainer 1 owes three passes of half of the examples. It is lost in the first pass, and once more in the second one. */
  @ParameterizedTest(name = "{0}, {1} threads")
  @CsvSource({"sync, 1", "async, 1", "async, 2"})
  void when_a_resumed_run_loses_a_trainer_then_it_says_how_much_was_not_trained(String mode, int threads)
      throws Exception {
    ExampleTally before = life(List.of(ExampleTally.NEVER, 1L), threads);
    trainWithLoss(job(mode, threads, ""), before);
    ExampleTally after = life(List.of(ExampleTally.NEVER, 3L), threads);
    Throwable loss = trainWithLoss(job(mode, threads, "auto"), after);

    long trained = Stream.of(before, after).flatMap(life -> life.trained().stream()).filter(t -> t.rank() == 1)
        .mapToLong(t -> t.examples().size()).sum();
    assertThat(loss).hasMessageContaining("has ended without some of its data: trainer 1")
        .hasMessageContaining(" " + ((long) PASSES * ExampleTally.EXAMPLES / 2 - trained) + " examples not trained");
  }
}
