package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.aggregator.AggregatorConfig;
import io.regatta.aggregator.AggregatorVerticle;
import io.regatta.data.BadLines;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.cluster.ClusterConfig;
import io.regatta.node.cluster.ClusteredVertx;
import io.regatta.node.directory.Directory;
import io.regatta.node.process.Blocking;
import io.regatta.node.settings.Settings;
import io.regatta.node.testing.FreePorts;
import io.regatta.node.testing.LeftoverThreads;
import io.regatta.parameterserver.ParameterServerConfig;
import io.regatta.parameterserver.ParameterServerVerticle;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousVerticle;
import io.regatta.trainer.TrainerVerticle;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.TrainerConfig;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.NetServer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The visible state of a cluster while it trains, and services in a user's own Vertx. */
class RunningClusterTest {

  private static final JsonObject LINE = new JsonObject().put("job", "line").put("trainers", 2)
      .put("aggregator", true).put("batch_size", 8).put("compute_threads", 1);
  private static final JobConfig JOB = JobConfig.of(LINE);

  /** Rank 1 trains and stays behind, rank 0 waits for it; nobody leaves until somebody has looked. */
  @Test
  void status_and_why_name_the_one_who_is_waited_for(@TempDir Path dir) throws Exception {
    LeftoverThreads threads = LeftoverThreads.snapshot();
    CountDownLatch trained = new CountDownLatch(2);
    CountDownLatch looked = new CountDownLatch(1);
    TrainingProgram program = worker -> {
      new LineProgram().run(worker);
      BadLines badLines = worker.badLines(true);
      for (int line = 1; line <= 2 * worker.rank(); line++) {
        badLines.report("part-00000", line, "column 1", "broken");
      }
      trained.countDown();
      if (worker.rank() == 1) {
        looked.await();
      }
      worker.barrier();
    };
    String seed = "127.0.0.1:" + FreePorts.one();
    NodeConfig node = NodeConfig.defaults().withCluster(
        ClusterConfig.of("regatta", List.of(seed), Integer.parseInt(seed.substring(seed.indexOf(':') + 1))));
    JobConfig saving = JobConfig.of(LINE.copy().put("snapshots", new JsonObject().put("dir", dir.toString()).put("every_steps", 5))
        .put("data", new JsonObject().put("on_bad_line", "skip")));
    LocalCluster cluster = LocalCluster.start(LocalCluster.Options.of(saving).withProgram(program).withNode(node));
    try {
      assertThat(trained.await(JavaProcess.SECONDS, TimeUnit.SECONDS)).isTrue();
      CommandLineRun status = CommandLineRun.regatta("status", "--seeds", seed, "--ready-timeout", "60");
      assertThat(status.status()).as(status.err()).isZero();
      Directory directory = Blocking.get(cluster.nodeReady()).directory();
      String pid = ", pid " + ProcessHandle.current().pid();
      assertThat(status.out()).contains("job line, sync: 16 updates, 2 dense values",
          "trainer 0 active, last step 15", "trainer 1 active, last step 15", "group line", "rank 1 active, trainer with pid "
              + ProcessHandle.current().pid() + " on 127.0.0.1",
          "server 0 at " + Blocking.get(directory.list(Directory.PARAMETER_SERVER)).get(0).endpoint() + pid,
          "gradient aggregator at 127.0.0.1:", "rendezvous at " + Blocking.get(directory.list(Directory.RENDEZVOUS)).get(0).endpoint() + pid);
      status = CommandLineRun.regatta("status", "--server-endpoints",
          Blocking.get(directory.list(Directory.PARAMETER_SERVER)).get(0).endpoint());
      assertThat(status.status()).as(status.err()).isZero();
      assertThat(status.out()).contains("server 0", "job line, sync").doesNotContain("group line");
      status = CommandLineRun.regatta("status", "--rendezvous-endpoint",
          Blocking.get(directory.list(Directory.RENDEZVOUS)).get(0).endpoint());
      assertThat(status.status()).as(status.err()).isZero();
      assertThat(status.out()).contains("group line").doesNotContain("server 0");
      String dead = "127.0.0.1:" + FreePorts.one();
      status = CommandLineRun.regatta("status", "--rendezvous-endpoint", dead, "--server-endpoints",
          Blocking.get(directory.list(Directory.PARAMETER_SERVER)).get(0).endpoint());
      assertThat(status.status()).as(status.err()).isZero();
      assertThat(status.out()).contains("job line, sync", "rendezvous at " + dead + " does not answer: ");
      status = CommandLineRun.regatta("status", "--rendezvous-endpoint", dead);
      assertThat(status.status()).as("nobody answers").isEqualTo(1);
      assertThat(status.failure()).contains(dead);
      NetServer frozen = Blocking.get(Blocking.get(cluster.nodeReady()).vertx().createNetServer()
          .connectHandler(socket -> { }).listen(0, "127.0.0.1"));
      status = CommandLineRun.regatta("status", "--rendezvous-endpoint", "127.0.0.1:" + frozen.actualPort(),
          "--server-endpoints", Blocking.get(directory.list(Directory.PARAMETER_SERVER)).get(0).endpoint());
      assertThat(status.status()).as(status.err()).isZero();
      assertThat(status.out()).contains("job line, sync", "rendezvous at 127.0.0.1:" + frozen.actualPort()
          + " does not answer: ", "no connection within ");
      int admin = Blocking.get(cluster.nodeReady()).adminPort();
      assertThat(get(admin, "/why")).contains("trainer 0").contains("barrier").contains("trainer 1");
      // Shards publish a job's figures at an interval: asked again until they are there, for a minute at most.
      long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
      List<String> figures = List.of("regatta_trainer_snapshots_total{job=\"line\",rank=\"0\"} 3.0",
          "regatta_trainer_snapshots_failed_total{job=\"line\",rank=\"0\"} 0.0", "regatta_trainer_snapshots_bytes_total{",
          "regatta_trainer_snapshots_seconds_total{", "regatta_trainer_snapshots_step{job=\"line\",rank=\"0\"} 15.0",
          "regatta_shard_staleness", "regatta_job_version",
          "regatta_trainer_bad_lines_total{job=\"line\",rank=\"0\"} 0.0", "regatta_trainer_bad_lines_total{job=\"line\",rank=\"1\"} 2.0",
          "regatta_trainer_steps_total{job=\"line\",rank=\"1\"} 16.0", "regatta_trainer_staleness_max",
          "# TYPE regatta_trainer_pushes_total counter", "# TYPE regatta_job_round_wait_seconds_total counter",
          "# TYPE regatta_aggregator_round_wait_seconds_total counter");
      String metrics = get(admin, "/metrics");
      while (!figures.stream().allMatch(metrics::contains) && System.nanoTime() < end) {
        metrics = get(admin, "/metrics");
      }
      assertThat(metrics).contains(figures);
      assertThat(metrics.lines().filter(line -> line.startsWith("# HELP regatta_"))).hasSizeGreaterThan(15)
          .allMatch(line -> line.split(" ").length > 3);
      assertThat(get(admin, "/health")).contains("UP");
      assertThat(get(admin, "/ready")).contains("UP");
      looked.countDown();
      assertThat(Blocking.get(cluster.results())).hasSize(2);
    } finally {
      looked.countDown();
      Blocking.get(cluster.close());
    }
    threads.assertNone();
  }

