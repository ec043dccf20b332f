package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.Model;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.SequentialBlock;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.dataset.Batch;
import ai.djl.training.loss.Loss;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.progress.Progress;
import io.regatta.data.LoaderOptions;
import io.regatta.data.Slots;
import io.regatta.data.TextSource;
import io.regatta.data.format.MultiSlotFormat;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.snapshot.Manifest;
import io.regatta.snapshot.Snapshots;
import io.regatta.snapshot.safetensors.SafetensorsFile;
import io.regatta.training.Worker;
import io.regatta.training.config.JobConfig;
import io.regatta.training.dataset.SlotDataset;
import io.regatta.training.model.DistributedEmbedding;
import io.regatta.training.model.SlotEmbeddings;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.result.RunResult;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Runs in modes without rounds that are stopped and resumed repeatedly. Each example has an id of its own, and each
 * training of it adds the same to that row. So the rows that the servers hold at the end show how often each example
 * was trained.
 */
@ExtendWith(BlockedLoopGuard.class)
class ResumedProgressTest {

  private static final int BATCH = 4;
  /** Whole batches for one to four trainers, so that each training of an example adds the same. */
  private static final int EXAMPLES = 60 * BATCH;
  private static final int EPOCHS = 2;
  private static final int PACE_LIMIT_SECONDS = 60;

  @TempDir
  Path dir;

  /** Steps of rank 0 in this life of the run; afterwards all stop. 0: to the end. */
  private int steps;
  /** Steps of rank 1 for each one of rank 0; 0: each as fast as it can. */
  private int pace;
  /** Steps that rank 0 may make, and those that rank 1 may: neither runs away from the other. */
  private Semaphore ofFirst;
  private Semaphore ofSecond;
  private volatile boolean stopped;

  private RunResult life(int number, int trainers, int servers, String... keys) throws IOException {
    ofFirst = new Semaphore(0);
    ofSecond = new Semaphore(pace);
    stopped = false;
    Path data = dir.resolve("data");
    if (Files.notExists(data)) {
      List<String> lines = new ArrayList<>();
      for (int e = 0; e < EXAMPLES; e++) {
        lines.add("1 " + (1000 + e) + " 1 1000000");
      }
      Files.write(data, lines);
    }
    JsonObject job = new JsonObject().put("job", "progress").put("trainers", trainers).put("servers", servers)
        .put("batch_size", BATCH).put("epochs", EPOCHS).put("compute_threads", 1).put("model_thread_idle_ms", 200)
        .put("staleness_bound", 10_000)
        .put("optimizer", new JsonObject().put("kind", "sgd").put("learning_rate", 1.0))
        .put("snapshots", new JsonObject().put("every_steps", 2).put("keep", 99).put("dir", dir.resolve("snapshots").toString()))
        .put("resume", "auto").put("output", dir.resolve("life-" + number).toString());
    for (int k = 0; k < keys.length; k += 2) {
      job.put(keys[k], keys[k + 1].chars().allMatch(Character::isDigit) ? (Object) Integer.valueOf(keys[k + 1]) : keys[k + 1]);
    }
    return LocalCluster.run(LocalCluster.Options.of(JobConfig.of(job)).withProgram(worker -> train(worker, data))
        .withoutHazelcast().withProgress(Progress.none())).get(0);
  }

  private void train(Worker worker, Path file) throws Exception {
    TextSource lines = new TextSource(new MultiSlotFormat(Slots.builder().id("id").label("y").build()), List.of(file),
        worker.badLines(true));
    try (Model model = Model.newInstance("progress");
        SlotDataset data = new SlotDataset(lines, LoaderOptions.inOrder(BATCH).shard(worker.shardIndex(), worker.shardCount()))) {
      model.setBlock(new SequentialBlock().add(new SlotEmbeddings(List.of(DistributedEmbedding.builder().setTable("ids").setDim(1)
          .optInitializer(InitializerSpec.zeros()).optColumns(0).optInputIndex(0).build()))));
      try (FleetTrainer trainer = worker.distributedTrainer(model,
          new DefaultTrainingConfig(Loss.l1Loss()).optOptimizer(worker.optimizer()))) {
        trainer.initialize(new Shape(BATCH, 1));
        trainer.trainsOn(data);
        int made = 0;
        for (int epoch = 0; epoch < EPOCHS && !stopped; epoch++) {
          for (Batch batch : trainer.iterateDataset(data)) {
            try (batch) {
              Semaphore mine = worker.rank() == 0 ? ofFirst : ofSecond;
              if (pace > 0 && !mine.tryAcquire(PACE_LIMIT_SECONDS, TimeUnit.SECONDS)) {
                throw new AssertionError("the other rank makes no steps");
              }
              EasyTrain.trainBatch(trainer, batch);
              trainer.step();
            }
            made++;
            if (worker.rank() == 0) {
              ofSecond.release(pace);
            } else if (pace > 0 && made % pace == 0) {
              ofFirst.release();
            }
            stopped |= worker.rank() == 0 && made == steps;
            if (stopped) {
              break;
            }
          }
        }
        ofFirst.release(EXAMPLES * EPOCHS);
        ofSecond.release(EXAMPLES * EPOCHS);
        worker.settle(trainer);
      }
    }
  }

