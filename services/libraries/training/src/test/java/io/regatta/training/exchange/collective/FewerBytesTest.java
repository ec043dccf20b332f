package io.regatta.training.exchange.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.training.EasyTrain;
import ai.djl.training.GradientCollector;
import ai.djl.training.dataset.Batch;
import io.regatta.core.collective.WireType;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.training.TrainingProgram;
import io.regatta.training.Worker;
import io.regatta.training.config.AdaptiveLocalsgdConfigs;
import io.regatta.training.config.Communication;
import io.regatta.training.config.Communication.AllReduce;
import io.regatta.training.config.DgcConfigs;
import io.regatta.training.config.LocalsgdConfigs;
import io.regatta.training.config.Strategy;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.rank.Toy;
import io.regatta.training.result.RunResult;
import io.regatta.training.testing.SharedShards;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Collective mode with fewer bytes, over ranks in this process, against plain all-reduce. */
class FewerBytesTest {

  private static final int ROWS = 160;
  /** Parameters of the toy net: 16 x 5, 16, 8 x 16, 8, 8, 1. */
  private static final int NUMEL = 241;
  private static final int VARIABLES = 6;

  /**
   * The results of a run: parameters by rank after each step, the loss over all rows at the end, and the first rank's
   * result.
   */
  private record Run(Map<Integer, List<float[]>> steps, Map<Integer, float[]> ends, double loss, RunResult result) {}

  private static JsonObject momentum() {
    return new JsonObject().put("kind", "momentum").put("learning_rate", 0.02).put("weight_decay", 0.001);
  }

  private static JsonObject job(int trainers, int batch, JsonObject optimizer) {
    return new JsonObject().put("mode", "collective").put("trainers", trainers).put("batch_size", batch)
        .put("collective", new JsonObject().put("bucket_bytes", 300).put("last_bucket_bytes", 100))
        .put("optimizer", optimizer);
  }

  private static Run train(Communication communication, int epochs, JsonObject job) {
    Map<Integer, List<float[]>> steps = new ConcurrentHashMap<>();
    Map<Integer, float[]> ends = new ConcurrentHashMap<>();
    Map<Integer, Double> losses = new ConcurrentHashMap<>();
    TrainingProgram program = worker -> {
      List<float[]> mine = new ArrayList<>();
      try (Model model = Toy.model();
          FleetTrainer trainer = worker.distributedTrainer(model, Toy.config(worker.optimizer()),
              Strategy.collective(communication))) {
        int batchSize = worker.job().batchSize();
        trainer.initialize(Toy.input(batchSize));
        for (int epoch = 0; epoch < epochs; epoch++) {
          for (Batch batch : trainer.iterateDataset(Toy.data(trainer.getManager(), ROWS, batchSize, worker.shardIndex(),
              worker.shardCount()))) {
            EasyTrain.trainBatch(trainer, batch);
            trainer.step();
            batch.close();
            mine.add(Toy.values(model));
          }
        }
        worker.settle(trainer);
        ends.put(worker.rank(), Toy.values(model));
        losses.put(worker.rank(), loss(trainer));
        steps.put(worker.rank(), mine);
      }
    };
    try (SharedShards ranks = new SharedShards(Toy.job(job))) {
      RunResult result = ranks.run(program).get(0);
      assertThat(ends.values()).allSatisfy(end -> assertThat(end).isEqualTo(ends.get(0)));
      System.out.println(communication + ": loss " + losses.get(0) + ", " + result.metrics());
      return new Run(steps, ends, losses.get(0), result);
    }
  }

  private static double loss(FleetTrainer trainer) throws Exception {
    double loss = 0;
    for (Batch batch : trainer.iterateDataset(Toy.data(trainer.getManager(), ROWS, ROWS, 0, 1))) {
      NDList out = trainer.evaluate(batch.getData());
      loss = trainer.getLoss().evaluate(batch.getLabels(), out).getFloat();
      batch.close();
    }
    return loss;
  }

  private static void assertSameAfterEveryStep(Run run) {
    for (List<float[]> rank : run.steps().values()) {
      for (int step = 0; step < rank.size(); step++) {
        assertThat(rank.get(step)).as("after step %d", step).containsExactly(run.steps().get(0).get(step));
      }
    }
  }

  private static double bytes(Run run) {
    return run.result().metrics().get("exchange_bytes_per_step");
  }

  private static double header() {
    return (2 + VARIABLES) * Float.BYTES;
  }

