package io.regatta.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.progress.Progress;
import io.regatta.training.run.LocalRun;
import io.regatta.training.testing.Jobs;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The timeline that a job writes, read again as a viewer does. */
class TimelineTest {

  @TempDir
  Path dir;

  /** A complete event. */
  private record Event(String name, String track, double begin, double end, JsonObject args) {}

  private String[] keys(String... more) {
    List<String> keys = new ArrayList<>(List.of("data.dir=" + dir.resolve("criteo"), "output=", "batch_size=100",
        "settings.train_rows=4000", "settings.test_rows=1000", "settings.hidden=16,8", "epochs=1", "max_steps=12"));
    keys.addAll(List.of(more));
    return keys.toArray(String[]::new);
  }

  private static List<Event> events(Path file) throws Exception {
    JsonArray all = new JsonObject(Files.readString(file)).getJsonArray("traceEvents");
    Map<Integer, String> tracks = new HashMap<>();
    List<Event> events = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      JsonObject e = all.getJsonObject(i);
      assertThat(e.getInteger("pid")).isZero();
      if (e.getString("ph").equals("M")) {
        tracks.put(e.getInteger("tid"), e.getJsonObject("args").getString("name"));
        continue;
      }
      assertThat(e.getString("ph")).isEqualTo("X");
      events.add(new Event(e.getString("name"), tracks.get(e.getInteger("tid")), e.getDouble("ts"),
          e.getDouble("ts") + e.getDouble("dur"), e.getJsonObject("args")));
    }
    return events;
  }

  @Test
  void tellsWhatEveryStepDid() throws Exception {
    Path file = dir.resolve("made/timeline.json");
    LocalRun.run(Jobs.job("ctr-dnn", keys("trace.file=" + file, "trace.from_step=3", "trace.steps=4")), null,
        Progress.none());

    List<Event> events = events(file);
    Map<String, Long> ofReplica = events.stream().filter(e -> e.track().equals("replica 0"))
        .collect(Collectors.groupingBy(Event::name, Collectors.counting()));
    for (String everyStep : List.of("step", "forward", "backward", "rows", "gradients of rows out, summed by id",
        "values in")) {
      assertThat(ofReplica).as(everyStep).containsEntry(everyStep, 4L);
    }
    assertThat(ofReplica).containsEntry("gradient out: wait for the engine, copy", 4L * 6);
    assertThat(events).extracting(Event::track).contains("shard 0: push", "shard 0: pull");
    for (Event step : events.stream().filter(e -> e.name().equals("step")).toList()) {
      long number = step.args().getLong("step");
      assertThat(number).isBetween(3L, 6L);
      assertThat(events).filteredOn(e -> e.name().equals("forward") && e.args().getLong("step") == number).hasSize(1)
          .allSatisfy(e -> assertThat(e.begin()).isBetween(step.begin(), step.end()));
      Event push = events.stream().filter(e -> e.track().equals("shard 0: push") && e.args().getLong("step") == number)
          .findFirst().orElseThrow();
      assertThat(push.begin()).isBetween(step.begin(), step.end());
      assertThat(push.args().getInteger("rows")).isBetween(100, 2600);
      assertThat(push.args().getLong("bytes")).isGreaterThan(4L * (273 * 16 + 10 * push.args().getInteger("rows")));
    }
    events.stream().collect(Collectors.groupingBy(Event::track)).forEach(TimelineTest::assertNested);
  }

  /** A viewer draws spans of a track that follow or hold one another. A microsecond is lost in rounding. */
  private static void assertNested(String track, List<Event> events) {
    for (Event a : events) {
      for (Event b : events) {
        boolean cut = a.begin() + 1 < b.begin() && b.begin() + 1 < a.end() && a.end() + 1 < b.end();
        assertThat(cut).as("%s: %s and %s overlap", track, a, b).isFalse();
      }
    }
  }

  @Test
  void endsWithTheRun() throws Exception {
    Path file = dir.resolve("timeline.json");
    LocalRun.run(Jobs.job("ctr-dnn", keys("trace.file=" + file, "trace.from_step=10", "trace.steps=50")), null,
        Progress.none());
    assertThat(events(file)).filteredOn(e -> e.name().equals("step")).extracting(e -> e.args().getLong("step"))
        .containsExactly(10L, 11L);
  }

  @Test
  void aPlaceThatTakesNoFilesIsRefusedBeforehand() throws Exception {
    Path file = Files.createFile(dir.resolve("file"));
    assertThatThrownBy(() -> LocalRun.run(Jobs.job("ctr-dnn", keys("trace.file=" + file.resolve("t.json"))), null,
        Progress.none())).isInstanceOf(InvalidInput.class).hasMessageContaining("timeline").hasMessageContaining("--trace");
    assertThatThrownBy(() -> Jobs.job("ctr-dnn", keys("trace.steps=0"))).hasStackTraceContaining("steps 1 to 1000");
  }
}
