package io.regatta.training.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.snapshot.ManifestFile;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Trainer 1 of a job without rounds, which makes more steps than trainer 0. */
class KnownModelsTest {

  private static final long STEPS = 80;

  @TempDir
  private Path dir;
  private final KnownModels known = new KnownModels();

  /** A model that trainer 0 saves. */
  private void save(String run, long steps) throws Exception {
    JsonObject manifest = new JsonObject().put("kind", "model").put("run", run).put("step", steps);
    ManifestFile.write(dir.resolve(ManifestFile.NAME), manifest);
  }

  private boolean isSaved() {
    return known.isSaved(dir, "run-1", STEPS);
  }

  @Test
  void when_trainer_0_has_saved_the_model_and_left_then_it_is_saved_though_it_has_made_fewer_steps() throws Exception {
    known.begin(dir);
    assertThat(isSaved()).isFalse();
    save("run-1", 60);
    assertThat(isSaved()).isTrue();
  }

  @Test
  void when_the_run_has_trained_since_a_save_then_it_is_saved_once_trainer_0_has_saved_again() throws Exception {
    known.begin(dir);
    save("run-1", 30);
    known.note(dir, 40);
    assertThat(known.isSaved(dir, "run-1", 40)).as("nothing was trained since").isTrue();
    assertThat(isSaved()).isFalse();
    save("run-1", 60);
    assertThat(isSaved()).isTrue();
  }

  /** A resumed run keeps its id. */
  @Test
  void when_a_model_is_from_an_earlier_life_of_the_run_or_from_another_run_then_it_is_not_saved() throws Exception {
    save("run-1", 1000);
    known.begin(dir);
    assertThat(isSaved()).isFalse();
    save("run-2", 1000);
    assertThat(isSaved()).isFalse();
  }

  @Test
  void when_a_manifest_is_damaged_then_no_model_is_saved() throws Exception {
    known.begin(dir);
    Files.writeString(dir.resolve(ManifestFile.NAME), "{");
    assertThat(isSaved()).isFalse();
  }
}