  /** Elements that a step sends of the toy net's variables, at least one of each. */
  private static int kept(double share) {
    int kept = 0;
    for (int numel : new int[] {80, 16, 128, 8, 8, 1}) {
      kept += Math.max(1, (int) Math.round(numel * share));
    }
    return kept;
  }

  @Test
  void narrowGradientsTrainAsPlainOnesWithHalfTheBytes() {
    Run plain = train(Communication.PLAIN, 100, job(2, 20, momentum()));
    assertThat(bytes(plain)).isEqualTo(NUMEL * 4 + header());
    for (WireType wire : List.of(WireType.FLOAT16, WireType.BFLOAT16)) {
      Run narrow = train(new AllReduce(wire), 100, job(2, 20, momentum()));
      assertSameAfterEveryStep(narrow);
      assertThat(bytes(narrow)).isEqualTo(NUMEL * 2 + header());
      assertThat(narrow.result().metrics().get("exchanges_per_step")).as("buckets and a header").isEqualTo(3);
      assertThat(narrow.loss()).isCloseTo(plain.loss(), within(0.25 * plain.loss()));
    }
  }

  /** Before the ramp, momentum and decay of the compressor are those of the optimizer. */
  @ParameterizedTest
  @MethodSource("optimizers")
  void dgcBeforeItsRampIsPlain(JsonObject optimizer) {
    Run plain = train(Communication.PLAIN, 10, job(2, 20, optimizer));
    Run dgc = train(new DgcConfigs(1000, 1, List.of(0.999)), 10, job(2, 20, optimizer));
    assertSameAfterEveryStep(dgc);
    assertThat(Toy.distance(dgc.ends().get(0), plain.ends().get(0))).isLessThan(1e-5);
    assertThat(bytes(dgc)).isEqualTo(NUMEL * 4 + header());
  }

  static Stream<JsonObject> optimizers() {
    return Stream.of(momentum(), momentum().put("nesterov", true),
        momentum().put("kind", "sgd").put("learning_rate", 0.1));
  }

  @ParameterizedTest
  @MethodSource("optimizers")
  void theLargestElementsTrainNearlyAsWellAsAll(JsonObject optimizer) {
    Run plain = train(Communication.PLAIN, 150, job(2, 20, optimizer));
    Run dgc = train(new DgcConfigs(0, 1, List.of(0.9)), 150, job(2, 20, optimizer));
    assertSameAfterEveryStep(dgc);
    assertThat(bytes(dgc)).isEqualTo(kept(0.1) * Long.BYTES + header());
    assertThat(dgc.loss()).as("plain %s, 5 untrained", plain.loss()).isLessThan(plain.loss() + 0.05);
    Run four = train(new DgcConfigs(0, 1, List.of(0.9)), 10, job(4, 10, optimizer));
    assertSameAfterEveryStep(four);
    assertThat(bytes(four)).isEqualTo(3 * kept(0.1) * Long.BYTES + 1.5 * header());
  }

  @Test
  void dgcWarmsUp() {
    Run dgc = train(new DgcConfigs(8, 8, List.of(0.5, 0.75)), 6, job(2, 20, momentum().put("clip_norm", 5)));
    assertSameAfterEveryStep(dgc);
    assertThat(bytes(dgc)).as("8, 4 and 12 steps").isCloseTo(
        header() + (8 * NUMEL * 4 + (4 * kept(0.5) + 12 * kept(0.25)) * 8) / 24.0, within(1e-6));
  }

  @ParameterizedTest
  @MethodSource("optimizers")
  void averagingAfterEachStepIsPlain(JsonObject optimizer) {
    Run plain = train(Communication.PLAIN, 10, job(2, 20, optimizer));
    Run local = train(new LocalsgdConfigs(7, 40), 10, job(2, 20, optimizer));
    assertSameAfterEveryStep(local);
    assertThat(Toy.distance(local.ends().get(0), plain.ends().get(0))).isLessThan(1e-5);
  }

