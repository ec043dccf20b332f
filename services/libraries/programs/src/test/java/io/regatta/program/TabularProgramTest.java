package io.regatta.program;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.progress.Progress;
import io.regatta.training.config.GpuAssignment;
import io.regatta.training.config.JobConfig;
import io.regatta.training.heter.run.LocalCompute;
import io.regatta.training.result.RunResult;
import io.regatta.training.run.LocalRun;
import io.regatta.training.session.LocalSession;
import io.regatta.training.testing.SharedShards;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Jobs that declare their features, with several ranks and with heter workers, against one process. */
class TabularProgramTest {

  @TempDir
  Path dir;

  private JobConfig job(String model, String more) throws Exception {
    Random random = new Random(8);
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < 2000; i++) {
      int a = random.nextInt(6);
      int b = random.nextInt(6);
      text.append("{\"y\": ").append(random.nextInt(6) < a ? 1 : 0).append(", \"a\": \"v").append(a).append("\", \"b\": ").append(b)
          .append(", \"x\": ").append(random.nextGaussian()).append(", \"s\": [").append(a).append(", ").append(b).append("]}\n");
    }
    Files.writeString(dir.resolve("train.json"), text);
    return JobConfig.of(new JsonObject("""
        {"job": "t", "max_steps": 12, "data": {"dir": "DIR", "format": "json", "test": {"share": 0.2, "by": "hash"}},
         "optimizer": {"kind": "sgd", "learning_rate": 0.1}, "labels": {"y": {}},
         "features": {"a": {"kind": "id"}, "b": {"kind": "id"}, "x": {"kind": "number", "scale": "none"},
           "s": {"kind": "sequence", "max": 3, "table": "b"}},
         "model": {"kind": "MODEL"} MORE}""".replace("DIR", dir.toString()).replace("MODEL", model).replace("MORE", more)));
  }

  @ParameterizedTest
  @ValueSource(strings = {"logistic_regression", "fm", "wide_and_deep", "deepfm", "dcn_v2"})
  void twoRanksInSyncEqualOneWithTwiceTheBatch(String model) throws Exception {
    RunResult one = LocalRun.run(job(model, ", \"batch_size\": 100"), null, Progress.none());
    List<RunResult> two;
    try (SharedShards shards = new SharedShards(job(model, ", \"batch_size\": 50, \"trainers\": 2, \"shards\": 2"))) {
      two = shards.run(null);
    }
    assertThat(two.get(0).examples()).isEqualTo(one.examples()).isEqualTo(1200L);
    assertThat(two.get(1).auc()).isEqualTo(two.get(0).auc());
    assertThat(two.get(0).auc()).isCloseTo(one.auc(), within(2e-4));
    assertThat(two.get(0).loss()).isCloseTo(one.loss(), within(1e-4));
  }

  @Test
  void givesTheSameBits_whenAHeterWorkerComputesTheLayers() throws Exception {
    RunResult whole = LocalRun.run(job("deepfm", heter(0)), null, Progress.none());
    JobConfig job = job("deepfm", heter(1));
    LocalCompute compute = new LocalCompute(job, null).start();
    RunResult cut;
    try (compute) {
      cut = LocalRun.run(new LocalSession(job, compute), null, Progress.none(), null, GpuAssignment.NONE);
    }
    compute.ended().join();
    assertThat(cut.parametersHash()).isNotEmpty().isEqualTo(whole.parametersHash());
    assertThat(cut.loss()).isEqualTo(whole.loss());
  }

  private static String heter(int workers) {
    return ", \"heter\": {\"workers\": " + workers + ", \"part\": \"dense\", \"seed_batches\": true}";
  }
}