  /** How often each example has been trained, and how many were trained so often. */
  private Map<Long, Integer> trained(int life) throws IOException {
    Map<Long, Integer> times = new TreeMap<>();
    try (SafetensorsFile table = SafetensorsFile.open(dir.resolve("life-" + life + "/table-ids.safetensors"))) {
      float[] values = table.floats("values");
      for (float value : values) {
        times.merge(Math.round((double) value * BATCH), 1, Integer::sum);
      }
    }
    return times;
  }

  private Manifest last() throws IOException {
    return Snapshots.latest(dir.resolve("snapshots")).orElseThrow().manifest();
  }

  @ParameterizedTest
  @CsvSource({"async, 3, 2", "half_async, 2, 3", "ssp, 3, 2"})
  void trainsEachExampleOncePerPass_whenTrainersDifferInSpeedAndTheRunIsResumedTwice(String mode, int ratio, int servers)
      throws IOException {
    pace = ratio;
    steps = 9;
    life(1, 2, 2, "mode", mode);
    Manifest first = last();
    assertThat(first.fuzzy()).as("fuzzy: %s", first.trainers()).isFalse();
    assertThat(first.trainers().get(0).progress().localSteps()).isEqualTo(8).isEqualTo(first.step());
    assertThat(first.trainers().get(1).progress().localSteps()).isGreaterThan(8);
    steps = 7;
    life(2, 2, servers, "mode", mode);
    Manifest second = last();
    assertThat(second.trainers().get(0).progress().localSteps()).isEqualTo(14);
    assertThat(second.trainers().get(0).progress().learningRateStep()).isEqualTo(14);
    assertThat(second.trainers().get(1).progress().localSteps()).isGreaterThan(first.trainers().get(1).progress().localSteps());
    steps = 0;
    RunResult end = life(3, 2, 2, "mode", mode);
    assertThat(end.examples()).isEqualTo((long) EPOCHS * EXAMPLES);
    long steps = second.trainers().stream().mapToLong(t -> t.progress().localSteps()).sum();
    assertThat(end.examplesResumed()).isEqualTo(steps * BATCH);
    assertThat(trained(3)).isEqualTo(Map.of((long) EPOCHS, EXAMPLES));
  }

  @ParameterizedTest
  @CsvSource({"async, 3, 1", "ssp, 1, 4", "half_async, 4, 2"})
  void trainsEachExampleOncePerPass_whenTheRunIsResumedByOtherNumbersOfTrainers(String mode, int second, int third) throws IOException {
    pace = 2;
    steps = 6;
    life(1, 2, 2, "mode", mode);
    pace = 0;
    steps = 3;
    life(2, second, 2, "mode", mode);
    steps = 0;
    assertThat(life(3, third, 1, "mode", mode).examples()).isEqualTo((long) EPOCHS * EXAMPLES);
    assertThat(trained(3)).isEqualTo(Map.of((long) EPOCHS, EXAMPLES));
  }

  @Test
  void keepsLocalStepsAndExchangesApart_whenAGeoRunIsResumedTwice() throws IOException {
    steps = 11;
    life(1, 1, 2, "mode", "geo", "k_steps", "3");
    Manifest first = last();
    assertThat(first.step()).isEqualTo(10);
    assertThat(first.trainers().get(0).progress().localSteps()).isEqualTo(9);
    assertThat(first.trainers().get(0).progress().exchanges()).isEqualTo(3);
    assertThat(first.trainers().get(0).clocks()).containsExactly(3L, 3L);
    assertThat(first.trainers().get(0).progress().learningRateStep()).isEqualTo(9);
    steps = 8;
    life(2, 1, 2, "mode", "geo", "k_steps", "3");
    Manifest second = last();
    assertThat(second.step()).isEqualTo(16);
    assertThat(second.trainers().get(0).progress().localSteps()).isEqualTo(15);
    assertThat(second.trainers().get(0).progress().exchanges()).isEqualTo(5);
    steps = 0;
    RunResult end = life(3, 1, 1, "mode", "geo", "k_steps", "3");
    assertThat(end.examples()).isEqualTo((long) EPOCHS * EXAMPLES);
    assertThat(end.examplesResumed()).as("those of the last exchange, not of the last step").isEqualTo(15 * BATCH);
    assertThat(trained(3)).isEqualTo(Map.of((long) EPOCHS, EXAMPLES));
    assertThat(last().step()).isEqualTo((long) EPOCHS * EXAMPLES / BATCH);
  }
}