  @Test
  void averagingEveryFewStepsTrainsNearlyAsWell() {
    Run plain = train(Communication.PLAIN, 150, job(2, 20, momentum()));
    Run local = train(new LocalsgdConfigs(4, 0), 150, job(2, 20, momentum()));
    assertThat(local.loss()).as("plain %s, 5 untrained", plain.loss()).isLessThan(plain.loss() + 0.05);
    assertThat(bytes(local)).as("150 averagings, and last headers")
        .isCloseTo(150 * (NUMEL * 4 + 5 * 8) / 600.0, within(0.2));
    for (int step : new int[] {3, 7, 599}) {
      assertThat(local.steps().get(1).get(step)).isEqualTo(local.steps().get(0).get(step));
    }
    assertThat(local.steps().get(1).get(4)).isNotEqualTo(local.steps().get(0).get(4));
    JsonObject falling = momentum().put("schedule", new JsonObject().put("kind", "cosine").put("decay_steps", 600)
        .put("minimum", 0.0001));
    Run adaptive = train(new AdaptiveLocalsgdConfigs(64, 1), 150, job(2, 20, falling));
    assertThat(adaptive.loss()).as("plain %s, 5 untrained", plain.loss()).isLessThan(plain.loss() + 0.05);
    assertThat(adaptive.result().metrics().get("local_steps")).isBetween(1.0, 16.0);
    assertThat(bytes(adaptive)).isLessThan(bytes(plain) * 0.9);
  }

  static Stream<Communication> communications() {
    return Stream.of(new AllReduce(WireType.FLOAT16), new DgcConfigs(2, 4, List.of(0.5, 0.9)),
        new LocalsgdConfigs(3, 1), new AdaptiveLocalsgdConfigs(5, 0));
  }

  /** Ranks of 1, 4 and 7 batches in each of two passes, which meet between them. */
  @ParameterizedTest
  @MethodSource("communications")
  void aRankWithoutDataHoldsNobodyUp(Communication communication) {
    Map<String, float[]> ends = new ConcurrentHashMap<>();
    JsonObject falling = momentum().put("schedule", new JsonObject().put("kind", "exponential").put("decay_steps", 1)
        .put("decay_rate", 0.7)); // who counts other steps has other rates
    List<RunResult> results;
    try (SharedShards ranks = new SharedShards(Toy.job(job(3, 10, falling)))) {
      results = ranks.run(worker -> {
        try (Model model = Toy.model();
            FleetTrainer trainer = worker.distributedTrainer(model, Toy.config(worker.optimizer()),
                Strategy.collective(communication))) {
          trainer.initialize(Toy.input(10));
          for (int pass = 0; pass < 2; pass++) {
            EasyTrain.fit(trainer, 1, Toy.data(trainer.getManager(), 10 * (1 + 3 * worker.rank()), 10, 0, 1), null);
            worker.barrier();
            ends.put(pass + "." + worker.rank(), Toy.values(model));
          }
        }
      });
    }
    assertThat(results.get(0).examples()).isEqualTo(240);
    for (String pass : List.of("0.", "1.")) {
      assertThat(ends.get(pass + 1)).isEqualTo(ends.get(pass + 0));
      assertThat(ends.get(pass + 2)).isEqualTo(ends.get(pass + 0));
    }
    assertThat(ends.get("1.0")).isNotEqualTo(ends.get("0.0"));
  }

  /** A NaN of one rank drops the step on all, and only that step. */
  @ParameterizedTest
  @MethodSource("communications")
  void aStepThatIsNotFiniteIsDroppedOrEndsTheRun(Communication communication) {
    Map<Integer, List<float[]>> steps = new ConcurrentHashMap<>();
    TrainingProgram program = worker -> steps.put(worker.rank(), withNan(worker, communication));
    try (SharedShards ranks = new SharedShards(Toy.job(job(2, 20, momentum()).put("nan_policy", "skip")))) {
      RunResult result = ranks.run(program).get(0);
      boolean alone = !(communication instanceof AllReduce || communication instanceof DgcConfigs);
      assertThat(result.exchange().skippedPushes()).isEqualTo(alone ? 1 : 2);
      for (float value : steps.get(0).get(7)) {
        assertThat(value).isFinite();
      }
      if (!alone) {
        assertThat(steps.get(0).get(5)).isEqualTo(steps.get(0).get(4));
        assertThat(steps.get(0).get(6)).isNotEqualTo(steps.get(0).get(5));
        assertThat(steps.get(1).get(7)).isEqualTo(steps.get(0).get(7));
      }
    }
    try (SharedShards ranks = new SharedShards(Toy.job(job(2, 20, momentum())))) {
      assertThatThrownBy(() -> ranks.run(program)).isNotNull();
      assertThatThrownBy(() -> ranks.result(1).join()).hasStackTraceContaining("NaN");
    }
  }

