package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.Model;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.EasyTrain;
import ai.djl.training.dataset.ArrayDataset;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.progress.Progress;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.training.TrainingProgram;
import io.regatta.training.Worker;
import io.regatta.training.config.JobConfig;
import io.regatta.training.model.DistributedEmbedding;
import io.regatta.training.model.SlotEmbeddings;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.result.RunResult;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Rows are admitted, counted, age and go while two trainers train on two servers for some days. */
@ExtendWith(BlockedLoopGuard.class)
class TableLifeTest {

  private static final int BATCH = 8;
  private static final int BATCHES = 4;
  private static final int COMMON = 16;

  @TempDir
  static Path dir;

  /** The results at one rank. */
  private record Seen(List<Shrunk> shrinks, float[] rare) {}

  @ParameterizedTest
  @EnumSource(value = Mode.class, names = {"SYNC", "ASYNC"})
  void rows_come_and_go_the_same_for_everybody(Mode mode) {
    JsonObject life = new JsonObject().put("statistics", true).put("admit_count", 2).put("shrink_unseen_days", 1);
    JobConfig job = JobConfig.of(new JsonObject().put("job", "days").put("mode", mode.name().toLowerCase())
        .put("trainers", 2).put("servers", 2).put("batch_size", BATCH).put("compute_threads", 1)
        .put("model_thread_idle_ms", 200).put("tables", new JsonObject().put("ids", new JsonObject().put("life", life))));
    ConcurrentLinkedQueue<Seen> seen = new ConcurrentLinkedQueue<>();
    TrainingProgram program = worker -> {
      try (Model model = Model.newInstance("days")) {
        SlotEmbeddings slots = new SlotEmbeddings(List.of(DistributedEmbedding.builder().setTable("ids").setDim(2)
            .optInitializer(InitializerSpec.uniform(1, 2)).optColumns(0, 1).optInputIndex(0).build()));
        model.setBlock(new SequentialBlock().add(slots).add(Linear.builder().setUnits(1).build()));
        try (FleetTrainer trainer = worker.distributedTrainer(model, LineProgram.config(worker))) {
          trainer.initialize(new Shape(BATCH, 2));
          day(worker, trainer, true);
          Shrunk first = worker.shrink(trainer, true);
          day(worker, trainer, false);
          Shrunk second = worker.shrink(trainer, true);
          try (NDManager manager = trainer.getManager().newSubManager()) {
            NDList rare = new NDList(manager.create(new long[] {1_000_000, 1_000_001}, new Shape(1, 2)));
            seen.add(new Seen(List.of(first, second), slots.forward(
                new ai.djl.training.ParameterStore(manager, false), rare, false).singletonOrThrow().toFloatArray()));
          }
          worker.settle(trainer);
        }
      }
    };
    LocalCluster.run(LocalCluster.Options.of(job).withProgram(program).withoutHazelcast()
        .withProgress(Progress.none()));
    int rareIds = 2 * BATCHES * BATCH;
    assertThat(seen).hasSize(2).allSatisfy(s -> {
      assertThat(s.shrinks()).containsExactly(new Shrunk(0, 0, 0, COMMON + rareIds), new Shrunk(0, rareIds, 0, COMMON));
      assertThat(s.rare()).containsOnly(0); // seen once, never admitted, and gone
    });
  }

  /** Statistics, admission by chance and shrinks by score between two days: the same bits for any number of shards. */
  @Test
  void a_program_trains_day_after_day_and_shards_make_no_difference() {
    List<String> results = new ArrayList<>();
    for (int shards : new int[] {1, 3}) {
      JobConfig job = Jobs.wideAndDeep(dir, "mode=sync", "epochs=2", "settings.train_rows=2000",
          "shrink_each_pass=true", "servers=1",
          "shards=" + shards, "tables.embedding.life.statistics=true", "tables.embedding.life.admit_probability=0.4",
          "tables.embedding.life.shrink_score=6", "output=");
      RunResult first = LocalCluster.run(LocalCluster.Options.of(job).withoutHazelcast()
          .withProgress(Progress.none())).get(0);
      assertThat(first.metrics().get("rows_removed")).isPositive();
      assertThat(first.auc()).isBetween(0.5, 0.77);
      results.add(first.metrics().get("rows_removed") + " " + first.parametersHash());
    }
    assertThat(results.get(1)).isEqualTo(results.get(0));
  }

  /** A day's job that is tried with a few steps: its passes without examples must not let the rows go. */
  @Test
  void passes_without_examples_are_no_days() {
    List<String> results = new ArrayList<>();
    for (int epochs : new int[] {1, 4}) {
      JobConfig job = Jobs.wideAndDeep(dir, "mode=sync", "epochs=" + epochs, "max_steps=3", "settings.train_rows=2000",
          "shrink_each_pass=true", "servers=1", "tables.embedding.life.statistics=true",
          "tables.embedding.life.shrink_unseen_days=1", "output=");
      RunResult run = LocalCluster.run(LocalCluster.Options.of(job).withoutHazelcast().withProgress(Progress.none())).get(0);
      results.add(run.metrics().get("rows_removed") + " " + run.parametersHash());
    }
    assertThat(results.get(1)).isEqualTo(results.get(0));
  }

  /** One pass: an id that all examples share among a few, and in the second slot on the first day one that is new. */
  private static void day(Worker worker, FleetTrainer trainer, boolean rare) throws Exception {
    int examples = BATCH * BATCHES;
    long[] ids = new long[2 * examples];
    float[] labels = new float[examples];
    for (int e = 0; e < examples; e++) {
      ids[2 * e] = e % COMMON;
      ids[2 * e + 1] = rare ? 1_000_000 + worker.rank() * examples + e : (e + 1) % COMMON;
      labels[e] = e % 2;
    }
    NDManager manager = trainer.getManager();
    EasyTrain.fit(trainer, 1, new ArrayDataset.Builder().setData(manager.create(ids, new Shape(examples, 2)))
        .optLabels(manager.create(labels, new Shape(examples, 1))).setSampling(BATCH, false).build(), null);
  }
}
