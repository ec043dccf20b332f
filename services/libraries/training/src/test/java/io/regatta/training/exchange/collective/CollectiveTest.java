package io.regatta.training.exchange.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.ParallelBlock;
import ai.djl.nn.Parameter;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.nn.norm.BatchNorm;
import ai.djl.training.EasyTrain;
import ai.djl.training.GradientCollector;
import ai.djl.training.dataset.Batch;
import ai.djl.util.Pair;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.progress.Progress;
import io.regatta.training.TrainingProgram;
import io.regatta.training.Worker;
import io.regatta.training.exchange.push.Rows;
import io.regatta.training.model.DistributedEmbedding;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.rank.Toy;
import io.regatta.training.result.RunResult;
import io.regatta.training.run.LocalRun;
import io.regatta.training.save.SavedParameters;
import io.regatta.training.testing.SharedShards;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Collective mode over ranks in this process, against one rank that sees all the data. */
class CollectiveTest {

  private static final int ROWS = 160;

  private static JsonObject job(int trainers, int batch) {
    return new JsonObject().put("mode", "collective").put("trainers", trainers).put("batch_size", batch)
        .put("collective", new JsonObject().put("bucket_bytes", 300).put("last_bucket_bytes", 100))
        .put("optimizer", new JsonObject().put("kind", "momentum").put("learning_rate", 0.02).put("weight_decay", 0.001));
  }

  private static List<RunResult> run(JsonObject job, TrainingProgram program) {
    try (SharedShards ranks = new SharedShards(Toy.job(job))) {
      return ranks.run(program);
    }
  }

