package io.regatta.training.rank;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import ai.djl.Model;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.GradientCollector;
import io.regatta.core.exchange.Mode;
import io.regatta.core.init.InitializerSpec;
import io.regatta.training.model.DistributedEmbeddingTest;
import io.regatta.training.testing.SharedShards;
import io.vertx.core.json.JsonObject;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Evaluating a model in the middle of training, on ids that training has never seen. */
class EvaluationTest {

  private static final Shape ONE = new Shape(1, 3);

  @ParameterizedTest
  @EnumSource(value = Mode.class, mode = EnumSource.Mode.EXCLUDE, names = "COLLECTIVE")
  void evaluatingChangesNeitherParametersNorRowsNorTheSavedModel(Mode mode, @TempDir Path dir) throws Exception {
    try (SharedShards shards = new SharedShards(Toy.job(new JsonObject().put("shards", 2)
        .put("mode", mode.id())))) {
      shards.run(worker -> {
        try (Model model = Model.newInstance("sum")) {
          model.setBlock(new DistributedEmbeddingTest.SumOfRows(2, -1, "t"));
          try (FleetTrainer trainer = worker.distributedTrainer(model, Toy.config(worker.optimizer()))) {
            trainer.initialize(ONE);
            trainOn(trainer, 5, 6, 7);
            worker.save(trainer, dir.resolve("before"));
            long parameters = trainer.client().digest().join();
            float known = evaluated(trainer, 5, 6, 7);

            float[] row = new float[6];
            double born = 0;
            for (long id : new long[] {100, 101, 102}) {
              InitializerSpec.uniform(-1, 1).fill(1, "t", id, row, 0, 2);
              born += row[0] + row[1];
            }
            float bias = Toy.values(model)[1]; // behind the weight, whose input is zero
            assertThat((double) evaluated(trainer, 100, 101, 102)).isCloseTo(born + bias, within(1e-5));
            evaluated(trainer, 5, 100, 200);
            assertThat(evaluated(trainer, 5, 6, 7)).isEqualTo(known);
            assertThat(trainer.client().digest().join()).isEqualTo(parameters);
            assertThat(shards.status(0).rows().get("t") + shards.status(1).rows().get("t")).isEqualTo(3);
            worker.save(trainer, dir.resolve("after"));
          }
        }
      });
    }
    for (String file : new String[] {"dense.safetensors", "table-t.safetensors"}) {
      assertThat(Files.readAllBytes(dir.resolve("after").resolve(file))).as(file)
          .isEqualTo(Files.readAllBytes(dir.resolve("before").resolve(file)));
    }
  }

  private static void trainOn(FleetTrainer trainer, long... ids) {
    NDList batch = new NDList(trainer.getManager().create(ids, ONE));
    try (GradientCollector collector = trainer.newGradientCollector()) {
      collector.backward(trainer.forward(batch).singletonOrThrow().sum());
    }
    trainer.step();
  }

  private static float evaluated(FleetTrainer trainer, long... ids) {
    return trainer.evaluate(new NDList(trainer.getManager().create(ids, ONE))).singletonOrThrow().getFloat();
  }
}
