package io.regatta.training.save;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ai.djl.Model;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.GradientCollector;
import ai.djl.training.loss.Loss;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.init.InitializerSpec;
import io.regatta.snapshot.ModelFiles;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.JobConfig;
import io.regatta.training.model.DistributedEmbedding;
import io.regatta.training.rank.FleetTrainer;
import io.regatta.training.result.RunResult;
import io.regatta.training.testing.SharedShards;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SavedModelTest {

  /** A tensor of a safetensors file, read by the format's definition. */
  private static ByteBuffer tensor(Path file, String name, String dtype, long... shape) throws Exception {
    ByteBuffer all = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
    int headerBytes = Math.toIntExact(all.getLong());
    byte[] json = new byte[headerBytes];
    all.get(json);
    JsonObject header = new JsonObject(new String(json, StandardCharsets.UTF_8));
    JsonObject entry = header.getJsonObject(name);
    assertThat(entry.getString("dtype")).isEqualTo(dtype);
    assertThat(entry.getJsonArray("shape").stream().mapToLong(n -> ((Number) n).longValue()).toArray())
        .containsExactly(shape);
    JsonArray offsets = entry.getJsonArray("data_offsets");
    return all.slice(8 + headerBytes + offsets.getInteger(0), offsets.getInteger(1) - offsets.getInteger(0))
        .order(ByteOrder.LITTLE_ENDIAN);
  }

  /** Looks up rows of two tables of one width, and adds them up. */
  private static final class TwoTables extends ai.djl.nn.AbstractBlock {
    private final DistributedEmbedding slash = rows("a/b", 1);
    private final DistributedEmbedding line = rows("a_b", 2);

    private DistributedEmbedding rows(String table, float value) {
      return addChildBlock("of_" + (int) value, DistributedEmbedding.builder().setTable(table).setDim(2)
          .optInitializer(InitializerSpec.uniform(value, value + 0.5f)).build());
    }

    @Override
    protected NDList forwardInternal(ai.djl.training.ParameterStore store, NDList in, boolean training,
        ai.djl.util.PairList<String, Object> params) {
      return new NDList(slash.forward(store, in, training).singletonOrThrow()
          .add(line.forward(store, in, training).singletonOrThrow()));
    }

    @Override
    protected void initializeChildBlocks(ai.djl.ndarray.NDManager manager, ai.djl.ndarray.types.DataType type,
        Shape... shapes) {
      slash.initialize(manager, type, shapes);
      line.initialize(manager, type, shapes);
    }

    @Override
    public Shape[] getOutputShapes(Shape[] in) {
      return slash.getOutputShapes(in);
    }
  }

  private static TrainingProgram savesTwoTables(Path dir) {
    return worker -> {
      try (Model model = Model.newInstance("m")) {
        model.setBlock(new SequentialBlock().add(new TwoTables()).add(Linear.builder().setUnits(1).build()));
        try (FleetTrainer trainer = worker.distributedTrainer(model,
            new DefaultTrainingConfig(Loss.l2Loss()).optOptimizer(worker.optimizer()))) {
          trainer.initialize(new Shape(2, 3));
          NDList ids = new NDList(trainer.getManager().create(new long[] {1, 2, -3, 4, 5, 1}, new Shape(2, 3)));
          try (GradientCollector collector = trainer.newGradientCollector()) {
            collector.backward(trainer.forward(ids).singletonOrThrow().mean().mul(0));
          }
          trainer.step();
          worker.save(trainer, dir);
        }
      }
    };
  }

  @Test
  void tables_with_odd_names_have_files_of_their_own(@TempDir Path dir) throws Exception {
    assertThat(List.of("a/b", "a_b", "a%2Fb", "ä", "A.b-c").stream().map(ModelFiles::table)).containsExactly(
        "table-a%2Fb.safetensors", "table-a_b.safetensors", "table-a%252Fb.safetensors", "table-%C3%A4.safetensors",
        "table-A.b-c.safetensors");
    try (SharedShards shards = new SharedShards(JobConfig.of(new JsonObject().put("job", "odd").put("shards", 2)))) {
      shards.run(savesTwoTables(dir));
    }
    assertThat(tensor(dir.resolve("table-a%2Fb.safetensors"), "values", "F32", 5, 2).getFloat()).isBetween(1f, 1.5f);
    assertThat(tensor(dir.resolve("table-a_b.safetensors"), "values", "F32", 5, 2).getFloat()).isBetween(2f, 2.5f);
  }

  @Test
  void a_directory_that_cannot_be_written_ends_all_ranks_in_one_line(@TempDir Path dir) throws Exception {
    Path file = Files.writeString(dir.resolve("file"), "");
    JobConfig job = JobConfig.of(new JsonObject().put("job", "full").put("trainers", 2));
    try (SharedShards shards = new SharedShards(job)) {
      assertThatThrownBy(() -> shards.run(savesTwoTables(file))).cause().isInstanceOf(InvalidInput.class)
          .hasMessageContainingAll("job full", "cannot be saved in " + file, "choose another output directory")
          .hasMessageNotContaining("\n");
      for (int rank = 0; rank < 2; rank++) {
        assertThat(shards.result(rank)).failsWithin(java.time.Duration.ofSeconds(10));
      }
    }
  }

  /** The second save fails when only the manifest is left to be written: its temporary name is taken. */
  @Test
  void a_save_that_fails_late_leaves_an_older_model_as_it_was(@TempDir Path dir) throws Exception {
    Map<String, String> older;
    try (SharedShards shards = new SharedShards(JobConfig.of(new JsonObject().put("job", "older")))) {
      shards.run(savesTwoTables(dir));
      older = contents(dir);
    }
    assertThat(older).hasSize(5);
    Files.createDirectories(dir.resolve("manifest.json.rank0.part").resolve("in-the-way"));
    try (SharedShards shards = new SharedShards(JobConfig.of(new JsonObject().put("job", "newer").put("seed", 7)))) {
      assertThatThrownBy(() -> shards.run(savesTwoTables(dir))).cause().isInstanceOf(InvalidInput.class)
          .hasMessageContaining("cannot be saved in " + dir);
    }
    assertThat(contents(dir)).isEqualTo(older);
  }

  private static Map<String, String> contents(Path dir) throws Exception {
    Map<String, String> contents = new TreeMap<>();
    try (var files = Files.list(dir)) {
      for (Path file : files.filter(Files::isRegularFile).toList()) {
        contents.put(file.getFileName().toString(), HexFormat.of().formatHex(Files.readAllBytes(file)));
      }
    }
    return contents;
  }

  /** A directory of that name stands where the file is moved to when it is written. */
  @ParameterizedTest
  @ValueSource(strings = {"dense.safetensors", "table-a_b.safetensors", "manifest.json"})
  void a_save_that_fails_leaves_no_half_file(String file, @TempDir Path dir) throws Exception {
    Files.createDirectories(dir.resolve(file).resolve("in-the-way"));
    try (SharedShards shards = new SharedShards(JobConfig.of(new JsonObject().put("job", "half")))) {
      assertThatThrownBy(() -> shards.run(savesTwoTables(dir))).cause().isInstanceOf(InvalidInput.class)
          .hasMessageContaining("cannot be saved in " + dir);
    }
    try (var left = Files.list(dir)) {
      assertThat(left.map(path -> path.getFileName().toString())).contains(file)
          .noneMatch(name -> name.endsWith(".part"));
    }
  }

  @Test
  void denseParametersAndTablesAreReadableAndHashed(@TempDir Path dir) throws Exception {
    JobConfig job = JobConfig.of(new JsonObject().put("job", "saved").put("trainers", 2).put("shards", 2));
    float[][] weights = new float[1][];
    RunResult result;
    try (SharedShards shards = new SharedShards(job)) {
      result = shards.run(worker -> {
        try (Model model = Model.newInstance("m")) {
          model.setBlock(new SequentialBlock()
              .add(DistributedEmbedding.builder().setTable("users").setDim(2)
                  .optInitializer(InitializerSpec.uniform(-1, 1)).build())
              .add(Linear.builder().setUnits(1).build()));
          try (FleetTrainer trainer = worker.distributedTrainer(model,
              new DefaultTrainingConfig(Loss.l2Loss()).optOptimizer(worker.optimizer()))) {
            trainer.initialize(new Shape(2, 3));
            NDList ids = new NDList(trainer.getManager().create(new long[] {1, 2, -3, 4, 5, 1}, new Shape(2, 3)));
            try (GradientCollector collector = trainer.newGradientCollector()) {
              collector.backward(trainer.forward(ids).singletonOrThrow().mean());
            }
            trainer.step();
            worker.save(trainer, dir.resolve("model"));
            if (worker.isFirstWorker()) {
              weights[0] = model.getBlock().getParameters().valueAt(0).getArray().toFloatArray();
            }
          }
        }
      }).get(0);
    }
    Path saved = dir.resolve("model");
    assertThat(result.model()).isEqualTo(saved.toString());
    ByteBuffer dense = tensor(saved.resolve("dense.safetensors"), "02Linear_weight", "F32", 1, 2);
    assertThat(new float[] {dense.getFloat(), dense.getFloat()}).containsExactly(weights[0]);
    ByteBuffer ids = tensor(saved.resolve("table-users.safetensors"), "ids", "I64", 5);
    long[] found = new long[5];
    ids.asLongBuffer().get(found);
    assertThat(found).containsExactlyInAnyOrder(1, 2, -3, 4, 5);
    tensor(saved.resolve("table-users.safetensors"), "values", "F32", 5, 2);
    JsonObject manifest = new JsonObject(Files.readString(saved.resolve("manifest.json")));
    assertThat(manifest.getString("parameters_hash")).isEqualTo(result.parametersHash());
    for (Object o : manifest.getJsonArray("files")) {
      JsonObject file = (JsonObject) o;
      byte[] bytes = Files.readAllBytes(saved.resolve(file.getString("file")));
      assertThat(HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes)))
          .isEqualTo(file.getString("sha256"));
    }
    try (var left = Files.list(saved)) {
      assertThat(left).hasSize(4);
    }
  }
}