  private static String get(int port, String path) throws Exception {
    return HttpClient.newHttpClient().send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path)).build(),
        HttpResponse.BodyHandlers.ofString()).body();
  }

  @Test
  void services_deploy_into_a_users_clustered_vertx() {
    LeftoverThreads threads = LeftoverThreads.snapshot();
    Vertx vertx = Blocking.get(ClusteredVertx.start(ClusterConfig.of("users-own", List.of(), 0), null, false));
    Node node = Blocking.get(Node.embedded(vertx, null, NodeConfig.defaults(), "application"));
    List<TrainerVerticle> trainers = new ArrayList<>();
    for (int rank = 0; rank < 2; rank++) {
      trainers.add(new TrainerVerticle(node, new TrainerConfig(JOB, rank, ""), new LineProgram()));
    }
    List<Deployable> services = new ArrayList<>(trainers); // trainers first: they wait for the others
    services.add(new AggregatorVerticle(node, Settings.defaults(AggregatorConfig.class)));
    services.add(new ParameterServerVerticle(node, Settings.defaults(ParameterServerConfig.class)));
    services.add(new RendezvousVerticle(node, Settings.defaults(RendezvousConfig.class)));
    List<String> ids = Blocking.get(Future.all(services.stream().map(vertx::deployVerticle).toList())).list();
    String hash = Blocking.get(trainers.get(0).result()).parametersHash();
    assertThat(Blocking.get(trainers.get(1).result()).parametersHash()).isEqualTo(hash);
    Blocking.get(node.close());
    assertThat(vertx.deploymentIDs()).containsAll(ids);
    Blocking.get(Future.all(ids.stream().map(vertx::undeploy).toList()));
    assertThat(Blocking.get(vertx.executeBlocking(() -> "alive"))).isEqualTo("alive");
    Blocking.get(vertx.close());
    threads.assertNone();
  }
}
