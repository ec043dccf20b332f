package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import io.regatta.core.progress.Progress;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.process.Blocking;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.node.testing.LeftoverThreads;
import io.regatta.predictor.Predictor;
import io.regatta.predictor.PredictorConfig;
import io.regatta.predictor.PredictorVerticle;
import io.regatta.protocol.prediction.PredictReply;
import io.regatta.protocol.prediction.PredictRequest;
import io.regatta.protocol.prediction.PredictionGrpcClient;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/** A model that is served while its job trains on: what a whole cluster saved, asked over HTTP and gRPC. */
@ExtendWith(BlockedLoopGuard.class)
class ServeTest {

  private static final Duration POLL = Duration.ofSeconds(4);
  /** Slack of a busy machine before it begins to read. */
  private static final Duration SLACK = Duration.ofSeconds(3);
  private static final String FOLLOWER = "io.regatta.predictor.SnapshotFollower";
  private static final Pattern TOOK = Pattern.compile("took snapshot .* over, step (\\d+), in ([0-9.]+) s");

  @TempDir
  Path dir;

  private final HttpClient http = HttpClient.newHttpClient();
  private int port;

  /** A snapshot that has been taken over, and when its reading began, ms since the epoch. */
  private record Taken(long step, long beganMillis) {}

  /** Log lines of the service about snapshots that it has taken over. */
  private static final class Takes extends AppenderBase<ILoggingEvent> implements AutoCloseable {
    private final BlockingQueue<Taken> takes = new LinkedBlockingQueue<>();

    private Takes() {
      start();
      ((Logger) LoggerFactory.getLogger(FOLLOWER)).addAppender(this);
    }

    @Override
    protected void append(ILoggingEvent event) {
      Matcher took = TOOK.matcher(event.getFormattedMessage());
      if (took.matches()) {
        takes.add(new Taken(Long.parseLong(took.group(1)), event.getTimeStamp() - (long) (1000 * Double.parseDouble(took.group(2)))));
      }
    }

    private Taken next() throws InterruptedException {
      return takes.poll(1, TimeUnit.MINUTES);
    }

    @Override
    public void close() {
      ((Logger) LoggerFactory.getLogger(FOLLOWER)).detachAppender(this);
    }
  }

  private record Answer(int status, JsonObject body) {

    float[] scores() {
      List<?> all = body.getJsonArray("scores").getList();
      float[] scores = new float[all.size()];
      for (int i = 0; i < scores.length; i++) {
        scores[i] = ((Number) all.get(i)).floatValue();
      }
      return scores;
    }
  }

