package io.regatta.program;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.progress.Progress;
import io.regatta.data.testing.DataSets;
import io.regatta.training.result.RunResult;
import io.regatta.training.run.LocalRun;
import io.regatta.training.testing.Jobs;
import io.regatta.training.testing.SharedShards;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Data dealt out to two ranks train like the same data in one process. */
class TwoRanksTest {

  @TempDir
  Path dir;

  @Test
  void twoRanksInSyncEqualOneWithTwiceTheBatch() throws Exception {
    String data = "data.dir=" + DataSets.directory("adult_census");
    Path alone = dir.resolve("alone");
    Path together = dir.resolve("together");
    RunResult one = LocalRun.run(Jobs.job("census", data, "batch_size=128", "max_steps=100", "output=" + alone), null,
        Progress.none());
    List<RunResult> two;
    try (SharedShards shards = new SharedShards(Jobs.job("census", data, "max_steps=100", "output=" + together))) {
      two = shards.run(null);
    }

    assertThat(two.get(0).examples()).isEqualTo(one.examples()).isEqualTo(12_800);
    assertThat(two.get(1).auc()).isEqualTo(two.get(0).auc());
    assertThat(distance(dense(together), dense(alone))).isLessThan(1e-4);
    assertThat(distance(rows(together, "embedding"), rows(alone, "embedding"))).isLessThan(1e-4);
    assertThat(distance(rows(together, "wide"), rows(alone, "wide"))).isLessThan(1e-4);
  }

  private static Map<String, float[]> dense(Path model) throws IOException {
    return Safetensors.floats(model.resolve("dense.safetensors"));
  }

  private static Map<String, float[]> rows(Path model, String table) throws IOException {
    Path file = model.resolve("table-" + table + ".safetensors");
    long[] ids = Safetensors.longs(file, "ids");
    float[] values = Safetensors.floats(file).get("values");
    int dim = values.length / ids.length;
    Map<String, float[]> rows = new HashMap<>();
    for (int i = 0; i < ids.length; i++) {
      rows.put(String.valueOf(ids[i]), Arrays.copyOfRange(values, i * dim, (i + 1) * dim));
    }
    return rows;
  }

  /** L2 norm of the difference, relative to that of {@code reference}. */
  private static double distance(Map<String, float[]> actual, Map<String, float[]> reference) {
    assertThat(actual.keySet()).isEqualTo(reference.keySet());
    double difference = 0;
    double norm = 0;
    for (Map.Entry<String, float[]> entry : reference.entrySet()) {
      float[] other = actual.get(entry.getKey());
      for (int i = 0; i < other.length; i++) {
        difference += Math.pow(other[i] - entry.getValue()[i], 2);
        norm += Math.pow(entry.getValue()[i], 2);
      }
    }
    return Math.sqrt(difference / norm);
  }
}
