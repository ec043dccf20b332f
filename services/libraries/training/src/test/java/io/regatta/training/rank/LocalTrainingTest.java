package io.regatta.training.rank;

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
import ai.djl.training.listener.TrainingListener;
import ai.djl.training.listener.TrainingListener.BatchData;
import ai.djl.training.listener.TrainingListenerAdapter;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.training.config.Strategy;
import io.regatta.training.model.Engines;
import io.regatta.training.optimizer.RegattaOptimizer;
import io.regatta.training.replica.ReplicaContext;
import io.regatta.training.session.LocalSession;
import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

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
    float[] ours = easyTrained(RegattaOptimizer.of("sgd", 0.05), 20);
    float[] stock = stockTrained(0.05f, 20);
    assertThat(Toy.distance(ours, stock)).isLessThanOrEqualTo(1e-6);
    assertThat(Toy.distance(ours, easyTrained(RegattaOptimizer.of("sgd", 0.05), 0))).as("has moved").isGreaterThan(0.1);
  }

  @Test
  void twoRunsAndAHandWrittenLoopGiveTheSameBits() throws Exception {
    float[] once = easyTrained(RegattaOptimizer.of("adam", 0.01), 3);
    assertThat(easyTrained(RegattaOptimizer.of("adam", 0.01), 3)).containsExactly(once);
    try (LocalSession session = new LocalSession(Toy.job());
        Model model = Toy.model();
        FleetTrainer trainer = new FleetTrainer(model, Toy.config(RegattaOptimizer.of("adam", 0.01)), Strategy.async(),
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

  /** A training listener that counts. */
  private static final class Counts extends TrainingListenerAdapter {
    private int tested;

    @Override
    public void onValidationBatch(Trainer trainer, BatchData batch) {
      tested++;
    }
  }

  private static int evaluated(FleetTrainer trainer, ArrayDataset data) throws Exception {
    int batches = 0;
    for (Batch batch : trainer.iterateDataset(data)) {
      try (batch) {
        trainer.evaluate(batch.getData()).close();
        batches++;
      }
    }
    return batches;
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void fitTestsNoMore_onceMaxStepsAreReachedAndTested(boolean atOnce) throws Exception {
    int batches = ROWS / BATCH;
    Counts counts = new Counts();
    try (LocalSession session = new LocalSession(Toy.job(new JsonObject().put("max_steps", batches + batches / 2)));
        Model model = Toy.model();
        FleetTrainer trainer = new FleetTrainer(model, Toy.config(RegattaOptimizer.of("sgd", 0.05))
            .addTrainingListeners(TrainingListener.Defaults.basic()).addTrainingListeners(counts), Strategy.sync(),
            ReplicaContext.single(session))) {
      trainer.initialize(Toy.input(BATCH));
      ArrayDataset train = Toy.data(trainer.getManager(), ROWS, BATCH, 0, 1);
      ArrayDataset test = Toy.data(trainer.getManager(), ROWS, BATCH, 0, 1);
      for (int call = 0; call < (atOnce ? 1 : 6); call++) {
        EasyTrain.fit(trainer, atOnce ? 6 : 1, train, test);
      }
      assertThat(trainer.steps()).isEqualTo(batches + batches / 2);
      assertThat(counts.tested).isEqualTo(2 * batches);
      assertThat(trainer.getTrainingResult().getTrainLoss()).isPositive();
      assertThat(trainer.getTrainingResult().getValidateLoss()).isPositive();
      assertThat(evaluated(trainer, test)).as("who asks for more gets it").isEqualTo(batches);
      EasyTrain.fit(trainer, 2, train, Toy.data(trainer.getManager(), ROWS, BATCH, 0, 1));
      assertThat(counts.tested).as("these have not been tested on").isEqualTo(3 * batches);
    }
  }

  @Test
  void aStockOptimizerIsRefusedInOneLine() {
    try (LocalSession session = new LocalSession(Toy.job()); Model model = Toy.model()) {
      TrainingConfig config = Toy.config(Optimizer.adam().build());
      assertThatThrownBy(() -> new FleetTrainer(model, config, Strategy.sync(), ReplicaContext.single(session)))
          .isInstanceOf(InvalidInput.class)
          .hasMessageContaining("ai.djl.training.optimizer.Adam")
          .hasMessageContaining("io.regatta.training.optimizer.RegattaOptimizer")
          .message().doesNotContain("\n");
    }
  }

  @Test
  void stepBeforeInitializeSaysWhatToDo() {
    try (LocalSession session = new LocalSession(Toy.job());
        Model model = Toy.model();
        FleetTrainer trainer = new FleetTrainer(model, Toy.config(RegattaOptimizer.of("sgd", 0.1)), Strategy.sync(),
            ReplicaContext.single(session))) {
      assertThatThrownBy(trainer::step).isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("trainer.initialize(shapes)");
    }
  }
}