  private Answer ask(String path, String body) throws IOException, InterruptedException {
    HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path));
    HttpResponse<String> response = http.send((body == null ? request : request.POST(HttpRequest.BodyPublishers.ofString(body)))
        .build(), HttpResponse.BodyHandlers.ofString());
    return new Answer(response.statusCode(), new JsonObject(response.body()));
  }

  /** Publishes a snapshot as writers do into a directory that is followed: whole, by its name. */
  private static void publish(Path snapshot, Path follow) throws IOException {
    Path part = Files.createDirectories(follow.resolve(snapshot.getFileName() + ".part"));
    try (Stream<Path> files = Files.list(snapshot)) {
      for (Path file : files.toList()) {
        Files.copy(file, part.resolve(file.getFileName()));
      }
    }
    Files.move(part, follow.resolve(snapshot.getFileName()));
  }

  private void train(String... keys) {
    List<String> all = new ArrayList<>(List.of("mode=sync"));
    all.addAll(List.of(keys));
    LocalCluster.run(LocalCluster.Options.of(Jobs.wideAndDeep(dir, all.toArray(String[]::new))).withoutHazelcast()
        .withProgress(Progress.none()));
  }

  @Test
  @Timeout(value = 10, unit = TimeUnit.MINUTES)
  void deltas_are_taken_over_and_no_request_fails_meanwhile() throws Exception {
    LeftoverThreads threads = LeftoverThreads.snapshot();
    Path later = dir.resolve("later");
    train("output=" + later, "max_steps=30", "snapshots.every_steps=10", "snapshots.deltas=2", "snapshots.keep=3");
    Path model = dir.resolve("early"); // of the same run, twenty steps before
    train("output=" + model, "max_steps=10", "resume=" + later.resolve("step-000000010"));
    Path tomorrow = dir.resolve("tomorrow"); // another run, whose steps begin anew
    train("output=" + tomorrow, "max_steps=10", "init_from=" + later, "snapshots.every_steps=10");
    List<String> lines = Files.readAllLines(dir.resolve("data/test.tsv")).subList(0, 64);
    String text = String.join("\n", lines);
    float[] end;
    try (Predictor predictor = Predictor.load(later)) {
      assertThat(predictor.source()).extracting(Predictor.Source::dir, Predictor.Source::step).containsExactly(later, 30L);
      end = predictor.predict(lines).get().scores();
    }
    Path follow = dir.resolve("follow");
    publish(later.resolve("step-000000010"), follow);

    Vertx vertx = Vertx.vertx();
    Node node = Blocking.get(Node.embedded(vertx, null, NodeConfig.defaults(), "application"));
    PredictorVerticle service = new PredictorVerticle(node,
        PredictorConfig.of(model.toString(), follow.toString(), POLL.toMillis(), 1 << 20), null);
    String id = Blocking.get(vertx.deployVerticle(service));
    port = service.port();
    JsonObject served = ask("/model", null).body();
    assertThat(served.getLong("step")).isEqualTo(10);
    assertThat(served.getString("from")).as("a snapshot that is not newer is left alone")
        .isEqualTo(model.getFileName().toString());
    float[] early = ask("/predict", text).scores();
    assertThat(early).hasSize(64).isNotEqualTo(end);

    List<Long> steps = new ArrayList<>();
    try (Takes takes = new Takes()) {
      for (int step = 20; step <= 30; step += 10) {
        publish(later.resolve("step-0000000" + step), follow);
        long published = System.currentTimeMillis();
        for (long at = 0; at < step; ) {
          Answer answer = ask("/predict", text);
          assertThat(answer.status()).as(answer.body().encode()).isEqualTo(200);
          at = answer.body().getLong("step");
          steps.add(at);
        }
        Taken taken = takes.next();
        assertThat(taken.step()).isEqualTo(step);
        assertThat(Duration.ofMillis(taken.beganMillis() - published)).as("at the next poll; how long reading takes is the machine's affair")
            .isLessThan(POLL.plus(SLACK));
      }
    }
    assertThat(steps).isSorted().contains(20L, 30L);
    assertThat(ask("/predict", text).scores()).containsExactly(end, within(1e-6f));

    publish(tomorrow.resolve("step-000000010"), Files.createDirectories(follow.resolve("day2")));
    for (JsonObject now = served; now.getLong("step") != 10 || now.getString("run").equals(served.getString("run")); ) {
      Answer answer = ask("/predict", text);
      assertThat(answer.status()).as(answer.body().encode()).isEqualTo(200);
      now = ask("/model", null).body();
    }
    try (Predictor predictor = Predictor.load(tomorrow)) {
      assertThat(ask("/predict", text).scores()).containsExactly(predictor.predict(lines).get().scores(), within(1e-6f));
    }

    GrpcClient client = GrpcClient.client(vertx);
    PredictReply reply = Blocking.get(PredictionGrpcClient.create(client, SocketAddress.inetSocketAddress(port, "127.0.0.1"))
        .predict(PredictRequest.newBuilder().addAllLines(lines).build()));
    assertThat(reply.getStep()).isEqualTo(10);
    assertThat(reply.getScoresList()).hasSize(64);
    assertThat(reply.getScores(63)).isCloseTo(ask("/predict", text).scores()[63], within(1e-6f));
    Blocking.get(client.close());

    Answer bad = ask("/predict", "no example");
    assertThat(bad.status()).isEqualTo(400);
    assertThat(bad.body().getString("error")).contains("request, line 1");
    assertThat(ask("/elsewhere", null).status()).isEqualTo(404);
    Blocking.get(vertx.undeploy(id));
    Blocking.get(node.close());
    Blocking.get(vertx.close());
    threads.assertNone();

    Path test = dir.resolve("lines.tsv.gz");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(test))) {
      out.write((text + "\n\n").getBytes(StandardCharsets.UTF_8));
    }
    CommandLineRun predict = CommandLineRun.regatta("predict", "--model", later.toString(), "--snapshot",
        later.resolve("step-000000010").toString(), test.toString());
    assertThat(predict.failure()).isEmpty();
    assertThat(predict.out().lines().map(Float::parseFloat).toList()).hasSize(64);
    assertThat(Float.parseFloat(predict.out().lines().toList().get(5))).isCloseTo(early[5], within(1e-6f));
    CommandLineRun last = CommandLineRun.regatta("predict", "--model", model.toString(), "--snapshot", later.toString(),
        test.toString());
    assertThat(last.err()).contains("the last snapshot in " + later + " is step-000000030, step 30");
    assertThat(Float.parseFloat(last.out().lines().toList().get(5))).isCloseTo(end[5], within(1e-6f));
    CommandLineRun slip = CommandLineRun.regatta("predict", "--model", later.toString(), dir.resolve("none.tsv").toString());
    assertThat(slip.status()).isEqualTo(2);
    assertThat(slip.failure()).contains(dir.resolve("none.tsv") + " does not exist").as("which it has not").doesNotContain("--data");
  }
}
