package io.regatta.fleet;

import static io.regatta.node.testing.Conditions.awaitTrue;
import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.regatta.fleet.local.Faults;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.node.NodeConfig;
import io.regatta.node.admin.Waits;
import io.regatta.node.process.Blocking;
import io.regatta.node.settings.Settings;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.JobConfig;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

/** A trainer's account of its own waits: the peers, the time, and the peers' progress. */
class WhyTest {

  private static final JobConfig JOB = JobConfig.of(new JsonObject().put("job", "line").put("trainers", 2)
      .put("servers", 2).put("batch_size", 8).put("compute_threads", 1));
  private static final NodeConfig NODE = Settings.bind(
      new JsonObject().put("long_wait_seconds", 1), NodeConfig.class);
  private static final long SLOW_MILLIS = TimeUnit.MINUTES.toMillis(10);

  /** Trainer 1 pauses for minutes behind its first step; trainer 0's pull is held back because of it. */
  @Test
  void a_pull_names_the_shards_that_owe_the_answer_and_the_trainer_because_of_whom() throws Exception {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.list = new CopyOnWriteArrayList<>(); // read here while others write
    log.start();
    Logger waits = (Logger) LoggerFactory.getLogger(Waits.class);
    waits.addAppender(log);
    LocalCluster cluster = LocalCluster.start(LocalCluster.Options.of(JOB).withoutHazelcast().withNode(NODE)
        .withProgram(new LineProgram()).withFaults(Faults.slow(Map.of(1, SLOW_MILLIS))));
    String sentence = "trainer 0 waits at job line for shard 0 at 127.0.0.1:\\d+, shard 1 at 127.0.0.1:\\d+, "
        + "trainer 1 \\(last step 0\\), push and pull of step 1, since [0-9.]+ s";
    try {
      int admin = Blocking.get(cluster.nodeReady()).adminPort();
      awaitTrue(() -> why(admin).lines().anyMatch(line -> line.matches(sentence)), () -> why(admin));
      JsonArray peers = of(json(admin), "trainer 0", "push and pull of step 1").getJsonArray("waits_for");
      assertThat(peers.getJsonObject(2).getString("name")).isEqualTo("trainer 1");
      assertThat(peers.getJsonObject(2).getInteger("last_step")).isZero();
      assertThat(peers.getJsonObject(2).getLong("last_seen_ms")).isPositive();
      awaitTrue(() -> log.list.stream().anyMatch(e -> e.getFormattedMessage().matches(sentence)),
          () -> log.list.toString());
    } finally {
      waits.detachAppender(log);
      Blocking.get(cluster.close());
    }
  }

  /** The push of trainer 0 is held by the aggregator, and its later pull by the shards. */
  @Test
  void behind_an_aggregator_a_shard_does_not_name_the_asker_and_the_trainer_names_the_aggregator() throws Exception {
    JobConfig job = JobConfig.of(new JsonObject().put("job", "line").put("trainers", 2).put("aggregator", true)
        .put("batch_size", 8).put("compute_threads", 1));
    LocalCluster cluster = LocalCluster.start(LocalCluster.Options.of(job).withoutHazelcast().withNode(NODE)
        .withProgram(new LineProgram()).withFaults(Faults.slow(Map.of(1, SLOW_MILLIS))));
    String trainer = "trainer 0 waits at job line for shard 0 at 127.0.0.1:\\d+ behind the gradient aggregator at "
        + "127.0.0.1:\\d+, trainer 1 \\(last step 0\\), .*";
    String shard = "trainer 0 waits at shard 0 of job line for trainer 1 \\(last step 0\\), its own push \\(.*";
    String aggregator = "trainer 0 waits at aggregator of shard 0 of job line for trainer 1 \\(last step 0\\), .*";
    try {
      int admin = Blocking.get(cluster.nodeReady()).adminPort();
      awaitTrue(() -> {
        List<String> lines = why(admin).lines().toList();
        return Stream.of(trainer, shard, aggregator).allMatch(one -> lines.stream().anyMatch(line -> line.matches(one)));
      }, () -> why(admin));
    } finally {
      Blocking.get(cluster.close());
    }
  }

  /** Trainer 1 has trained and does not reach the barrier. */
  @Test
  void a_barrier_names_the_ranks_that_have_not_come() throws Exception {
    CountDownLatch looked = new CountDownLatch(1);
    TrainingProgram program = worker -> {
      new LineProgram().run(worker);
      if (worker.rank() == 1) {
        looked.await();
      }
      worker.barrier();
    };
    LocalCluster cluster = LocalCluster.start(
        LocalCluster.Options.of(JOB).withoutHazelcast().withNode(NODE).withProgram(program));
    String sentence = "trainer 0 waits at job line for trainer 1 \\(last step 15\\), barrier, since [0-9.]+ s";
    try {
      int admin = Blocking.get(cluster.nodeReady()).adminPort();
      awaitTrue(() -> why(admin).lines().anyMatch(line -> line.matches(sentence)), () -> why(admin));
      assertThat(of(json(admin), "trainer 0", "barrier").getLong("since_ms")).isPositive();
      looked.countDown();
      assertThat(Blocking.get(cluster.results())).hasSize(2);
    } finally {
      looked.countDown();
      Blocking.get(cluster.close());
    }
  }

  private static JsonObject of(JsonObject why, String who, String operation) {
    return why.getJsonArray("waits").stream().map(JsonObject.class::cast)
        .filter(wait -> wait.getString("who").equals(who) && wait.getString("operation").equals(operation)
            && wait.getString("where").equals("job line"))
        .findFirst().orElseThrow(() -> new AssertionError(why.encodePrettily()));
  }

  private static String why(int admin) {
    return get(admin, "text/plain");
  }

  private static JsonObject json(int admin) {
    return new JsonObject(get(admin, "application/json"));
  }

  private static String get(int admin, String type) {
    try {
      HttpRequest request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + admin + "/why"))
          .header("Accept", type).build();
      return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString()).body();
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }
}
