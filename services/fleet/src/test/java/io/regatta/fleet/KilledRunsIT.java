package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.regatta.core.table.RowLayout;
import io.regatta.snapshot.FileEntry;
import io.regatta.snapshot.Manifest;
import io.regatta.snapshot.Snapshots;
import io.regatta.snapshot.safetensors.SafetensorsFile;
import io.regatta.snapshot.safetensors.TensorInfo;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Runs that are ended by {@code kill -9} twice, and resumed. Each example has a feature of its own. Where the mode allows it the table
 * counts how often each feature was pushed ({@code statistics}). At the end every count is the number of passes.
 */
class KilledRunsIT {

  private static final int SECONDS = JavaProcess.SECONDS;
  private static final int EXAMPLES = 1200;
  private static final int BATCH = 8;
  private static final int PASSES = 2;
  /** Steps of each of the two trainers, in all passes. */
  private static final long STEPS = (long) PASSES * EXAMPLES / BATCH / 2;
  private static final int STEP_MILLIS = 20;
  private static final String TABLE = "weights";
  private static final Pattern SNAPSHOT = Pattern.compile(".*step-(\\d{9}) of job.*");
  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir
  Path dir;
  private ServiceProcesses services;

  @BeforeEach
  void begin() throws IOException {
    services = ServiceProcesses.fromClassPath(dir);
    Path data = Files.createDirectories(dir.resolve("data"));
    List<String> lines = IntStream.rangeClosed(1, EXAMPLES).mapToObj(e -> (e % 2 == 0 ? "+1 " : "-1 ") + e + ":1").toList();
    Files.write(data.resolve("a9a"), lines);
    Files.write(data.resolve("a9a.t"), lines.subList(0, 2 * BATCH));
  }

  @AfterEach
  void end() {
    services.close();
  }

  private JsonObject job(String mode) {
    boolean geo = mode.equals("geo");
    JsonObject job = ServiceProcesses.job("logistic-regression", List.of("job=killed", "mode=" + mode, "batch_size=" + BATCH,
        "epochs=" + PASSES, "staleness_bound=20", "k_steps=3", "data.dir=" + dir.resolve("data"), "data.shuffle_buffer=64",
        "resume=auto", "output=" + dir.resolve("model"), "snapshots.dir=" + dir.resolve("snapshots"), "snapshots.every_steps=5",
        "snapshots.every_pass=true", "snapshots.keep=3", "compute_threads=1", "optimizer.kind=" + (geo ? "sgd" : "ftrl")));
    return geo ? job
        : job.put("tables", new JsonObject().put(TABLE, new JsonObject().put("life", new JsonObject().put("statistics", true))));
  }

  /** Two trainers, the second of which makes one step while the first makes two, and two servers. */
  private List<JavaProcess> cluster(int life, String mode) throws Exception {
    List<JavaProcess> processes = new ArrayList<>();
    for (int rank = 0; rank < 2; rank++) {
      processes.add(services.start("trainer", "trainer-" + rank + "-" + life, new JsonObject().put("job", job(mode)).put("rank", rank)
          .put("step_delay_ms", STEP_MILLIS * (rank + 1)).put("result", dir.resolve("result.json").toString())));
    }
    for (int index = 0; index < 2; index++) {
      processes.add(services.start("parameter-server", "server-" + index + "-" + life,
          new JsonObject().put("index", index).put("servers", 2).put("shards", 1)
              .put("snapshot_roots", List.of(dir.toString()))));
    }
    return processes;
  }

  /** The same in one process. */
  private JavaProcess simulation(String mode) throws Exception {
    Path job = Files.writeString(dir.resolve("job.json"), job(mode).encodePrettily());
    List<String> command = JavaProcess.regattaCommand("-Xmx512m");
    command.addAll(List.of("simulate", job.toString(), "--slow", "0=" + STEP_MILLIS, "--slow", "1=" + 2 * STEP_MILLIS, "--result",
        dir.resolve("result.json").toString()));
    return JavaProcess.start("simulation", Checkout.root(), command);
  }

  private Manifest last() throws IOException {
    return Snapshots.latest(dir.resolve("snapshots")).orElseThrow().manifest();
  }

  /** Waits for some more snapshots, and kills all processes at once. */
  private void kill(List<JavaProcess> killed, long before) throws Exception {
    killed.get(0).await(line -> snapshotOf(line) >= before + 15, SECONDS);
    for (JavaProcess process : killed) {
      process.signal("KILL");
    }
    for (JavaProcess process : killed) {
      process.status(SECONDS);
    }
    assertThat(last().fuzzy()).as("a snapshot that splits a push").isFalse();
    assertThat(last().step()).isGreaterThanOrEqualTo(before + 15).isLessThan(STEPS);
  }

  private void assertWhole() throws IOException {
    assertThat(timesTrained()).as("examples by how often they were trained").isEqualTo(Map.of(PASSES, EXAMPLES));
    assertStepsAreWhole();
  }

  private void assertStepsAreWhole() throws IOException {
    assertThat(last().trainers()).as("steps of both trainers, of all lives").hasSize(2)
        .allMatch(trainer -> trainer.progress().localSteps() == STEPS && trainer.progress().learningRateStep() == STEPS);
    assertThat(JSON.readTree(dir.resolve("result.json").toFile()).get("trainers_at_end").asInt()).isEqualTo(2);
  }

  @Test
  @Timeout(300)
  void trainsEachExampleOncePerPass_whenAllServersAndTrainersAreKilledTwice() throws Exception {
    services.start("rendezvous", "rendezvous", new JsonObject().put("lease_ms", 4000));
    kill(cluster(1, "async"), 0);
    kill(cluster(2, "async"), last().step());
    for (JavaProcess trainer : cluster(3, "async").subList(0, 2)) {
      assertThat(trainer.status(SECONDS)).as(trainer.output()).isZero();
    }
    assertWhole();
  }

  @ParameterizedTest
  @ValueSource(strings = {"half_async", "ssp", "geo"})
  @Timeout(300)
  void trainsEachExampleOncePerPass_whenTheSimulationIsKilledTwice(String mode) throws Exception {
    for (int killed = 0; killed < 2; killed++) {
      try (JavaProcess life = simulation(mode)) {
        kill(List.of(life), killed == 0 ? 0 : last().step());
      }
    }
    try (JavaProcess life = simulation(mode)) {
      assertThat(life.status(SECONDS)).as(life.output()).isZero();
    }
    if (mode.equals("geo")) { // local copies have no counts
      assertStepsAreWhole();
    } else {
      assertWhole();
    }
  }

  private static long snapshotOf(String line) {
    Matcher snapshot = SNAPSHOT.matcher(line);
    return snapshot.matches() ? Long.parseLong(snapshot.group(1)) : -1;
  }

  /** How many examples were trained how often, by the counts of the last snapshot. */
  private Map<Integer, Integer> timesTrained() throws IOException {
    Map<Integer, Integer> examples = new TreeMap<>();
    Snapshots.Found last = Snapshots.latest(dir.resolve("snapshots")).orElseThrow();
    for (FileEntry shard : last.manifest().files()) {
      try (SafetensorsFile file = SafetensorsFile.open(last.dir().resolve(shard.file()))) {
        TensorInfo info = file.tensors().stream().filter(t -> t.name().endsWith("/statistics")).findFirst().orElseThrow();
        float[] columns = file.floats(info.name());
        int width = Math.toIntExact(info.shape().get(1));
        for (int at = 0; at < columns.length; at += width) {
          examples.merge(Math.round(columns[at + RowLayout.SHOW]), 1, Integer::sum);
        }
      }
    }
    return examples;
  }
}
