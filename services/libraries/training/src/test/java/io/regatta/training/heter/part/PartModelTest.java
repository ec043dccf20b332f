package io.regatta.training.heter.part;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.LambdaBlock;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.nn.norm.Dropout;
import ai.djl.training.loss.Loss;
import io.regatta.core.exchange.TrainerId;
import io.regatta.protocol.heter.BatchId;
import io.regatta.protocol.heter.BatchToCompute;
import io.regatta.protocol.heter.ComputedBatch;
import io.regatta.protocol.heter.TensorData;
import io.regatta.protocol.tensor.CutBatch;
import io.regatta.protocol.tensor.CutTensor.Role;
import io.regatta.protocol.vertx.SystemClock;
import io.regatta.training.config.JobConfig;
import io.regatta.training.cut.Heter;
import io.regatta.training.model.Engines;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Batches of several trainers that are computed as one, compared with each alone. */
class PartModelTest {

  private static final int WIDTH = 4;

  private NDManager manager;

  @BeforeEach
  void engine() {
    Engines.start("auto", 1);
    manager = NDManager.newBaseManager();
  }

  @AfterEach
  void close() {
    manager.close();
  }

  private static JobConfig job(JsonObject optimizer) {
    return JobConfig.of(new JsonObject().put("job", "j").put("optimizer", optimizer.put("kind", "sgd")));
  }

  private PartModel part(Block network, JobConfig job) {
    network.initialize(manager, DataType.FLOAT32, new Shape(1, WIDTH));
    return new PartModel(job, network, new Shape[] {new Shape(1, WIDTH)}, Loss.softmaxCrossEntropyLoss(), manager,
        SystemClock.get());
  }

  private PartModel part() {
    return part(new SequentialBlock().add(Heter.remote(new SequentialBlock().add(Linear.builder().setUnits(5).build())
        .add(Activation::tanh).add(Linear.builder().setUnits(3).build()))), job(new JsonObject()));
  }

  private BatchToCompute batch(int rank, int examples, float valueOfFirst, PartModel part) {
    Random random = new Random(rank);
    float[] xs = new float[examples * WIDTH];
    float[] ys = new float[examples];
    for (int i = 0; i < xs.length; i++) {
      xs[i] = (float) random.nextGaussian();
    }
    for (int i = 0; i < ys.length; i++) {
      ys[i] = random.nextInt(3);
    }
    Tensors tensors = new Tensors();
    tensors.add(Role.INPUT, "input 0", manager.create(xs, new Shape(examples, WIDTH)), true);
    tensors.add(Role.LABEL, "label 0", manager.create(ys, new Shape(examples, 1)), false);
    part.values().forEach((name, array) -> tensors.add(Role.DENSE_VALUES, name, array.zerosLike().add(valueOfFirst)
        .add(manager.arange((float) array.size()).reshape(array.getShape()).div(array.size())), false));
    return new BatchToCompute(new BatchId(new TrainerId(rank, 1), 0, 1),
        CutBatch.newBuilder().setNumber(1).setStep(7).setValuesOf(7).setExamples(examples).build(), tensors.take());
  }

  private static Map<String, float[]> tensors(ComputedBatch computed) {
    Map<String, float[]> values = new TreeMap<>();
    for (TensorData data : computed.tensors()) {
      float[] floats = new float[data.bytes().remaining() / Float.BYTES];
      Tensors.bytes(data).asFloatBuffer().get(floats);
      values.put(data.tensor().getRole() + " " + data.tensor().getName(), floats);
    }
    return values;
  }

  @Test
  void splitsTheGradientsOfAGatheredBatch_asEachBatchAloneHasThem() {
    try (PartModel part = part()) {
      int[] examples = {3, 5, 1};
      List<BatchToCompute> batches = new ArrayList<>();
      List<Map<String, float[]>> alone = new ArrayList<>();
      double loss = 0;
      for (int rank = 0; rank < examples.length; rank++) {
        batches.add(batch(rank, examples[rank], 0.1f, part));
        ComputedBatch computed = part.compute(List.of(batches.get(rank))).get(0);
        assertThat(computed.head().getGathered()).isFalse();
        loss += computed.head().getLoss() * examples[rank] / 9;
        alone.add(tensors(computed));
      }
      List<ComputedBatch> gathered = part.compute(batches);
      for (int rank = 0; rank < examples.length; rank++) {
        ComputedBatch computed = gathered.get(rank);
        assertThat(computed.id()).isEqualTo(batches.get(rank).id());
        assertThat(computed.head().getGathered()).isTrue();
        assertThat(computed.head().getLoss()).isCloseTo(loss, within(1e-6));
        Map<String, float[]> own = tensors(computed);
        assertThat(own.keySet()).isEqualTo(alone.get(rank).keySet());
        for (Map.Entry<String, float[]> entry : own.entrySet()) {
          for (int i = 0; i < entry.getValue().length; i++) {
            double expected = entry.getKey().startsWith("DENSE_GRADIENT") ? meanOf(alone, examples, entry.getKey(), i)
                : alone.get(rank).get(entry.getKey())[i];
            assertThat((double) entry.getValue()[i]).as(entry.getKey()).isCloseTo(expected, within(1e-6));
          }
        }
      }
    }
  }

