package io.regatta.training;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.Model;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import ai.djl.training.loss.Loss;
import io.regatta.core.collective.ReduceOp;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.metrics.BinaryMetrics;
import io.regatta.core.progress.Progress;
import io.regatta.node.settings.Setting;
import io.regatta.training.config.JobConfig;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.run.LocalRun;
import io.regatta.training.testing.SharedShards;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class WorkerTest {

  private static JobConfig job(JsonObject more) {
    return JobConfig.of(new JsonObject().put("job", "worker").mergeIn(more, true));
  }

  /** Program settings as a record. */
  public record Own(@Setting(value = "3", doc = "width") int width, @Setting(doc = "layers") List<Integer> layers) {}

  @Test
  void theProgramsOwnSectionIsBoundToItsRecord() {
    JobConfig job = job(new JsonObject().put("settings", new JsonObject().put("layers", List.of(4, 2))));
    LocalRun.run(job, worker -> assertThat(worker.settings(Own.class)).isEqualTo(new Own(3, List.of(4, 2))),
        Progress.none());
    JobConfig slip = job(new JsonObject().put("settings", new JsonObject().put("widht", 4)));
    assertThatThrownBy(() -> LocalRun.run(slip, worker -> worker.settings(Own.class), Progress.none()))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("widht").hasMessageContaining("width");
  }

  @Test
  void settingsThatAProgramNeverAsksForAreRefused() {
    JobConfig job = job(new JsonObject().put("settings", new JsonObject().put("width", 4).put("depth", 2)));
    AtomicBoolean trained = new AtomicBoolean();
    TrainingProgram deaf = worker -> {
      try (Model model = Model.newInstance("m")) {
        model.setBlock(Linear.builder().setUnits(1).build());
        try (FleetTrainer trainer = worker.distributedTrainer(model,
            new DefaultTrainingConfig(Loss.l2Loss()).optOptimizer(worker.optimizer()))) {
          trained.set(true);
        }
      }
    };
    assertThatThrownBy(() -> LocalRun.run(job, deaf, Progress.none())).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("'settings.depth', 'settings.width'").message().doesNotContain("\n");
    assertThat(trained).isFalse();
    assertThatThrownBy(() -> LocalRun.run(job, worker -> { }, Progress.none())).as("without a trainer, at the end")
        .isInstanceOf(InvalidInput.class).hasMessageContaining("'settings.depth'");
  }

  /** Says what its settings are, and so is never run with others. */
  public static final class Declaring implements TrainingProgram {
    @Override
    public Class<? extends Record> settings() {
      return Own.class;
    }

    @Override
    public void check(JobConfig job) {
      if (job.settingsAs(Own.class).width() > 9) {
        throw new InvalidInput("too wide");
      }
    }

    @Override
    public void run(Worker worker) {
      throw new IllegalStateException("was run");
    }
  }

  @Test
  void aProgramSeesItsJobBeforeAnythingStarts() {
    for (Map<String, Integer> bad : List.of(Map.of("widht", 4), Map.of("width", 10))) {
      JobConfig job = job(new JsonObject().put("program", Declaring.class.getName())
          .put("settings", new JsonObject(new java.util.HashMap<>(bad))));
      assertThatThrownBy(() -> LocalRun.run(job, null, Progress.none())).isInstanceOf(InvalidInput.class)
          .hasMessageContaining(bad.containsKey("width") ? "too wide" : "widht");
    }
  }

  @Test
  void aShardThatIsLostWhenEverythingIsDoneDoesNotUndoTheRun() {
    try (SharedShards shards = new SharedShards(job(new JsonObject().put("trainers", 2)))) {
      shards.loseAtTheEnd();
      assertThat(shards.run(Worker::barrier)).hasSize(2);
    }
  }

  @Test
  void allReduceCombinesReplicasAndRanks() {
    Map<Integer, double[]> seen = new ConcurrentHashMap<>();
    try (SharedShards shards = new SharedShards(job(new JsonObject().put("trainers", 2).put("threads", 2)))) {
      shards.run(worker -> {
        double[] mine = {worker.shardIndex(), 10 * worker.shardIndex()};
        double[] all = new double[5];
        all[0] = worker.allReduce(mine, ReduceOp.SUM)[0];
        all[1] = worker.allReduce(mine, ReduceOp.MEAN)[1];
        all[2] = worker.allReduce(mine, ReduceOp.MAX)[0];
        all[3] = worker.allReduce(mine, ReduceOp.MIN)[1];
        worker.barrier();
        all[4] = worker.shardCount();
        seen.put(worker.shardIndex(), all);
      });
    }
    assertThat(seen).hasSize(4).allSatisfy((k, v) -> assertThat(v).containsExactly(6, 15, 3, 0, 4));
  }

  @Test
  void globalMetricsAreThoseOfOneProcess() {
    BinaryMetrics one = new BinaryMetrics(BinaryMetrics.BUCKETS);
    for (int i = 0; i < 300; i++) {
      one.add((i * 37 % 100) / 100f, i % 3 == 0 ? 1 : 0);
    }
    try (SharedShards shards = new SharedShards(job(new JsonObject().put("trainers", 3)))) {
      shards.run(worker -> {
        BinaryMetrics mine = new BinaryMetrics(BinaryMetrics.BUCKETS);
        for (int i = worker.rank(); i < 300; i += 3) {
          mine.add((i * 37 % 100) / 100f, i % 3 == 0 ? 1 : 0);
        }
        assertThat(worker.global(mine).sums()).containsExactly(one.sums());
      });
    }
  }

  @Test
  void partsOfADataSetConcatenateToTheWhole() {
    List<Float> seen = java.util.Collections.synchronizedList(new ArrayList<>());
    List<String> files = java.util.Collections.synchronizedList(new ArrayList<>());
    try (SharedShards shards = new SharedShards(job(new JsonObject().put("trainers", 3)))) {
      shards.run(worker -> {
        try (NDManager manager = NDManager.newBaseManager()) {
          Dataset part = worker.shard((Dataset) data(manager, 10, 2));
          for (Batch batch : part.getData(manager)) {
            try (batch) {
              for (float v : batch.getLabels().get(0).toFloatArray()) {
                seen.add(v);
              }
            }
          }
        }
        files.addAll(worker.shard(List.of("a", "b", "c", "d")));
        assertThat(worker.shard(List.of("a", "b", "c", "d"))).hasSize(worker.rank() == 0 ? 2 : 1);
      });
    }
    assertThat(seen).containsExactlyInAnyOrder(0f, 1f, 2f, 3f, 4f, 5f, 6f, 7f, 8f, 9f);
    assertThat(files).containsExactlyInAnyOrder("a", "b", "c", "d");
  }

  private static ArrayDataset data(NDManager manager, int rows, int batch) {
    float[] x = new float[rows * 2];
    float[] y = new float[rows];
    for (int i = 0; i < rows; i++) {
      x[2 * i] = i % 3;
      y[i] = i;
    }
    return new ArrayDataset.Builder().setData(manager.create(x, new Shape(rows, 2)))
        .optLabels(manager.create(y, new Shape(rows, 1))).setSampling(batch, false).build();
  }

  @Test
  void trainFromDatasetFetchesFiguresAndBreaksTimeDown() {
    List<Map<String, Double>> fetched = new ArrayList<>();
    LocalRun.run(job(new JsonObject()), worker -> {
      try (Model model = Model.newInstance("m")) {
        model.setBlock(Linear.builder().setUnits(1).build());
        try (FleetTrainer trainer = worker.distributedTrainer(model,
            new DefaultTrainingConfig(Loss.l2Loss()).optOptimizer(worker.optimizer()))) {
          trainer.initialize(new Shape(2, 2));
          TrainingReport report = worker.trainFromDataset(trainer, data(trainer.getManager(), 20, 2),
              (step, values) -> fetched.add(values), 4, true);
          assertThat(report.steps()).isEqualTo(10);
          assertThat(report.examples()).isEqualTo(20);
          assertThat(report.loss()).isPositive();
          double parts = report.readSeconds() + report.pullSeconds() + report.forwardSeconds()
              + report.backwardSeconds() + report.pushSeconds();
          assertThat(parts).isPositive().isLessThanOrEqualTo(report.seconds());
        }
      }
    }, Progress.none());
    assertThat(fetched).hasSize(2).allSatisfy(f -> assertThat(f).containsOnlyKeys("loss", "batch_loss",
        "examples_per_second",
        "read_ms", "pull_ms", "forward_ms", "backward_ms", "push_ms"));
  }

  @Test
  void aSecondTrainerInARunIsRefused() {
    assertThatThrownBy(() -> LocalRun.run(job(new JsonObject()), worker -> {
      for (int i = 0; i < 2; i++) {
        Model model = Model.newInstance("m");
        model.setBlock(Linear.builder().setUnits(1).build());
        worker.distributedTrainer(model, new DefaultTrainingConfig(Loss.l2Loss()).optOptimizer(worker.optimizer()));
      }
    }, Progress.none())).isInstanceOf(InvalidInput.class).hasMessageContaining("a run trains one model");
  }

  @Test
  void programsAreLoadedByNameAndSlipsAreNamed() {
    assertThatThrownBy(() -> LocalRun.run(job(new JsonObject().put("program", "no.such.Program")), null,
        Progress.none())).isInstanceOf(InvalidInput.class).hasMessageContaining("no.such.Program was not found");
    assertThatThrownBy(() -> LocalRun.run(job(new JsonObject().put("program", "java.lang.String")), null,
        Progress.none())).isInstanceOf(InvalidInput.class).hasMessageContaining("does not implement");
    assertThatThrownBy(() -> LocalRun.run(job(new JsonObject().put("program", "x").put("program_jar", "no.jar")), null,
        Progress.none())).isInstanceOf(InvalidInput.class).hasMessageContaining("no.jar does not exist");
  }
}
