package io.regatta.program.network;

import static org.assertj.core.api.Assertions.assertThat;
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
import ai.djl.training.loss.Loss;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.feature.InputRow;
import io.regatta.data.Layout;
import io.regatta.data.feature.RowLabels;
import io.regatta.node.settings.Settings;
import io.regatta.program.label.LabelHeads;
import io.regatta.program.label.RetrievalHead;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.ModelConfig;
import io.regatta.training.dataset.SlotArrays;
import io.regatta.training.feature.DeclaredFeatures;
import io.regatta.training.feature.DeclaredLabels;
import io.regatta.training.model.DistributedEmbedding;
import io.regatta.training.model.Engines;
import io.regatta.training.model.PushedGradients;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Networks and losses have the numbers of PyTorch: networks.py has computed networks.json. */
class NetworksTest {

  private static final Layout LAYOUT = new Layout(2, List.of(1, 1, 3), true);
  private static final int DIM = 3;
  private static final int ROWS = 4;

  private static JsonObject oracle;

  @BeforeAll
  static void engine() throws IOException {
    Engines.start("auto", 1);
    oracle();
  }

  private static JsonObject oracle() throws IOException {
    if (oracle == null) {
      try (InputStream in = NetworksTest.class.getResourceAsStream("networks.json")) {
        oracle = new JsonObject(new String(in.readAllBytes(), StandardCharsets.UTF_8));
      }
    }
    return oracle;
  }

  static Stream<JsonObject> networks() throws IOException {
    return oracle().getJsonArray("networks").stream().map(JsonObject.class::cast);
  }

  static Stream<JsonObject> losses() throws IOException {
    return oracle().getJsonArray("losses").stream().map(JsonObject.class::cast);
  }

  private static List<Double> numbers(JsonArray array) {
    return array.stream().flatMap(value -> value instanceof JsonArray row ? numbers(row).stream() : Stream.of(((Number) value).doubleValue()))
        .toList();
  }

  private static float[] floats(JsonArray array) {
    List<Double> numbers = numbers(array);
    float[] floats = new float[numbers.size()];
    for (int i = 0; i < floats.length; i++) {
      floats[i] = numbers.get(i).floatValue();
    }
    return floats;
  }

  private static void close(String what, float[] ours, JsonArray expected) {
    List<Double> numbers = numbers(expected);
    assertThat(ours).as(what).hasSize(numbers.size());
    for (int i = 0; i < ours.length; i++) {
      assertThat((double) ours[i]).as(what + " [" + i + "]").isCloseTo(numbers.get(i), within(2e-5 * Math.max(1, Math.abs(numbers.get(i)))));
    }
  }

  private static List<DistributedEmbedding> embeddings(Block block) {
    List<DistributedEmbedding> found = new ArrayList<>();
    if (block instanceof DistributedEmbedding embedding) {
      found.add(embedding);
    }
    block.getChildren().values().forEach(child -> found.addAll(embeddings(child)));
    return found;
  }

  private static ModelConfig model(String kind) {
    JsonObject json = new JsonObject().put("kind", kind).put("embedding", DIM);
    switch (kind) {
      case "dlrm" -> json.put("hidden", JsonArray.of(4, 3)).put("bottom", JsonArray.of(4));
      case "din" -> json.put("hidden", JsonArray.of(4, 3)).put("attention", JsonArray.of(4, 3));
      case "mmoe" -> json.put("hidden", JsonArray.of(4, 3)).put("experts", 2).put("tower", JsonArray.of(2));
      case "matrix_factorization" -> json.put("user", JsonArray.of("u")).put("item", JsonArray.of("i"));
      case "two_towers" -> json.put("hidden", JsonArray.of(4, 3)).put("user", JsonArray.of("u")).put("item", JsonArray.of("i"));
      default -> json.put("hidden", JsonArray.of(4, 3));
    }
    return Settings.bind(json, ModelConfig.class);
  }

  private static Block block(String kind) {
    ModelConfig model = model(kind);
    return switch (kind) {
      case "dlrm" -> new DlrmBlock(LAYOUT, model, 1);
      case "din" -> new DinBlock(LAYOUT, Map.of(2, 1), model, 1);
      case "mmoe" -> new FieldsNetwork(LAYOUT, model, width -> new MixtureOfExperts(width, model, List.of(1, 1)));
      case "esmm" -> new FieldsNetwork(LAYOUT, model, width -> new ConversionLogits(width, model));
      case "matrix_factorization" -> new MatrixFactorizationBlock(LAYOUT, 0, 1, model);
      default -> new TwoTowersBlock(LAYOUT, new TwoTowersBlock.Fields(List.of(0), List.of(0)),
          new TwoTowersBlock.Fields(List.of(1, 2), List.of(1)), model);
    };
  }

