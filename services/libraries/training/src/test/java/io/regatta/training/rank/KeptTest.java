package io.regatta.training.rank;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.Model;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.nn.norm.BatchNorm;
import ai.djl.training.EasyTrain;
import ai.djl.training.dataset.Batch;
import io.regatta.snapshot.SnapshotDirectory;
import io.regatta.training.TrainingProgram;
import io.regatta.training.testing.SharedShards;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The trainers' own state is restored from a snapshot, too. */
class KeptTest {

  /** The running means of each rank at the end, before anything averages them; the net's own initial ones are zeros and ones. */
  private static Map<Integer, Map<String, float[]>> run(JsonObject more) {
    Map<Integer, Map<String, float[]>> ends = new ConcurrentHashMap<>();
    TrainingProgram program = worker -> {
      Model model = Model.newInstance("normalised");
      model.setBlock(new SequentialBlock().add(Linear.builder().setUnits(6).build()).add(BatchNorm.builder().build())
          .add(Linear.builder().setUnits(1).build()));
      try (model; FleetTrainer trainer = worker.distributedTrainer(model, Toy.config(worker.optimizer()))) {
        trainer.initialize(Toy.input(10));
        for (Batch batch : trainer.iterateDataset(Toy.data(trainer.getManager(), 120, 10, worker.shardIndex(), worker.shardCount()))) {
          EasyTrain.trainBatch(trainer, batch);
          trainer.step();
          batch.close();
        }
        ends.put(worker.rank(), new LinkedHashMap<>(trainer.frozenValues()));
      }
    };
    JsonObject job = new JsonObject().put("mode", "collective").put("trainers", 2).put("batch_size", 10)
        .put("optimizer", new JsonObject().put("kind", "momentum").put("learning_rate", 0.02)).mergeIn(more, true);
    try (SharedShards ranks = new SharedShards(Toy.job(job))) {
      ranks.run(program);
    }
    return ends;
  }

  @Test
  void runningMeansAreInSnapshots(@TempDir Path dir) throws Exception {
    Map<Integer, Map<String, float[]>> whole = run(new JsonObject().put("snapshots", new JsonObject().put("dir", dir.toString())
        .put("every_steps", 4)));
    Path from = dir.resolve("step-000000004");
    SnapshotDirectory.verify(from);
    assertThat(SnapshotDirectory.files(from)).extracting(file -> file.file()).contains("trainers.safetensors");
    Map<Integer, Map<String, float[]>> resumed = run(new JsonObject().put("resume", from.toString()));
    assertThat(whole.get(0)).hasSize(2);
    whole.get(0).forEach((name, values) -> assertThat(resumed.get(0).get(name)).as(name).containsExactly(values));
  }
}