  /** Eight steps, the labels of one of them NaN on rank 1. */
  private static List<float[]> withNan(Worker worker, Communication communication) throws Exception {
    List<float[]> mine = new ArrayList<>();
    try (Model model = Toy.model();
        FleetTrainer trainer = worker.distributedTrainer(model, Toy.config(worker.optimizer()),
            Strategy.collective(communication))) {
      trainer.initialize(Toy.input(20));
      Batch batch = trainer.iterateDataset(Toy.data(trainer.getManager(), 20, 20, 0, 1)).iterator().next();
      for (int step = 0; step < 8; step++) {
        try (NDArray factor = trainer.getManager().create(step == 5 && worker.rank() == 1 ? Float.NaN : 1f)) {
          NDList labels = new NDList(batch.getLabels().head().mul(factor));
          try (GradientCollector collector = trainer.newGradientCollector()) {
            collector.backward(trainer.getLoss().evaluate(labels, trainer.forward(batch.getData())));
          }
          trainer.step();
        }
        mine.add(Toy.values(model));
      }
      batch.close();
    }
    return mine;
  }

  @Test
  void ranksThatAverageAfterOtherNumbersOfStepsAreRefused() {
    try (SharedShards ranks = new SharedShards(Toy.job(job(2, 20, momentum())))) {
      assertThatThrownBy(() -> ranks.run(worker -> withNan(worker, new LocalsgdConfigs(2 + worker.rank(), 0))))
          .hasRootCauseInstanceOf(InvalidInput.class)
          .hasStackTraceContaining("averages every 2 steps, trainer 1 every 3");
    }
  }

  @Test
  void otherOptimizersAreRefused() {
    for (Communication communication : List.of(new DgcConfigs(0, 1, List.of(0.9)), new LocalsgdConfigs(2, 1))) {
      assertThatThrownBy(() -> train(communication, 1, job(2, 20, new JsonObject().put("kind", "adam"))))
          .hasRootCauseInstanceOf(InvalidInput.class)
          .hasStackTraceContaining("sgd and momentum only, but the optimizer is adam");
    }
    assertThatThrownBy(() -> train(new DgcConfigs(0, 1, List.of(0.9)), 1, job(2, 20, momentum().put("clip_value", 1))))
        .hasRootCauseInstanceOf(InvalidInput.class).hasStackTraceContaining("clip_norm");
  }

  @Test
  void theJobFileSpeaksAsPaddlePaddle() {
    JsonObject dgc = new JsonObject().put("dgc", true).put("dgc_configs", new JsonObject()
        .put("rampup_begin_step", 1252).put("rampup_step", 100).put("sparsity", List.of(0.75, 0.999)));
    assertThat(of(dgc)).isEqualTo(new DgcConfigs(1252, 100, List.of(0.75, 0.999)));
    assertThat(of(new JsonObject().put("dgc", true))).isEqualTo(new DgcConfigs(0, 1, List.of(0.999)));
    assertThat(of(new JsonObject().put("localsgd", true).put("localsgd_configs", new JsonObject().put("k_steps", 4)
        .put("begin_step", 30)))).isEqualTo(new LocalsgdConfigs(4, 30));
    assertThat(of(new JsonObject().put("adaptive_localsgd", true).put("adaptive_localsgd_configs", new JsonObject()
        .put("init_k_steps", 2)))).isEqualTo(new AdaptiveLocalsgdConfigs(2, 1));
    assertThat(of(new JsonObject().put("fp16_allreduce", true))).isEqualTo(new AllReduce(WireType.FLOAT16));
    assertThat(of(new JsonObject().put("bf16_allreduce", true))).isEqualTo(new AllReduce(WireType.BFLOAT16));
    assertThat(of(new JsonObject())).isEqualTo(Communication.PLAIN);
    assertThatThrownBy(() -> of(new JsonObject().put("dgc", true).put("localsgd", true)))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("not dgc and localsgd");
    assertThatThrownBy(() -> of(new JsonObject().put("localsgd_configs", new JsonObject().put("k_steps", 0))))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("k_steps must be at least 1");
    assertThatThrownBy(() -> of(new JsonObject().put("dgc_configs", new JsonObject().put("sparsity", List.of(1.0)))))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("0.999 sends a thousandth");
  }

  private static Communication of(JsonObject collective) {
    return Toy.job(new JsonObject().put("mode", "collective").put("collective", collective)).collective()
        .communication();
  }
}