  /** Returns the log lines about variables without a gradient. */
  private static List<String> unused(JsonObject job, TrainingProgram program) {
    ListAppender<ILoggingEvent> log = new ListAppender<>();
    log.start();
    Logger logger = (Logger) LoggerFactory.getLogger(UnusedVariables.class);
    logger.addAppender(log);
    try {
      run(job, program);
    } finally {
      logger.detachAppender(log);
    }
    return log.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  /** Trains on this rank's part in order; the values after every step, by rank. */
  private static TrainingProgram program(int epochs, Map<Integer, List<float[]>> steps) {
    return worker -> {
      List<float[]> mine = new ArrayList<>();
      try (Model model = Toy.model();
          FleetTrainer trainer = worker.distributedTrainer(model, Toy.config(worker.optimizer()))) {
        trainer.initialize(Toy.input(worker.job().batchSize()));
        for (int epoch = 0; epoch < epochs; epoch++) {
          for (Batch batch : trainer.iterateDataset(Toy.data(trainer.getManager(), ROWS, worker.job().batchSize(),
              worker.shardIndex(), worker.shardCount()))) {
            EasyTrain.trainBatch(trainer, batch);
            trainer.step();
            batch.close();
            mine.add(Toy.values(model));
          }
        }
        steps.put(worker.rank(), mine);
      }
    };
  }

  @ParameterizedTest
  @CsvSource({"1", "2", "4"})
  void ranksWhoseBatchesConcatenateEqualOneProcessAndEachOtherAfterEveryStep(int trainers) {
    Map<Integer, List<float[]>> alone = new ConcurrentHashMap<>();
    RunResult local = LocalRun.run(Toy.job(job(1, 40).put("mode", "sync").put("servers", 1)), program(10, alone),
        Progress.none());
    Map<Integer, List<float[]>> steps = new ConcurrentHashMap<>();
    List<RunResult> results = run(job(trainers, 40 / trainers), program(10, steps));

    assertThat(steps).hasSize(trainers);
    assertThat(steps.get(0)).hasSize(40);
    for (List<float[]> rank : steps.values()) {
      for (int step = 0; step < 40; step++) {
        assertThat(rank.get(step)).as("after step %d", step).containsExactly(steps.get(0).get(step));
      }
    }
    assertThat(Toy.distance(steps.get(0).get(39), alone.get(0).get(39))).isLessThanOrEqualTo(1e-4);
    if (trainers == 1) {
      assertThat(results.get(0).parametersHash()).as("the same bits").isEqualTo(local.parametersHash());
    }
    assertThat(results.get(0).mode()).isEqualTo("collective");
    assertThat(results.get(0).metrics().get("exchanges_per_step")).isEqualTo(2);
  }

  /** A rank that has run out of data takes part in the others' steps with nothing, and has their values in the end. */
  @Test
  void aRankWithoutDataHoldsNobodyUp() {
    Map<Integer, float[]> ends = new ConcurrentHashMap<>();
    List<RunResult> results = run(job(3, 10), worker -> {
      try (Model model = Toy.model();
          FleetTrainer trainer = worker.distributedTrainer(model, Toy.config(worker.optimizer()))) {
        trainer.initialize(Toy.input(10));
        int rows = 10 * (1 + 3 * worker.rank()); // 1, 4 and 7 steps
        EasyTrain.fit(trainer, 1, Toy.data(trainer.getManager(), rows, 10, 0, 1), null);
        worker.barrier();
        ends.put(worker.rank(), Toy.values(model));
      }
    });
    assertThat(results).extracting(RunResult::steps).as("those of all").containsOnly(7L);
    assertThat(results.get(0).examples()).isEqualTo(120);
    assertThat(ends.get(1)).isEqualTo(ends.get(2));
    assertThat(ends.get(0)).isEqualTo(ends.get(2));
  }

  /** With gradients of more than a megabyte whether anybody steps is known before they travel. */
  @Test
  void aBarrierExchangesAHeaderAndNoGradients() {
    int units = 50_000;
    int numel = (Toy.INPUTS + 1) * units + units + 1;
    JsonObject job = job(2, 10).put("collective", new JsonObject().put("bucket_bytes", 4 << 20).put("last_bucket_bytes", 0))
        .put("optimizer", new JsonObject().put("kind", "sgd").put("learning_rate", 1e-6));
    Map<Integer, float[]> ends = new ConcurrentHashMap<>();
    try (SharedShards ranks = new SharedShards(Toy.job(job))) {
      ranks.run(worker -> {
        try (Model model = Model.newInstance("wide")) {
          model.setBlock(new SequentialBlock().add(Linear.builder().setUnits(units).build())
              .add(Linear.builder().setUnits(1).build()));
          try (FleetTrainer trainer = worker.distributedTrainer(model, Toy.config(worker.optimizer()))) {
            trainer.initialize(Toy.input(10));
            EasyTrain.fit(trainer, 1, Toy.data(trainer.getManager(), 10 * (1 + 2 * worker.rank()), 10, 0, 1), null);
            for (int i = 0; i < 5; i++) {
              worker.barrier();
            }
            ends.put(worker.rank(), Toy.values(model));
          }
        }
      });
      assertThat(ends.get(0)).isEqualTo(ends.get(1));
      assertThat(ranks.floatsSummed()).as("three steps, of which rank 0 joins two").isBetween(3L * numel, 3L * numel + 1000);
    }
  }

  /** Rank 0 takes the snapshots, also of steps that it only joins. */
  @Test
  void aRankWithoutDataTakesTheSnapshotsOfTheOthersSteps(@TempDir Path dir) {
    JsonObject job = job(2, 10).put("snapshots", new JsonObject().put("dir", dir.toString()).put("every_steps", 3));
    run(job, worker -> {
      try (Model model = Toy.model();
          FleetTrainer trainer = worker.distributedTrainer(model, Toy.config(worker.optimizer()))) {
        trainer.initialize(Toy.input(10));
        EasyTrain.fit(trainer, 1, Toy.data(trainer.getManager(), 10 * (1 + 6 * worker.rank()), 10, 0, 1), null);
      }
    });
    assertThat(dir).isDirectoryContaining("glob:**step-000000003").isDirectoryContaining("glob:**step-000000006");
  }

  /** Passes of 1 and of 3 steps; of the second pass, whose steps are 3 to 5, rank 0 trains one and joins two. */
  @ParameterizedTest
  @CsvSource({"4", "5", "7"})
  void ranksWithDifferentNumbersOfStepsGoOnFromASnapshot(int step, @TempDir Path dir) {
    TrainingProgram program = worker -> {
      try (Model model = Toy.model();
          FleetTrainer trainer = worker.distributedTrainer(model, Toy.config(worker.optimizer()))) {
        trainer.initialize(Toy.input(10));
        int rows = worker.rank() == 0 ? 20 : 60; // of which each takes every other one
        EasyTrain.fit(trainer, 3, Toy.data(trainer.getManager(), rows, 10, worker.rank(), 2), null);
        worker.barrier();
      }
    };
    String unbroken = run(saved(dir.resolve("unbroken")), program).get(0).parametersHash();
    Path from = dir.resolve("unbroken/step-00000000" + step);
    RunResult resumed = run(saved(dir.resolve("resumed")).put("resume", from.toString()), program).get(0);
    assertThat(resumed.parametersHash()).isEqualTo(unbroken);
    assertThat(resumed.steps()).isEqualTo(9);
  }

  private static JsonObject saved(Path dir) {
    return job(2, 10).put("snapshots", new JsonObject().put("dir", dir.toString()).put("every_steps", 1).put("every_pass", true)
        .put("keep", 20));
  }

  /** Each example has the same weight, also in batches of unequal size. */
  @Test
  void unequalBatchesAreWeightedByTheirExamples() {
    Map<Integer, float[]> ends = new ConcurrentHashMap<>();
    TrainingProgram one = worker -> {
      try (Model model = Toy.model();
          FleetTrainer trainer = worker.distributedTrainer(model, Toy.config(worker.optimizer()))) {
        trainer.initialize(Toy.input(40));
        int rows = worker.worldSize() == 1 ? 40 : worker.rank() == 0 ? 30 : 10;
        int first = worker.rank() == 0 ? 0 : 30;
        for (int i = 0; i < 20; i++) {
          try (Rows batch = Rows.of(trainer, first, rows)) {
            try (GradientCollector collector = trainer.newGradientCollector()) {
              NDArray loss = trainer.getLoss().evaluate(batch.labels(), trainer.forward(batch.data()));
              collector.backward(loss);
            }
            trainer.step();
          }
        }
        ends.put(worker.worldSize() * 10 + worker.rank(), Toy.values(model));
      }
    };
    run(job(1, 40), one);
    run(job(2, 20), one);
    assertThat(Toy.distance(ends.get(20), ends.get(10))).isLessThanOrEqualTo(1e-5);
    assertThat(ends.get(21)).isEqualTo(ends.get(20));
  }

  /** Rows {@code first .. first+rows} of the toy data. */
  private record Rows(Batch batch, NDList data, NDList labels) implements AutoCloseable {

    static Rows of(FleetTrainer trainer, int first, int rows) throws Exception {
      Batch all = trainer.iterateDataset(Toy.data(trainer.getManager(), 40, 40, 0, 1)).iterator().next();
      String part = first + ":" + (first + rows);
      return new Rows(all, new NDList(all.getData().head().get(part)), new NDList(all.getLabels().head().get(part)));
    }

    @Override
    public void close() {
      batch.close();
    }
  }

  private static Block branches() {
    Block left = Linear.builder().setUnits(4).build();
    Block right = Linear.builder().setUnits(4).build();
    return new SequentialBlock().add(new ParallelBlock(out -> out.get(0), List.of(left, right)))
        .add(Activation::relu).add(Linear.builder().setUnits(1).build());
  }

  /** Its gradient is zero, not what lay in its memory; nobody waits for it, and it is named. */
  @Test
  void anUnusedVariableIsLeftAsItIs() {
    Map<String, float[]> before = new ConcurrentHashMap<>();
    Map<String, float[]> after = new ConcurrentHashMap<>();
    JsonObject job = job(2, 10).put("optimizer", new JsonObject().put("kind", "sgd").put("learning_rate", 0.05));
    List<String> named = unused(job, worker -> {
      try (Model model = Model.newInstance("branches")) {
        model.setBlock(branches());
        try (FleetTrainer trainer = worker.distributedTrainer(model, Toy.config(worker.optimizer()))) {
          trainer.initialize(Toy.input(10));
          keep(model, worker, before);
          EasyTrain.fit(trainer, 1, Toy.data(trainer.getManager(), 40, 10, 0, 1), null);
          keep(model, worker, after);
        }
      }
    });
    List<String> moved = before.keySet().stream().filter(name -> !Arrays.equals(before.get(name), after.get(name))).toList();
    List<String> same = before.keySet().stream().filter(name -> !moved.contains(name)).toList();
    assertThat(same).hasSize(2).allMatch(name -> name.contains("02Linear"));
    assertThat(moved).hasSize(4);
    assertThat(named).as("by two ranks, of itself and of all").hasSize(4)
        .allMatch(line -> line.contains("2 of 6 variables have no gradient") && line.contains("02Linear"));
  }

  /** Each rank trains a branch of its own, and the other one in the next pass. Nobody waits for a gradient that does not come. */
  @Test
  @DisabledIfSystemProperty(named = "ai.djl.default_engine", matches = "PyTorch", disabledReason = "names only those that never had one")
  void ranksWithDifferentAndChangingSetsOfGradientsNameThem() {
    Map<Integer, float[]> ends = new ConcurrentHashMap<>();
    Map<String, float[]> before = new ConcurrentHashMap<>();
    Map<String, float[]> after = new ConcurrentHashMap<>();
    List<String> named = unused(job(2, 10), worker -> {
      AtomicInteger pass = new AtomicInteger();
      Block left = Linear.builder().setUnits(4).build();
      Block right = Linear.builder().setUnits(4).build();
      try (Model model = Model.newInstance("branches")) {
        model.setBlock(new SequentialBlock()
            .add(new ParallelBlock(out -> out.get((worker.rank() + pass.get()) % 2), List.of(left, right)))
            .add(Activation::relu).add(Linear.builder().setUnits(1).build()));
        try (FleetTrainer trainer = worker.distributedTrainer(model, Toy.config(worker.optimizer()))) {
          trainer.initialize(Toy.input(10));
          keep(model, worker, before);
          for (; pass.get() < 2; pass.incrementAndGet()) {
            EasyTrain.fit(trainer, 1, Toy.data(trainer.getManager(), 20, 10, 0, 1), null);
          }
          keep(model, worker, after);
          ends.put(worker.rank(), Toy.values(model));
        }
      }
    });
    assertThat(ends.get(0)).isEqualTo(ends.get(1));
    before.forEach((name, values) -> assertThat(after.get(name)).as(name).isNotEqualTo(values));
    assertThat(named).as("two ranks, two passes").hasSize(4)
        .allMatch(line -> line.contains("2 of 6 variables have no gradient from this trainer, which counts as zero"))
        .anyMatch(line -> line.startsWith("trainer 0") && line.contains("step 0") && line.contains("02Linear"))
        .anyMatch(line -> line.startsWith("trainer 1") && line.contains("step 0") && line.contains("01Linear"))
        .anyMatch(line -> line.startsWith("trainer 0") && line.contains("step 2") && line.contains("01Linear"))
        .anyMatch(line -> line.startsWith("trainer 1") && line.contains("step 2") && line.contains("02Linear"));
  }

  private static void keep(Model model, Worker worker, Map<String, float[]> into) {
    if (worker.rank() == 0) {
      for (Pair<String, Parameter> p : model.getBlock().getParameters()) {
        into.put(p.getKey(), p.getValue().getArray().toFloatArray());
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"evaluation", "save", "end of the run"})
  void runningMeansAreAveragedBefore(String what, @TempDir Path dir) {
    Map<Integer, Map<String, float[]>> own = new ConcurrentHashMap<>();
    Map<Integer, Map<String, float[]>> settled = new ConcurrentHashMap<>();
    run(what.equals("end of the run") ? job(2, 20).put("output", dir.toString()) : job(2, 20), worker -> {
      try (Model model = Model.newInstance("normalised")) {
        model.setBlock(new SequentialBlock().add(Linear.builder().setUnits(3).build()).add(BatchNorm.builder().build())
            .add(Linear.builder().setUnits(1).build()));
        try (FleetTrainer trainer = worker.distributedTrainer(model, Toy.config(worker.optimizer()))) {
          trainer.initialize(Toy.input(20));
          EasyTrain.fit(trainer, 1, Toy.data(trainer.getManager(), ROWS, 20, worker.rank(), 2), null);
          own.put(worker.rank(), trainer.frozenValues());
          if (what.equals("evaluation")) {
            worker.settle(trainer);
          } else if (what.equals("save")) {
            worker.save(trainer, dir);
          }
          settled.put(worker.rank(), trainer.frozenValues());
        }
      }
    });
    if (!what.equals("evaluation")) { // what the lowest rank wrote for all
      Map<String, float[]> saved = SavedParameters.read(dir).dense();
      settled.replaceAll((rank, values) -> saved);
    }
    assertThat(own.get(0)).hasSize(2);
    own.get(0).forEach((name, first) -> {
      assertThat(own.get(1).get(name)).isNotEqualTo(first);
      for (int i = 0; i < first.length; i++) {
        assertThat(settled.get(0).get(name)[i]).isCloseTo((first[i] + own.get(1).get(name)[i]) / 2, within(1e-6f));
      }
      assertThat(settled.get(1).get(name)).containsExactly(settled.get(0).get(name));
    });
  }

  @Test
  void tablesNeedServers() {
    JsonObject job = job(1, 10);
    assertThatThrownBy(() -> LocalRun.run(Toy.job(job), worker -> {
      try (Model model = Model.newInstance("table")) {
        model.setBlock(new SequentialBlock().add(DistributedEmbedding.builder().setTable("words").setDim(2).build())
            .add(Linear.builder().setUnits(1).build()));
        worker.distributedTrainer(model, Toy.config(worker.optimizer())).initialize(new Shape(10, 1));
      }
    }, Progress.none())).isInstanceOf(InvalidInput.class).hasMessageContaining("words").hasMessageContaining("mode collective has none");
    assertThatThrownBy(() -> Toy.job(job(2, 4).put("servers", 2))).hasMessageContaining("servers is 2");
    assertThatThrownBy(() -> Toy.job(job(2, 4).put("threads", 2))).hasMessageContaining("set more trainers");
  }

  @Test
  void ranksOfDifferentModelsAreRefused() {
    assertThatThrownBy(() -> run(job(2, 10), worker -> {
      try (Model model = Model.newInstance("mixed")) {
        model.setBlock(Linear.builder().setUnits(1 + worker.rank()).build());
        worker.distributedTrainer(model, Toy.config(worker.optimizer())).initialize(Toy.input(10));
      }
    })).hasRootCauseInstanceOf(InvalidInput.class).hasStackTraceContaining("different models");
  }
}