  private static DeclaredLabels declared(String labels) {
    JobConfig job = JobConfig.of(new JsonObject("{\"job\": \"j\", \"features\": {\"x\": {\"kind\": \"id\"}}, \"labels\": {" + labels + "}}"));
    return DeclaredLabels.of(job, DeclaredFeatures.features(job));
  }

  /** Returns the labels of rows as a source reads them. */
  private static NDArray labels(NDManager manager, RowLabels reader, JsonArray rows) {
    float[] all = new float[rows.size() * reader.width()];
    int[] numbers = new int[reader.columns().size()];
    Arrays.setAll(numbers, i -> i);
    for (int r = 0; r < rows.size(); r++) {
      JsonArray row = rows.getValue(r) instanceof JsonArray several ? several : JsonArray.of(rows.getValue(r));
      InputRow input = new InputRow(row.size());
      for (int c = 0; c < row.size(); c++) {
        if (row.getValue(c) != null) {
          byte[] text = row.getValue(c).toString().getBytes(StandardCharsets.UTF_8);
          int column = row.getValue(c) instanceof String ? row.size() - 1 - c : row.size() == 2 && row.getValue(0) instanceof String ? 0 : c;
          input.text(column, text, 0, text.length);
        }
      }
      assertThat(reader.read(input, numbers, all, r * reader.width())).isNull();
    }
    return manager.create(all, new Shape(rows.size(), reader.width()));
  }

  private static Loss loss(String kind) {
    return switch (kind) {
      case "mmoe" -> new LabelHeads(declared("\"a\": {}, \"b\": {\"weight\": 0.5, \"missing\": \"mask\"}")).loss("loss");
      case "esmm" -> new LabelHeads(declared("\"click\": {}, \"conversion\": {}")).loss("loss");
      case "matrix_factorization" -> new LabelHeads(declared("\"rating\": {\"kind\": \"number\"}")).loss("loss");
      case "two_towers" -> new RetrievalHead(1, 0.5, 0.01, DIM, true).loss("loss");
      default -> new LabelHeads(declared("\"a\": {}")).loss("loss");
    };
  }

  /** The reward, and an item's hash of three floats. */
  private static NDArray rewards(NDManager manager, JsonArray rewards, String items) {
    float[] all = new float[ROWS * 4];
    for (int i = 0; i < ROWS; i++) {
      all[4 * i] = rewards == null ? 0 : rewards.getJsonArray(i).getFloat(0);
      all[4 * i + 3] = items.charAt(i);
    }
    return manager.create(all, new Shape(ROWS, 4));
  }