  private static double meanOf(List<Map<String, float[]>> alone, int[] examples, String name, int i) {
    double sum = 0;
    int all = 0;
    for (int rank = 0; rank < examples.length; rank++) {
      sum += (double) alone.get(rank).get(name)[i] * examples[rank];
      all += examples[rank];
    }
    return sum / all;
  }

  @Test
  void answersTheNextBatchOfASender_whenTheResultOfItsLastOneWasGivenUp() {
    List<NDArray> inputs = new ArrayList<>();
    Block network = new SequentialBlock().add(new LambdaBlock(given -> {
      inputs.add(given.head());
      return given;
    })).add(Linear.builder().setUnits(3).build());
    network.initialize(manager, DataType.FLOAT32, new Shape(1, WIDTH));
    Loss mean = new Loss("mean") {
      @Override
      public NDArray evaluate(NDList labels, NDList predictions) {
        if (inputs.size() == 1) {
          inputs.get(0).close(); // its gradient cannot be read after the outputs
        }
        return predictions.head().mean();
      }
    };
    try (PartModel part = new PartModel(job(new JsonObject()), network, new Shape[] {new Shape(1, WIDTH)}, mean, manager,
        SystemClock.get())) {
      BatchToCompute batch = batch(0, 3, 0.1f, part);
      inputs.clear(); // those of the initialization
      assertThatThrownBy(() -> part.compute(List.of(batch))).isInstanceOf(RuntimeException.class);
      Map<String, float[]> again = tensors(part.compute(List.of(batch)).get(0));
      BatchToCompute ofOther = new BatchToCompute(new BatchId(new TrainerId(0, 1), 5, 1), batch.head(), batch.tensors());
      Map<String, float[]> expected = tensors(part.compute(List.of(ofOther)).get(0));
      assertThat(again.keySet()).isEqualTo(expected.keySet());
      expected.forEach((name, values) -> assertThat(again.get(name)).as(name).isEqualTo(values));
    }
  }

  @Test
  void computesEachAlone_whenTheirValuesDiffer() {
    try (PartModel part = part()) {
      List<ComputedBatch> computed = part.compute(List.of(batch(0, 3, 0.1f, part), batch(1, 3, 0.2f, part)));
      assertThat(computed).extracting(one -> one.head().getGathered()).containsExactly(false, false);
    }
  }

  @Test
  void gathersNothing_whenItWouldChangeMoreThanRounding() {
    try (PartModel random = part(new SequentialBlock().add(Dropout.builder().build())
            .add(Linear.builder().setUnits(3).build()),
            job(new JsonObject()));
        PartModel clipped = part(new SequentialBlock().add(Linear.builder().setUnits(3).build()),
            job(new JsonObject().put("clip_norm", 1)));
        PartModel plain = part()) {
      assertThat(random.isGatherable()).isFalse();
      assertThat(clipped.isGatherable()).isFalse();
      assertThat(plain.isGatherable()).isTrue();
    }
  }

  @Test
  void seedsDifferByReplicaStepAndPhase() {
    assertThat(List.of(BatchSeed.of(1, 0, 0, BatchSeed.PassPhase.BEFORE), BatchSeed.of(1, 1, 0, BatchSeed.PassPhase.BEFORE),
        BatchSeed.of(1, 0, 1, BatchSeed.PassPhase.BEFORE), BatchSeed.of(1, 0, 0, BatchSeed.PassPhase.PART),
        BatchSeed.of(2, 0, 0, BatchSeed.PassPhase.BEFORE))).doesNotHaveDuplicates().allMatch(seed -> seed >= 0);
  }

  @Test
  void carriesEveryTypeOfElement() {
    for (DataType type : List.of(DataType.FLOAT32, DataType.FLOAT64, DataType.UINT8, DataType.INT8, DataType.INT32,
        DataType.INT64)) {
      Tensors tensors = new Tensors();
      NDArray array = manager.create(new float[] {1, 2, 3, 4, 5, 6}, new Shape(3, 2)).toType(type, true);
      tensors.add(Role.INPUT, "input 0", array, false);
      tensors.add(Role.INPUT, "input 1", manager.create(new Shape(0, 2), type), false);
      List<TensorData> message = tensors.take();
      assertThat(Tensors.create(manager, message.get(0))).isEqualTo(array);
      assertThat(Tensors.create(manager, message.get(1)).getShape()).isEqualTo(new Shape(0, 2));
    }
  }
}
