package io.regatta.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.exchange.OptimizerUpdates;
import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.exchange.TrainerProgress.Part;
import io.regatta.core.exchange.TrainerProgress.Replica;
import io.regatta.core.model.Sharding;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The two formats of a manifest: the one that is written, and the older one, whose trainers have one number for all counts. */
class ManifestTest {

  private static final ModelLayout MODEL = ModelLayout.of(new JsonObject("""
      {"digest": "00", "seed": 1, "min_block": 8192, "dense": [], "optimizer": "sgd", "slots": 0,
       "tables": [{"table": "words", "dim": 2, "optimizer": "adam", "slots": 2, "statistics": 0}]}"""), new Sharding(2, 0, 0));
  private static final List<FileEntry> FILES = List.of(new FileEntry("a", 1, "00"), new FileEntry("b", 1, "00"));

  @Test
  void keepsEachCountOfEachTrainer() {
    Manifest.Trainer first = new Manifest.Trainer(0, 7, new TrainerProgress(90, 30, 91, 1445, List.of(
        new Replica(90, List.of(new Part(1, 0, 2, 12))), new Replica(88, List.of(new Part(0, 1, 3, 4), new Part(1, 1, 2, 0))))),
        List.of(31L, 32L), List.of(5L, 6L), new JsonObject());
    Manifest.Trainer second = first.as(1);
    Manifest written = new Manifest("job", "a1", "geo", SnapshotKind.FULL, 90, -1, 61, new OptimizerUpdates(61, Map.of("words", 11L)),
        true, new ExampleCounts(2890, 40, 16), "", "", MODEL, List.of(first, second), FILES, "0c", List.of());
    JsonObject json = new JsonObject(written.toJson().encode());
    assertThat(json.getString("format")).isEqualTo("regatta-snapshot-2");
    assertThat(Manifest.of(Path.of("dir"), json)).isEqualTo(written);
    assertThat(first.clock()).isEqualTo(32);
  }

  @Test
  void says_that_examples_are_not_known_when_a_trainer_does_not_tell_them() {
    Manifest.Trainer silent = new Manifest.Trainer(1, 3, new TrainerProgress(40, 40, 40, List.of()), List.of(),
        List.of(), new JsonObject());
    Manifest written = new Manifest("job", "a1", "async", SnapshotKind.FULL, 90, -1, 61, false, "", "", MODEL,
        List.of(silent), FILES);
    JsonObject json = new JsonObject(written.toJson().encode());
    assertThat(json.getJsonObject("examples").getValue("trained")).isNull();
    assertThat(Manifest.of(Path.of("dir"), json)).isEqualTo(written);
  }

  @Test
  void readsVersion1_withOneNumberForAllCounts() {
    JsonObject json = new Manifest("job", "a1", "async", SnapshotKind.FULL, 90, -1, 61, false, "", "", MODEL, List.of(), FILES).toJson()
        .put("format", "regatta-snapshot-1");
    json.remove("optimizer_updates");
    json.remove("examples");
    json.getJsonArray("trainers").add(new JsonObject("""
        {"rank": 1, "incarnation": 3, "steps": 40, "sequences": [41, 42], "cursor": {"pass": 2}}"""));
    Manifest read = Manifest.of(Path.of("dir"), new JsonObject(json.encode()));
    assertThat(read.updates()).isEqualTo(new OptimizerUpdates(61, Map.of("words", 61L)));
    assertThat(read.examples()).isEqualTo(ExampleCounts.UNKNOWN);
    assertThat(read.trainers()).containsExactly(new Manifest.Trainer(1, 3, new TrainerProgress(40, 40, 40, List.of()),
        List.of(40L, 40L), List.of(41L, 42L), new JsonObject().put("pass", 2)));
  }
}
