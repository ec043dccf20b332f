package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.Model;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.EasyTrain;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.dataset.Batch;
import ai.djl.training.dataset.Dataset;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.progress.Progress;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.node.testing.BlockedLoopGuard;
import io.regatta.training.Worker;
import io.regatta.training.config.JobConfig;
import io.regatta.training.model.DistributedEmbedding;
import io.regatta.training.model.SlotEmbeddings;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.result.RunResult;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

/** A program that shrinks its table within passes, and runs that resume from snapshots between two of these shrinks. */
@ExtendWith(BlockedLoopGuard.class)
class ShrinkResumeTest {

  private static final int BATCH = 8;
  private static final int STEPS_PER_PASS = 8;
  private static final int STEPS_PER_DAY = 4;
  private static final int RANKS = 2;

  @TempDir
  Path dir;

  /** Removed rows of the shrinks of rank 0. */
  private final List<Shrunk> shrinks = Collections.synchronizedList(new ArrayList<>());

  private RunResult run(String output, String resume) {
    shrinks.clear();
    JsonObject life = new JsonObject().put("statistics", true).put("shrink_unseen_days", 1);
    JobConfig job = JobConfig.of(new JsonObject().put("job", "days").put("mode", "sync").put("trainers", RANKS).put("servers", 2)
        .put("batch_size", BATCH).put("epochs", 3).put("compute_threads", 1).put("model_thread_idle_ms", 200)
        .put("tables", new JsonObject().put("ids", new JsonObject().put("life", life)))
        .put("snapshots", new JsonObject().put("every_steps", 6).put("keep", 9))
        .put("output", dir.resolve(output).toString()).put("resume", resume));
    return LocalCluster.run(LocalCluster.Options.of(job).withProgram(this::train).withoutHazelcast().withProgress(Progress.none()))
        .get(0);
  }

  private void train(Worker worker) throws Exception {
    try (Model model = Model.newInstance("days")) {
      model.setBlock(new SequentialBlock().add(new SlotEmbeddings(List.of(DistributedEmbedding.builder().setTable("ids").setDim(2)
          .optInitializer(InitializerSpec.uniform(1, 2)).optColumns(0, 1).optInputIndex(0).build())))
          .add(Linear.builder().setUnits(1).build()));
      try (FleetTrainer trainer = worker.distributedTrainer(model, LineProgram.config(worker))) {
        trainer.initialize(new Shape(BATCH, 2));
        Dataset examples = worker.shard(examples(trainer.getManager()));
        for (int epoch = 0; epoch < worker.job().epochs(); epoch++) {
          for (Batch batch : trainer.iterateDataset(examples)) {
            try (batch) {
              EasyTrain.trainBatch(trainer, batch);
              trainer.step();
            }
            shrinkAtTheEndOfADay(worker, trainer);
          }
        }
      }
    }
  }

  private void shrinkAtTheEndOfADay(Worker worker, FleetTrainer trainer) {
    if (trainer.steps() % STEPS_PER_DAY == 0) {
      Shrunk shrunk = worker.shrink(trainer, true);
      if (worker.rank() == 0) {
        shrinks.add(shrunk);
      }
    }
  }

  /** An id that many share, and one that comes once in a pass. */
  private static ArrayDataset examples(NDManager manager) {
    int n = RANKS * BATCH * STEPS_PER_PASS;
    long[] ids = new long[2 * n];
    float[] labels = new float[n];
    for (int e = 0; e < n; e++) {
      ids[2 * e] = e % 4;
      ids[2 * e + 1] = 1000 + e;
      labels[e] = e % 2;
    }
    return new ArrayDataset.Builder().setData(manager.create(ids, new Shape(n, 2)))
        .optLabels(manager.create(labels, new Shape(n, 1))).setSampling(BATCH, false).build();
  }

  @Test
  void shrinks_go_on_where_the_run_stopped() {
    RunResult unbroken = run("unbroken", "");
    List<Shrunk> all = List.copyOf(shrinks);
    assertThat(all).hasSize(6);
    assertThat(all.get(5).unseen()).isPositive();
    for (int step : new int[] {6, 18}) {
      RunResult resumed = run("from-" + step, dir.resolve(String.format("unbroken/step-%09d", step)).toString());
      assertThat(shrinks).as("from step %d", step).isEqualTo(all.subList(step / STEPS_PER_DAY, all.size()));
      assertThat(resumed.parametersHash()).as("from step %d", step).isEqualTo(unbroken.parametersHash());
    }
  }
}
