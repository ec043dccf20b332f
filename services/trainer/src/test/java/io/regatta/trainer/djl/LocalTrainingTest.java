package io.regatta.trainer.djl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.training.EasyTrain;
import ai.djl.training.GradientCollector;
import ai.djl.training.Trainer;
import ai.djl.training.TrainingConfig;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.dataset.Batch;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.trainer.config.Strategy;
import io.regatta.trainer.session.LocalSession;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** One rank on shards in this process, against DJL's own training. */
class LocalTrainingTest {

  private static final int ROWS = 200;
  private static final int BATCH = 20;

  @BeforeAll
  static void engine() {
    Engines.start("auto", 1);
  }

  private static float[] easyTrained(RegattaOptimizer optimizer, int epochs) throws Exception {
    try (LocalSession session = new LocalSession(Toy.job());
        Model model = Toy.model();
        FleetTrainer trainer = new FleetTrainer(model, Toy.config(optimizer), Strategy.sync(),
            ReplicaContext.single(session))) {
      trainer.initialize(Toy.input(BATCH));
      EasyTrain.fit(trainer, epochs, Toy.data(trainer.getManager(), ROWS, BATCH, 0, 1), null);
      assertThat(trainer.steps()).isEqualTo((long) epochs * ROWS / BATCH);
      return Toy.values(model);
    }
  }

  /** DJL's own trainer and optimizer, from the values that ours starts with. */
  private static float[] stockTrained(float rate, int epochs) throws Exception {
    TrainingConfig config =
        Toy.config(Optimizer.sgd().setLearningRateTracker(Tracker.fixed(rate)).build());
    try (Model model = Toy.model(); Trainer trainer = model.newTrainer(config)) {
      Engines.seeded(Toy.job().seed(), () -> {
        trainer.initialize(Toy.input(BATCH));
        return null;
      });
      EasyTrain.fit(trainer, epochs, Toy.data(trainer.getManager(), ROWS, BATCH, 0, 1), null);
      return Toy.values(model);
    }
  }

  @Test
  void sgdEqualsStockDjlAfter200Steps() throws Exception {
    float[] ours = easyTrained(new Sgd(0.05), 20);
    float[] stock = stockTrained(0.05f, 20);
    assertThat(Toy.distance(ours, stock)).isLessThanOrEqualTo(1e-6);
    assertThat(Toy.distance(ours, easyTrained(new Sgd(0.05), 0))).as("has moved").isGreaterThan(0.1);
  }

  @Test
  void twoRunsAndAHandWrittenLoopGiveTheSameBits() throws Exception {
    float[] once = easyTrained(new Adam(0.01), 3);
    assertThat(easyTrained(new Adam(0.01), 3)).containsExactly(once);
    try (LocalSession session = new LocalSession(Toy.job());
        Model model = Toy.model();
        FleetTrainer trainer = new FleetTrainer(model, Toy.config(new Adam(0.01)), Strategy.async(),
            ReplicaContext.single(session))) {
      trainer.initialize(Toy.input(BATCH));
      ArrayDataset data = Toy.data(trainer.getManager(), ROWS, BATCH, 0, 1);
      for (int epoch = 0; epoch < 3; epoch++) {
        for (Batch batch : data.getData(trainer.getManager())) {
          try (batch) {
            try (GradientCollector collector = trainer.newGradientCollector()) {
              NDArray loss = trainer.getLoss().evaluate(batch.getLabels(), trainer.forward(batch.getData()));
              collector.backward(loss);
            }
            trainer.step();
          }
        }
      }
      assertThat(Toy.values(model)).containsExactly(once);
    }
  }

  @Test
  void aStockOptimizerIsRefusedInOneLine() {
    try (LocalSession session = new LocalSession(Toy.job()); Model model = Toy.model()) {
      TrainingConfig config = Toy.config(Optimizer.adam().build());
      assertThatThrownBy(() -> new FleetTrainer(model, config, Strategy.sync(), ReplicaContext.single(session)))
          .isInstanceOf(InvalidInput.class)
          .hasMessageContaining("ai.djl.training.optimizer.Adam")
          .hasMessageContaining("io.regatta.trainer.djl.Sgd, Momentum, Adagrad, Adam")
          .message().doesNotContain("\n");
    }
  }

  @Test
  void stepBeforeInitializeSaysWhatToDo() {
    try (LocalSession session = new LocalSession(Toy.job());
        Model model = Toy.model();
        FleetTrainer trainer = new FleetTrainer(model, Toy.config(new Sgd(0.1)), Strategy.sync(),
            ReplicaContext.single(session))) {
      assertThatThrownBy(trainer::step).isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("trainer.initialize(shapes)");
    }
  }
}
