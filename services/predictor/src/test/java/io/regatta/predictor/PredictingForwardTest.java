package io.regatta.predictor;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.nn.Block;
import ai.djl.nn.LambdaBlock;
import ai.djl.nn.Parameter;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.ParameterStore;
import ai.djl.util.Pair;
import io.regatta.core.reduce.DistinctIds;
import io.regatta.data.Layout;
import io.regatta.data.SlotBatch;
import io.regatta.node.settings.Settings;
import io.regatta.program.LeNet;
import io.regatta.program.block.TabularBlock;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.ModelConfig;
import io.regatta.training.dataset.SlotArrays;
import io.regatta.training.model.DistributedEmbedding;
import io.regatta.training.model.Engines;
import io.regatta.training.model.PredictingForward;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Passes for predictions, as graphs, against the same passes operator by operator. */
class PredictingForwardTest {

  private final Random random = new Random(2);

  private SlotBatch batch(Layout layout, int rows) {
    SlotBatch batch = SlotBatch.allocate(layout, rows);
    for (int i = 0; i < batch.dense().length; i++) {
      batch.dense()[i] = (float) random.nextGaussian();
    }
    for (int i = 0; i < batch.ids().length; i++) {
      batch.ids()[i] = random.nextInt(5) == 0 ? DistinctIds.PADDING : random.nextInt(20);
      if (batch.values() != null) {
        batch.values()[i] = batch.ids()[i] == DistinctIds.PADDING ? 0 : random.nextFloat();
      }
    }
    return batch;
  }

  private void attach(Block block) {
    if (block instanceof DistributedEmbedding embedding) {
      embedding.attach((table, dim, ids, training) -> {
        float[] rows = new float[ids.length * dim];
        for (int i = 0; i < rows.length; i++) {
          rows[i] = (float) Math.sin(ids[i / dim] * 31 + i % dim + table.length());
        }
        return rows;
      });
    }
    block.getChildren().forEach(child -> attach(child.getValue()));
  }

  private void requireSameBits(Block block, Layout layout) {
    Engines.current();
    SlotArrays arrays = new SlotArrays();
    try (Model model = Model.newInstance("net")) {
      model.setBlock(block);
      block.initialize(model.getNDManager(), DataType.FLOAT32, SlotArrays.shapes(layout, 1));
      attach(block);
      try (PredictingForward forward = new PredictingForward(block)) {
        for (int round = 0; round < 3; round++) {
          for (int rows : new int[] {1, 7, 64, 1}) {
            SlotBatch batch = batch(layout, rows);
            try (NDManager scope = model.getNDManager().newSubManager()) {
              float[] graph = forward.forward(scope, arrays.data(scope, batch)).singletonOrThrow().toFloatArray();
              NDList outputs = block.forward(new ParameterStore(scope, false), arrays.data(scope, batch), false);
              assertThat(graph).as("round %d, %d rows", round, rows).containsExactly(outputs.singletonOrThrow()
                  .toFloatArray());
              assertThat(graph[0]).isNotZero();
            }
          }
          for (Pair<String, Parameter> parameter : block.getParameters()) { // as a newer snapshot does
            NDArray values = parameter.getValue().getArray();
            float[] newer = new float[(int) values.size()];
            for (int i = 0; i < newer.length; i++) {
              newer[i] = (float) random.nextGaussian() / 10;
            }
            model.getNDManager().create(newer, values.getShape()).copyTo(values);
          }
        }
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"logistic_regression", "fm", "wide_and_deep", "deepfm", "dcn_v2"})
  void networksOverFeatures(String kind) {
    ModelConfig model = Settings.bind(new JsonObject().put("kind", kind), ModelConfig.class);
    Layout valued = new Layout(3, List.of(1, 2, 1), true);
    requireSameBits(new TabularBlock(valued, model), valued);
    Layout plain = new Layout(3, 4);
    requireSameBits(new TabularBlock(plain, model), plain);
  }

  @Test
  void networksOfImages() {
    LeNet program = new LeNet();
    JobConfig job = JobConfig.of(new JsonObject().put("job", "images"));
    requireSameBits(program.network(job), program.input(job).layout());
  }

  /** Its array of a constant is neither an input nor a parameter. */
  @Test
  void aBlockThatMakesAnArrayRunsOperatorByOperator() {
    requireSameBits(new SequentialBlock()
        .add(new LambdaBlock(in -> new NDList(in.head().mul(in.head().getManager().create(new float[] {1, 2, 3}))),
            "scaled"))
        .add(Linear.builder().setUnits(2).build()), new Layout(3, 0));
  }

  @Test
  void fewSizesOfBatches() {
    assertThat(IntStream.rangeClosed(1, 300).map(PaddedBatch::size).filter(size -> size <= 256).distinct().toArray())
        .containsExactly(1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256);
    assertThat(PaddedBatch.size(257)).isEqualTo(257);
    Layout layout = new Layout(2, List.of(1, 2), true);
    SlotBatch batch = batch(layout, 5);
    for (SlotBatch room : List.of(batch, batch(layout, 9))) {
      for (int row = 0; row < 5 && room != batch; row++) {
        batch.copy(row, room, row);
      }
      SlotBatch padded = PaddedBatch.of(room.first(5));
      assertThat(padded.rows()).isEqualTo(6);
      assertThat(padded.dense()).startsWith(batch.dense());
      assertThat(padded.ids()).startsWith(batch.ids());
      assertThat(new long[] {padded.ids()[15], padded.ids()[16], padded.ids()[17]}).containsOnly(DistinctIds.PADDING);
      assertThat(padded.dense()[10]).isZero();
      assertThat(padded.values()[15]).isZero();
    }
  }
}