  @ParameterizedTest
  @MethodSource("networks")
  void networkHasTheOutputsAndGradientsOfPyTorch(JsonObject network) throws IOException {
    String kind = network.getString("kind");
    Block block = block(kind);
    Loss loss = loss(kind);
    try (NDManager manager = NDManager.newBaseManager()) {
      block.initialize(manager, DataType.FLOAT32, SlotArrays.shapes(LAYOUT, ROWS));
      List<Parameter> parameters = block.getParameters().values();
      JsonArray expected = network.getJsonArray("parameters");
      assertThat(parameters).hasSize(expected.size());
      for (int i = 0; i < expected.size(); i++) {
        parameters.get(i).getArray().set(floats(expected.getJsonObject(i).getJsonArray("value")));
        parameters.get(i).getArray().setRequiresGradient(true);
      }
      JsonObject tables = network.getJsonObject("tables");
      embeddings(block).forEach(embedding -> embedding.attach((table, dim, ids, training) -> {
        float[] values = floats(tables.getJsonObject(table).getJsonArray("value"));
        float[] rows = new float[ids.length * dim];
        for (int i = 0; i < ids.length; i++) {
          System.arraycopy(values, number(ids[i]) * dim, rows, i * dim, dim);
        }
        return rows;
      }));
      long[] ids = numbers(oracle().getJsonArray("ids")).stream().mapToLong(number -> id(number.longValue())).toArray();
      NDList inputs = new NDList(manager.create(floats(oracle().getJsonArray("dense")), new Shape(ROWS, 2)),
          manager.create(ids, new Shape(ROWS, 5)), manager.create(floats(oracle().getJsonArray("values")), new Shape(ROWS, 5)));
      ParameterStore store = new ParameterStore(manager, false);
      NDArray labels;
      if (kind.equals("two_towers")) {
        loss.evaluate(new NDList(rewards(manager, null, "ABCD")), new NDList(manager.ones(new Shape(ROWS, 2 * DIM))));
        labels = rewards(manager, network.getJsonArray("labels"), "AEFA");
      } else {
        labels = labels(manager, readerOf(kind), network.getJsonArray("labels"));
      }
      try (GradientCollector collector = Engines.newGradientCollector()) {
        NDArray outputs = block.forward(store, inputs, true).singletonOrThrow();
        NDArray value = loss.evaluate(new NDList(labels), new NDList(outputs));
        collector.backward(value);
        close(kind + " outputs", outputs.toFloatArray(), network.getJsonArray("outputs"));
        assertThat((double) value.getFloat()).as(kind + " loss").isCloseTo(network.getDouble("loss"), within(1e-5));
      }
      for (int i = 0; i < expected.size(); i++) {
        close(kind + " parameter " + i, parameters.get(i).getArray().getGradient().toFloatArray(),
            expected.getJsonObject(i).getJsonArray("gradient"));
      }
      for (DistributedEmbedding embedding : embeddings(block)) {
        JsonArray gradient = tables.getJsonObject(embedding.table()).getJsonArray("gradient");
        float[] sums = new float[gradient.size()];
        for (SparseRows rows : PushedGradients.of(embedding)) {
          for (int i = 0; i < rows.ids().length; i++) {
            System.arraycopy(rows.values(), i * embedding.dim(), sums, number(rows.ids()[i]) * embedding.dim(), embedding.dim());
          }
        }
        close(kind + " table " + embedding.table(), sums, gradient);
      }
    }
  }

  /** Returns the id of a row of a table: hashes are negative as often as not. */
  private static long id(long number) {
    return number % 2 == 1 ? Long.MIN_VALUE + number : number;
  }

  private static int number(long id) {
    return (int) (id & Byte.MAX_VALUE);
  }

  private static RowLabels readerOf(String kind) {
    return switch (kind) {
      case "mmoe" -> declared("\"a\": {}, \"b\": {\"weight\": 0.5, \"missing\": \"mask\"}").rows(false);
      case "esmm" -> declared("\"click\": {}, \"conversion\": {}").rows(false);
      case "matrix_factorization" -> declared("\"rating\": {\"kind\": \"number\"}").rows(false);
      default -> declared("\"a\": {}").rows(false);
    };
  }

  private static String label(String loss) {
    return switch (loss) {
      case "binary" -> "{\"positive_weight\": 2.5}";
      case "classes" -> "{\"kind\": \"classes\", \"classes\": [\"[0-2]\"]}";
      case "huber" -> "{\"kind\": \"number\", \"loss\": \"huber\", \"delta\": 0.7}";
      case "squared", "poisson" -> "{\"kind\": \"number\", \"loss\": \"" + loss + "\"}";
      default -> "{\"kind\": \"rank\", \"loss\": \"" + loss + "\", \"group\": \"g\"}";
    };
  }

  @ParameterizedTest
  @MethodSource("losses")
  void lossHasTheValueAndGradientOfPyTorch(JsonObject of) {
    String name = of.getString("name");
    DeclaredLabels declared = declared("\"y\": " + label(name));
    try (NDManager manager = NDManager.newBaseManager()) {
      JsonArray rows = of.getJsonArray("labels");
      NDArray labels = labels(manager, declared.rows(false), rows);
      NDArray outputs = manager.create(floats(of.getJsonArray("outputs")), new Shape(rows.size(), declared.outputs()));
      outputs.setRequiresGradient(true);
      try (GradientCollector collector = Engines.newGradientCollector()) {
        NDArray value = new LabelHeads(declared).loss("loss").evaluate(new NDList(labels), new NDList(outputs));
        collector.backward(value);
        assertThat((double) value.getFloat()).as(name).isCloseTo(of.getDouble("loss"), within(2e-6 * Math.max(1, of.getDouble("loss"))));
      }
      close(name + " gradient", outputs.getGradient().toFloatArray(), of.getJsonArray("gradient"));
    }
  }
}
