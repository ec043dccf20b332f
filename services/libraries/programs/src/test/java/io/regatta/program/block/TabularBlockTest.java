package io.regatta.program.block;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Block;
import ai.djl.nn.Parameter;
import ai.djl.training.GradientCollector;
import ai.djl.training.ParameterStore;
import ai.djl.util.Pair;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.SparseRows;
import io.regatta.data.Layout;
import io.regatta.node.settings.Settings;
import io.regatta.training.config.ModelConfig;
import io.regatta.training.dataset.SlotArrays;
import io.regatta.training.model.DistributedEmbedding;
import io.regatta.training.model.Engines;
import io.regatta.training.model.PushedGradients;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.DoubleStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class TabularBlockTest {

  private static final Layout LAYOUT = new Layout(2, List.of(1, 1, 3), true);
  private static final int DIM = 3;

  @BeforeAll
  static void engine() {
    Engines.start("auto", 1);
  }

  private static JsonObject oracle() throws IOException {
    try (InputStream in = TabularBlockTest.class.getResourceAsStream("tabular.json")) {
      return new JsonObject(new String(in.readAllBytes(), StandardCharsets.UTF_8));
    }
  }

  /** The networks of tabular.py, which has computed tabular.json with PyTorch. */
  static Stream<JsonObject> networks() throws IOException {
    JsonObject oracle = oracle();
    return oracle.getJsonArray("networks").stream().map(network -> ((JsonObject) network).copy()
        .put("ids", oracle.getJsonArray("ids")).put("values", oracle.getJsonArray("values"))
        .put("dense", oracle.getJsonArray("dense")).put("labels", oracle.getJsonArray("labels")));
  }

  private static ModelConfig model(String kind, JsonObject more) {
    JsonObject json = new JsonObject().put("kind", kind).mergeIn(more);
    if (!kind.equals("logistic_regression")) {
      json.put("embedding", DIM);
    }
    if (!List.of("logistic_regression", "fm").contains(kind)) {
      json.put("hidden", JsonArray.of(4, 3));
    }
    return Settings.bind(json, ModelConfig.class);
  }

  private static double[] numbers(JsonArray array) {
    return array.stream().flatMapToDouble(value -> value instanceof JsonArray row
        ? row.stream().mapToDouble(n -> ((Number) n).doubleValue()) : DoubleStream.of(((Number) value).doubleValue()))
        .toArray();
  }

  private static float[] floats(JsonArray array) {
    double[] numbers = numbers(array);
    float[] floats = new float[numbers.length];
    for (int i = 0; i < floats.length; i++) {
      floats[i] = (float) numbers[i];
    }
    return floats;
  }

  /** Returns the block's parameters by PyTorch's name: without the names of the children that hold them. */
  private static Map<String, Parameter> parameters(Block block) {
    Map<String, Parameter> parameters = new HashMap<>();
    int layer = 0;
    for (Pair<String, Parameter> p : block.getParameters()) {
      String name = p.getKey().replaceFirst("^\\d+", "");
      if (name.startsWith("deep_")) {
        name = "deep" + layer / 2 + (name.endsWith("weight") ? "_weight" : "_bias");
        layer++;
      } else {
        name = name.replaceFirst("^(linear|vectors|cross)_(?!logit)", "");
      }
      assertThat(parameters.put(name, p.getValue())).as(name).isNull();
    }
    return parameters;
  }

  private static List<DistributedEmbedding> embeddings(Block block) {
    List<DistributedEmbedding> found = new ArrayList<>();
    if (block instanceof DistributedEmbedding embedding) {
      found.add(embedding);
    }
    block.getChildren().values().forEach(child -> found.addAll(embeddings(child)));
    return found;
  }

  private static void attach(Block block, Map<String, float[]> tables) {
    embeddings(block).forEach(embedding -> embedding.attach((table, dim, ids, training) -> {
      float[] rows = new float[ids.length * dim];
      for (int i = 0; i < ids.length; i++) {
        System.arraycopy(tables.get(table), (int) ids[i] * dim, rows, i * dim, dim);
      }
      return rows;
    }));
  }

  @ParameterizedTest
  @MethodSource("networks")
  void hasTheLogitsAndGradientsOfPyTorch(JsonObject network) {
    JsonObject more = network.getInteger("rank") > 0 ? new JsonObject().put("cross_rank", network.getInteger("rank")) : new JsonObject();
    String kind = network.getString("kind");
    TabularBlock block = new TabularBlock(LAYOUT, model(kind, kind.equals("dcn_v2") ? more.put("cross_layers", 2) : more));
    try (NDManager manager = NDManager.newBaseManager()) {
      block.initialize(manager, DataType.FLOAT32, SlotArrays.shapes(LAYOUT, 4));
      Map<String, Parameter> parameters = parameters(block);
      JsonObject expected = network.getJsonObject("parameters");
      assertThat(parameters.keySet()).isEqualTo(expected.fieldNames());
      parameters.forEach((name, p) -> {
        p.getArray().set(floats(expected.getJsonObject(name).getJsonArray("value")));
        p.getArray().setRequiresGradient(true);
      });
      Map<String, float[]> tables = new HashMap<>();
      network.getJsonObject("tables").forEach(table -> tables.put(table.getKey(),
          floats(((JsonObject) table.getValue()).getJsonArray("value"))));
      attach(block, tables);
      double[] ids = numbers(network.getJsonArray("ids"));
      long[] whole = new long[ids.length];
      for (int i = 0; i < ids.length; i++) {
        whole[i] = (long) ids[i];
      }
      NDList inputs = new NDList(manager.create(floats(network.getJsonArray("dense")), new Shape(4, 2)),
          manager.create(whole, new Shape(4, 5)), manager.create(floats(network.getJsonArray("values")), new Shape(4, 5)));
      NDArray labels = manager.create(floats(network.getJsonArray("labels")), new Shape(4, 1));
      ParameterStore store = new ParameterStore(manager, false);
      try (GradientCollector collector = Engines.newGradientCollector()) {
        NDArray logits = block.forward(store, inputs, true).singletonOrThrow();
        NDArray loss = BinaryHead.LOGIT.loss("loss").evaluate(new NDList(labels), new NDList(logits));
        collector.backward(loss);
        close(kind + " logits", logits.toFloatArray(), numbers(network.getJsonArray("logits")));
        assertThat((double) loss.getFloat()).isCloseTo(network.getDouble("loss"), within(1e-5));
      }
      parameters.forEach((name, p) -> close(kind + " " + name, p.getArray().getGradient().toFloatArray(),
          numbers(expected.getJsonObject(name).getJsonArray("gradient"))));
      for (DistributedEmbedding embedding : embeddings(block)) {
        float[] sums = new float[tables.get(embedding.table()).length];
        for (SparseRows rows : PushedGradients.of(embedding)) {
          for (int i = 0; i < rows.ids().length; i++) {
            System.arraycopy(rows.values(), i * embedding.dim(), sums, (int) rows.ids()[i] * embedding.dim(), embedding.dim());
          }
        }
        close(kind + " table " + embedding.table(), sums,
            numbers(network.getJsonObject("tables").getJsonObject(embedding.table()).getJsonArray("gradient")));
      }
    }
  }

  private static void close(String what, float[] ours, double[] expected) {
    assertThat(ours).as(what).hasSize(expected.length);
    for (int i = 0; i < ours.length; i++) {
      assertThat((double) ours[i]).as(what + " [" + i + "]").isCloseTo(expected[i], within(2e-5 * Math.max(1, Math.abs(expected[i]))));
    }
  }

  /** Gives both blocks the same parameters, in order, and the same rows; returns the largest difference of their logits. */
  private static double difference(Block one, Block other, Map<String, String> names, Map<String, String> tables) {
    Layout layout = new Layout(2, 3);
    Random random = new Random(3);
    try (NDManager manager = NDManager.newBaseManager()) {
      for (Block block : List.of(one, other)) {
        block.initialize(manager, DataType.FLOAT32, SlotArrays.shapes(layout, 4));
      }
      Map<String, Parameter> ours = parameters(one);
      for (Map.Entry<String, Parameter> theirs : parameters(other).entrySet()) {
        float[] values = new float[(int) theirs.getValue().getArray().size()];
        for (int i = 0; i < values.length; i++) {
          values[i] = random.nextFloat() - 0.5f;
        }
        theirs.getValue().getArray().set(values);
        ours.get(names.getOrDefault(theirs.getKey(), theirs.getKey())).getArray().set(values);
      }
      Map<String, float[]> rows = new HashMap<>();
      for (String table : List.of("weights", "embedding")) {
        float[] values = new float[7 * DIM];
        for (int i = 0; i < values.length; i++) {
          values[i] = random.nextFloat() - 0.5f;
        }
        rows.put(table, values);
        rows.put(tables.getOrDefault(table, table), values);
      }
      attach(one, rows);
      attach(other, rows);
      NDList inputs = new NDList(manager.create(new float[] {0.5f, -1, 2, 0.25f, 0, 1, -0.5f, 3}, new Shape(4, 2)),
          manager.create(new long[] {0, 1, 2, 3, 4, 5, 6, 0, 0, 1, 1, 1}, new Shape(4, 3)));
      ParameterStore store = new ParameterStore(manager, false);
      float[] a = one.forward(store, inputs, false).singletonOrThrow().toFloatArray();
      float[] b = other.forward(store, inputs, false).singletonOrThrow().toFloatArray();
      double most = 0;
      for (int i = 0; i < a.length; i++) {
        most = Math.max(most, Math.abs(a[i] - b[i]));
      }
      assertThat(a).hasSize(4).doesNotContain(0f);
      return most;
    }
  }

  @Test
  void deepfmIsTheCriteoProgramsNetwork() {
    assertThat(difference(new TabularBlock(new Layout(2, 3), model("deepfm", new JsonObject())),
        new DeepFmBlock(new Layout(2, 3), DIM, 0.05f, List.of(4, 3), 1.414),
        Map.of("weights_weight", "dense_weights", "weights_bias", "bias"), Map.of())).isLessThan(1e-6);
  }

  @Test
  void wideAndDeepIsTheCriteoProgramsNetwork() {
    assertThat(difference(new TabularBlock(new Layout(2, 3), model("wide_and_deep", new JsonObject())),
        new WideAndDeepBlock(new Layout(2, 3), DIM, 0.05f, List.of(4, 3), 1.414, true),
        Map.of("wide_weight", "dense_weights", "wide_bias", "bias"), Map.of("weights", "wide"))).isLessThan(1e-6);
  }

  /** Layouts may lack dense features, slots or values; a network without slots is one over numbers. */
  @ParameterizedTest
  @MethodSource("layouts")
  void takesEveryLayout(Layout layout) {
    for (String kind : List.of("logistic_regression", "fm", "wide_and_deep", "deepfm", "dcn_v2")) {
      TabularBlock block = new TabularBlock(layout, model(kind, new JsonObject()));
      try (NDManager manager = NDManager.newBaseManager()) {
        block.initialize(manager, DataType.FLOAT32, SlotArrays.shapes(layout, 2));
        attach(block, Map.of("weights", new float[3], "embedding", new float[3 * DIM]));
        NDList inputs = new NDList();
        for (Shape shape : SlotArrays.shapes(layout, 2)) {
          boolean ids = layout.slots() > 0 && inputs.size() == (layout.dense() > 0 ? 1 : 0);
          inputs.add(manager.zeros(shape, ids ? DataType.INT64 : DataType.FLOAT32));
        }
        assertThat(block.forward(new ParameterStore(manager, false), inputs, false).singletonOrThrow().getShape())
            .as(kind).isEqualTo(new Shape(2, 1));
      }
    }
  }

  static Stream<Layout> layouts() {
    return Stream.of(new Layout(0, 2), new Layout(3, 0), new Layout(1, List.of(2, 1), false), new Layout(0, List.of(1), true));
  }

  @Test
  void refusesNoNetwork() {
    assertThatThrownBy(() -> new TabularBlock(LAYOUT, Settings.defaults(ModelConfig.class))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("model.kind is missing");
  }
}
