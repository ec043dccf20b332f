package io.regatta.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.progress.Progress;
import io.regatta.training.config.JobConfig;
import io.regatta.training.result.RunResult;
import io.regatta.training.run.LocalRun;
import io.regatta.training.testing.Jobs;
import io.regatta.training.testing.SharedShards;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** AUC by group of one model, evaluated by one rank and by several. */
class GroupAucRanksTest {

  @TempDir
  Path dir;

  private JobConfig job(String... keys) throws Exception {
    List<String> all = new ArrayList<>(List.of("data.dir=" + dir.resolve("criteo"), "output=",
        "settings.train_rows=4000", "settings.test_rows=5000", "settings.hidden=16,8", "settings.gauc_slot=8", "mode=sync", "overlap=false",
        "compute_threads=1", "servers=1"));
    all.addAll(List.of(keys));
    return Jobs.job("ctr-dnn", all.toArray(String[]::new));
  }

  /** Without training the model is the same whatever the ranks, and all ranks together evaluate the same batches. */
  @Test
  void severalRanksHaveTheBitsOfOne() throws Exception {
    Map<String, Double> shown = new TreeMap<>();
    RunResult alone = LocalRun.run(job("epochs=0", "trainers=1"), null, new Progress() {
      @Override
      public void metric(String name, double value) {
        shown.put(name, value);
      }
    });
    double gauc = alone.metrics().get("gauc");
    assertThat(gauc).isBetween(0.3, 0.7);
    assertThat(alone.metrics().get("gauc_groups")).isGreaterThan(10);
    assertThat(shown).containsEntry("gauc", gauc).containsEntry("auc", alone.auc());
    assertThat(alone.toString()).contains(String.format("gauc %.5f", gauc));
    assertThat(alone.toJson().getJsonObject("metrics").getDouble("gauc")).isEqualTo(gauc);

    for (int trainers : new int[] {2, 3}) {
      try (SharedShards shards = new SharedShards(job("epochs=0", "trainers=" + trainers))) {
        assertThat(shards.run(null)).hasSize(trainers).allSatisfy(result -> {
          assertThat(result.auc()).isEqualTo(alone.auc());
          assertThat(result.metrics().get("gauc")).isEqualTo(gauc);
        });
      }
    }
  }

  @Test
  void trainedRanksAgree() throws Exception {
    try (SharedShards shards = new SharedShards(job("trainers=2", "threads=2", "batch_size=100", "epochs=1"))) {
      List<RunResult> results = shards.run(null);
      assertThat(results.get(1).metrics().get("gauc")).isEqualTo(results.get(0).metrics().get("gauc"))
          .isBetween(0.4, 0.9);
    }
  }

  @Test
  void aSlotThatTheDataDoNotHaveIsRefusedBeforeAnythingStarts() throws Exception {
    JobConfig job = job("settings.gauc_slot=26");
    assertThatThrownBy(() -> new CtrDnn().check(job)).isInstanceOf(InvalidInput.class).hasMessageContaining("26 slots");
  }
}
