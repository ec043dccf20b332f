package io.regatta.predictor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import com.google.protobuf.ByteString;
import io.regatta.core.progress.Progress;
import io.regatta.node.process.Blocking;
import io.regatta.protocol.inference.GRPCInferenceServiceGrpcClient;
import io.regatta.protocol.inference.InferTensorContents;
import io.regatta.protocol.inference.ModelInferRequest;
import io.regatta.protocol.inference.ModelInferRequest.InferInputTensor;
import io.regatta.protocol.inference.ModelInferResponse;
import io.regatta.protocol.inference.ModelMetadataRequest;
import io.regatta.protocol.inference.ModelMetadataResponse;
import io.regatta.protocol.inference.ModelReadyRequest;
import io.regatta.protocol.inference.ServerLiveRequest;
import io.regatta.protocol.inference.ServerMetadataRequest;
import io.regatta.protocol.inference.ServerReadyRequest;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.training.config.JobConfig;
import io.regatta.training.run.LocalRun;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.vertx.core.net.SocketAddress;
import io.vertx.grpc.client.GrpcClient;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The same rows through each way into a service: the same scores. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ServingWaysTest {

  private static final int ROWS = 200;
  private static final List<String> COLUMNS = List.of("color", "price", "tags", "when", "title");

  /** A row; an empty text is a missing value, and no price is negative. */
  private record Row(String color, String price, List<String> tags, String when, String title) {

    List<String> texts() {
      return List.of(color, price, String.join("|", tags), when, title);
    }

    JsonObject json() {
      JsonObject json = new JsonObject();
      for (String column : COLUMNS) {
        String text = texts().get(COLUMNS.indexOf(column));
        if (column.equals("tags")) {
          json.put(column, new JsonArray(tags));
        } else if (!text.isEmpty()) {
          json.put(column, column.equals("price") ? (Object) Double.valueOf(text) : column.equals("when")
              ? (Object) Long.valueOf(text) : text);
        }
      }
      return json;
    }
  }

  @TempDir
  static Path dir;

  private final HttpClient http = HttpClient.newHttpClient();
  private final Vertx vertx = Vertx.vertx();
  private final List<Row> rows = new ArrayList<>();
  private Predictor predictor;
  private int port;
  private GRPCInferenceServiceGrpcClient grpc;
  private List<Float> expected;

  @BeforeAll
  void serve() throws Exception {
    Random random = new Random(4);
    StringBuilder train = new StringBuilder("bought,color,price,tags,when,title\n");
    for (int i = 0; i < ROWS; i++) {
      List<String> tags = new ArrayList<>();
      for (int tag = random.nextInt(3); tag > 0; tag--) {
        tags.add("t" + random.nextInt(5));
      }
      Row row = new Row(random.nextInt(9) == 0 ? "" : "c" + random.nextInt(4), random.nextInt(9) == 0 ? ""
          : Double.toString(random.nextInt(100) / 10.0),
          tags, Integer.toString(1_700_000_000 + random.nextInt(1_000_000)), "some, \"title\" " + random.nextInt(20));
      rows.add(row);
      train.append(random.nextInt(2)).append(',').append(csv(row)).append('\n');
    }
    Files.writeString(dir.resolve("train.csv"), train);
    LocalRun.run(JobConfig.of(new JsonObject("""
        {"job": "shop", "epochs": 1, "batch_size": 50, "optimizer": {"kind": "adam", "learning_rate": 0.05},
         "data": {"dir": "DIR", "files": ["train.csv"], "test": {"share": 0.2, "by": "hash"}},
         "labels": {"bought": {}},
         "features": {"color": {"kind": "id"}, "price": {"kind": "number", "scale": "none"},
           "tags": {"kind": "ids", "separator": "|", "max": 3, "pooling": "mean"},
           "when": {"kind": "time", "format": "epoch_s", "parts": ["hour", "weekday"]},
           "title": {"kind": "text", "max": 4, "ngrams": 2}},
         "model": {"kind": "deepfm"},
         "output": "DIR/model"}""".replace("DIR", dir.toString()))), null, Progress.none());
    predictor = Predictor.load(dir.resolve("model"));
    PredictionEndpoint endpoint = new PredictionEndpoint(vertx, PeerSecurity.NONE, probe -> probe.response().end(),
        () -> true, predictor, PredictorConfig.of("model", "", 1000, 1 << 20), 10_000);
    HttpServer server = Blocking.get(endpoint.server().listen(0, "127.0.0.1"));
    port = server.actualPort();
    grpc = GRPCInferenceServiceGrpcClient.create(GrpcClient.client(vertx), SocketAddress.inetSocketAddress(port,
        "127.0.0.1"));
    expected = scores(post("/predict", "text/plain", rows.stream().map(row -> row.json().encode())
        .collect(Collectors.joining("\n"))));
    assertThat(expected).hasSize(ROWS).doesNotHaveDuplicates().hasSizeGreaterThan(1);
  }

  @AfterAll
  void close() {
    predictor.close();
    Blocking.get(vertx.close());
  }

  private static String csv(Row row) {
    return row.texts().stream().map(text -> '"' + text.replace("\"", "\"\"") + '"').collect(Collectors.joining(","));
  }

  private JsonObject post(String path, String type, String body) throws Exception {
    HttpResponse<String> answer = http.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
        .header("content-type", type)
        .POST(BodyPublishers.ofString(body)).build(), BodyHandlers.ofString());
    return new JsonObject(answer.body()).put("status", answer.statusCode());
  }

  private JsonObject get(String path) throws Exception {
    HttpResponse<String> answer = http.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
        .build(), BodyHandlers.ofString());
    return new JsonObject(answer.body()).put("status", answer.statusCode());
  }

  private static List<Float> scores(JsonObject answer) {
    assertThat(answer.getInteger("status")).as(answer.encode()).isEqualTo(200);
    return floats(answer.getJsonArray("scores"));
  }

  private static List<Float> floats(JsonArray numbers) {
    List<Float> floats = new ArrayList<>();
    for (int i = 0; i < numbers.size(); i++) {
      floats.add(numbers.getFloat(i));
    }
    return floats;
  }

  @Test
  void objectsAndTables() throws Exception {
    JsonArray array = new JsonArray();
    rows.forEach(row -> array.add(row.json()));
    assertThat(scores(post("/predict", "application/json", array.encodePrettily()))).isEqualTo(expected);
    assertThat(scores(post("/predict", "application/x-www-form-urlencoded", array.encode()))).isEqualTo(expected);
    assertThat(scores(post("/predict", "application/json; charset=utf-8", rows.get(0).json().encode()))).hasSize(1);
    String header = String.join(",", COLUMNS);
    assertThat(scores(post("/predict", "text/csv", header + "\n" + rows.stream().map(ServingWaysTest::csv)
        .collect(Collectors.joining("\n")))))
        .isEqualTo(expected);
    assertThat(scores(post("/predict", "text/csv; charset=utf-8; header=present", "\uFEFFid,bought," + header + "\r\n"
        + rows.stream()
        .map(row -> "7,," + csv(row)).collect(Collectors.joining("\r\n"))))).as("columns that no feature reads")
            .isEqualTo(expected);
    assertThat(scores(post("/predict", "text/tab-separated-values", String.join("\t", COLUMNS) + "\n"
        + rows.stream().map(row -> String.join("\t", row.texts())).collect(Collectors.joining("\n")))))
            .isEqualTo(expected);
  }

  @Test
  void tablesWithAnyLineEnds() throws Exception {
    String header = String.join(",", COLUMNS);
    for (String end : List.of("\r", "\r\n", "\n")) {
      assertThat(scores(post("/predict", "text/csv", header + end + rows.stream().map(ServingWaysTest::csv)
          .collect(Collectors.joining(end))))).isEqualTo(expected);
    }
  }

  /** They are parsed, and answered, by other threads. */
  @Test
  void largeRequestsHaveTheSameScores() throws Exception {
    int times = 45;
    String lines = rows.stream().map(row -> row.json().encode()).collect(Collectors.joining("\n"));
    List<Float> all = scores(post("/predict", "text/plain", String.join("\n", Collections.nCopies(times, lines))));
    assertThat(all).hasSize(times * ROWS);
    for (int i = 0; i < all.size(); i++) {
      assertThat(all.get(i)).isCloseTo(expected.get(i % ROWS), within(1e-5f));
    }
    assertThat(post("/predict", "text/plain", String.join("\n", Collections.nCopies(times, lines)) + "\n{").encode())
        .contains("request, line " + (times * ROWS + 1)).contains("400");
  }

  /** A few bytes must not claim millions of examples. */
  @Test
  void examplesWithoutElementsAreRefused() throws Exception {
    assertThat(post("/v2/models/shop/infer", "application/json", "{\"inputs\": [{\"name\": \"tags\", \"shape\": [2000000, 0], "
        + "\"datatype\": \"BYTES\", \"data\": []}]}").encode()).contains("input tags has no elements for its 2000000 examples")
        .contains("400");
    assertThat(post("/predict", "text/plain", "{}\n".repeat(70_000)).encode()).contains("70000 examples; send at most 65536 at a time")
        .contains("400");
    JsonArray twice = tensors(true).getJsonArray("inputs").add(tensors(true).getJsonArray("inputs").getValue(0));
    assertThat(post("/v2/models/shop/infer", "application/json", new JsonObject().put("inputs", twice).encode()).encode())
        .contains("has the input color twice").contains("400");
  }

  @Test
  void malformedRowsAreNamed() throws Exception {
    String header = String.join(",", COLUMNS) + "\n";
    assertThat(post("/predict", "text/csv", header + csv(rows.get(0)) + "\nc1,cheap,,,\n").encode())
        .contains("request, line 3, column price: expected a number, found 'cheap'").contains("\"status\":400");
    assertThat(post("/predict", "text/csv", "color,price\nc1,2\n").encode())
        .contains("request, line 1: expected a column named tags, found [color, price]")
        .contains("400");
    assertThat(post("/predict", "text/csv; header=absent", "c1,2\n").encode())
        .contains("trained on files with a header").contains("400");
    assertThat(post("/predict", "text/csv", header + "\"c1").encode())
        .contains("request, line 2, column 2 (price): the row ends after 1 column").contains("400");
    assertThat(post("/predict", "application/json", "[{\"color\": \"c1\"},\n{\"price\": \"cheap\"}]").encode())
        .contains("request, object 2, line 2, column price: expected a number, found 'cheap'").contains("400");
    assertThat(post("/predict", "application/json", "[{\"colour\": \"c1\"}]").encode())
        .contains("it has none of the columns").contains("400");
  }

  /** Returns the request with a tensor for each column; texts everywhere, or the columns' own types. */
  private JsonObject tensors(boolean texts) {
    JsonArray inputs = new JsonArray();
    for (String column : COLUMNS) {
      boolean number = !texts && (column.equals("price") || column.equals("when"));
      JsonArray data = new JsonArray();
      for (Row row : rows) {
        String text = row.texts().get(COLUMNS.indexOf(column));
        data.add(number ? text.isEmpty() ? null : (Object) Double.valueOf(text) : text);
      }
      inputs.add(new JsonObject().put("name", column).put("datatype", number ? "FP64" : "BYTES")
          .put("shape", new JsonArray().add(ROWS).add(1))
          .put("data", data));
    }
    return new JsonObject().put("id", "a \"request\"").put("inputs", inputs);
  }

  @Test
  void tensorsInJson() throws Exception {
    for (boolean texts : new boolean[] {false, true}) {
      JsonObject answer = post("/v2/models/shop/infer", "application/json", tensors(texts).encode());
      assertThat(answer.getInteger("status")).as(answer.encode()).isEqualTo(200);
      assertThat(answer.getString("id")).isEqualTo("a \"request\"");
      assertThat(answer.getString("model_name")).isEqualTo("shop");
      assertThat(answer.getString("model_version")).isEqualTo(Long.toString(predictor.source().step()));
      JsonObject output = answer.getJsonArray("outputs").getJsonObject(0);
      assertThat(output.getString("name") + output.getString("datatype") + output.getJsonArray("shape").encode())
          .isEqualTo("scoresFP32[200,1]");
      assertThat(floats(output.getJsonArray("data"))).isEqualTo(expected);
    }
    String version = Long.toString(predictor.source().step());
    assertThat(post("/v2/models/shop/versions/" + version + "/infer", "application/json", tensors(true).encode())
        .getInteger("status")).isEqualTo(200);
    assertThat(post("/v2/models/shop/versions/7/infer", "application/json", "{}").encode())
        .contains("version 7 of model shop is not served").contains("404");
    assertThat(post("/v2/models/shops/infer", "application/json", "{}").encode())
        .contains("there is no model shops here, only shop").contains("404");
    assertThat(post("/v2/models/shop/infer", "application/json", "{}").encode()).contains("a request needs inputs")
        .contains("400");
    assertThat(post("/v2/models/shop/infer", "application/json",
        "{\"inputs\": [{\"name\": \"colour\", \"shape\": [1], \"datatype\": \"BYTES\", "
        + "\"data\": [\"c1\"]}]}").encode()).contains("this model has no input colour, only [color, price,")
            .contains("400");
    assertThat(post("/v2/models/shop/infer", "application/json", tensors(true).put("outputs", new JsonArray()
        .add(new JsonObject()
        .put("name", "logits"))).encode()).encode()).contains("this model has no output logits").contains("400");
    assertThat(get("/v2/models/shop/infer").getInteger("status")).isEqualTo(405);
    assertThat(get("/v2/models").getInteger("status")).isEqualTo(404);
  }

  @Test
  void tensorsAfterTheJson() throws Exception {
    ByteBuffer raw = ByteBuffer.allocate(1 << 16).order(ByteOrder.LITTLE_ENDIAN);
    JsonArray inputs = new JsonArray();
    for (String column : COLUMNS) {
      int before = raw.position();
      rows.forEach(row -> {
        byte[] text = row.texts().get(COLUMNS.indexOf(column)).getBytes(StandardCharsets.UTF_8);
        raw.putInt(text.length).put(text);
      });
      inputs.add(new JsonObject().put("name", column).put("datatype", "BYTES").put("shape", new JsonArray().add(ROWS))
          .put("parameters", new JsonObject().put("binary_data_size", raw.position() - before)));
    }
    byte[] head = new JsonObject().put("inputs", inputs).put("parameters", new JsonObject()
        .put("binary_data_output", true)).encode().getBytes();
    byte[] body = ByteBuffer.allocate(head.length + raw.position()).put(head).put(raw.flip()).array();
    HttpResponse<byte[]> answer =
        http.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + "/v2/models/shop/infer"))
        .header("Inference-Header-Content-Length", Integer.toString(head.length))
            .POST(BodyPublishers.ofByteArray(body)).build(),
        BodyHandlers.ofByteArray());
    assertThat(answer.statusCode()).as(new String(answer.body())).isEqualTo(200);
    int json = Integer.parseInt(answer.headers().firstValue("inference-header-content-length").orElseThrow());
    assertThat(new JsonObject(new String(answer.body(), 0, json)).getJsonArray("outputs").getJsonObject(0)
        .getJsonObject("parameters")
        .getInteger("binary_data_size")).isEqualTo(4 * ROWS);
    assertThat(floats(ByteBuffer.wrap(answer.body(), json, 4 * ROWS))).isEqualTo(expected);
  }

  private static List<Float> floats(ByteBuffer raw) {
    float[] floats = new float[raw.remaining() / 4];
    raw.order(ByteOrder.LITTLE_ENDIAN).asFloatBuffer().get(floats);
    List<Float> list = new ArrayList<>();
    for (float each : floats) {
      list.add(each);
    }
    return list;
  }

  @Test
  void tensorsOverGrpc() {
    ModelInferRequest.Builder contents = ModelInferRequest.newBuilder().setModelName("shop").setId("7");
    ModelInferRequest.Builder raw = contents.clone();
    for (String column : COLUMNS) {
      InferInputTensor.Builder tensor = InferInputTensor.newBuilder().setName(column).setDatatype("BYTES")
          .addShape(ROWS).addShape(1);
      List<ByteString> texts = rows.stream()
          .map(row -> ByteString.copyFromUtf8(row.texts().get(COLUMNS.indexOf(column)))).toList();
      raw.addInputs(tensor).addRawInputContents(texts.stream().map(text -> ByteString.copyFrom(ByteBuffer.allocate(4)
          .order(ByteOrder.LITTLE_ENDIAN).putInt(text.size()).array()).concat(text))
              .reduce(ByteString.EMPTY, ByteString::concat));
      contents.addInputs(tensor.setContents(InferTensorContents.newBuilder().addAllBytesContents(texts)));
    }
    ModelInferResponse answer = Blocking.get(grpc.modelInfer(contents.build()));
    assertThat(answer.getId()).isEqualTo("7");
    assertThat(answer.getOutputs(0).getShapeList()).containsExactly((long) ROWS, 1L);
    assertThat(answer.getOutputs(0).getContents().getFp32ContentsList()).isEqualTo(expected);
    assertThat(floats(Blocking.get(grpc.modelInfer(raw.build())).getRawOutputContents(0).asReadOnlyByteBuffer()))
        .isEqualTo(expected);
    assertThat(grpc.modelInfer(raw.setModelName("other").build()).toCompletionStage().toCompletableFuture())
        .failsWithin(Duration.ofSeconds(20));
  }

  @Test
  void metadataNamesTypesAndShapes() throws Exception {
    assertThat(get("/v2").getString("name")).isEqualTo("regatta");
    assertThat(get("/v2/health/live").getBoolean("live")).isTrue();
    assertThat(get("/v2/health/ready").getBoolean("ready")).isTrue();
    assertThat(get("/v2/models/shop/ready").getBoolean("ready")).isTrue();
    JsonObject model = get("/v2/models/shop");
    assertThat(model.getJsonArray("inputs").encode()).isEqualTo("""
        [{"name":"color","datatype":"BYTES","shape":[-1,1]},{"name":"price","datatype":"FP64","shape":[-1,1]},\
        {"name":"tags","datatype":"BYTES","shape":[-1,-1]},{"name":"when","datatype":"FP64","shape":[-1,1]},\
        {"name":"title","datatype":"BYTES","shape":[-1,1]}]""");
    assertThat(model.getJsonArray("outputs").encode())
        .isEqualTo("[{\"name\":\"scores\",\"datatype\":\"FP32\",\"shape\":[-1,1]}]");
    ModelMetadataResponse metadata = Blocking.get(grpc.modelMetadata(ModelMetadataRequest.newBuilder().setName("shop")
        .build()));
    assertThat(metadata.getInputsList()).extracting(ModelMetadataResponse.TensorMetadata::getName).isEqualTo(COLUMNS);
    assertThat(metadata.getVersionsList()).containsExactly(Long.toString(predictor.source().step()));
    assertThat(Blocking.get(grpc.modelReady(ModelReadyRequest.newBuilder().setName("shop").build())).getReady())
        .isTrue();
    assertThat(Blocking.get(grpc.serverReady(ServerReadyRequest.getDefaultInstance())).getReady()).isTrue();
    assertThat(Blocking.get(grpc.serverLive(ServerLiveRequest.getDefaultInstance())).getLive()).isTrue();
    assertThat(Blocking.get(grpc.serverMetadata(ServerMetadataRequest.getDefaultInstance())).getName())
        .isEqualTo("regatta");
  }

  @Test
  void theDocumentDescribesColumnsAndPaths() throws Exception {
    JsonObject document = get("/openapi.json");
    assertThat(document.getString("openapi")).isEqualTo("3.1.0");
    assertThat(document.getJsonObject("paths").fieldNames()).contains("/predict", "/v2/models/shop/infer");
    JsonObject columns = document.getJsonObject("components").getJsonObject("schemas").getJsonObject("Example")
        .getJsonObject("properties");
    assertThat(columns.fieldNames()).containsExactlyElementsOf(COLUMNS);
    assertThat(columns.getJsonObject("price").getJsonArray("type").encode())
        .isEqualTo("[\"number\",\"string\",\"null\"]");
    List<String> refs = Arrays.stream(document.encode().split("\"\\$ref\":\"#/components/schemas/")).skip(1)
        .map(ref -> ref.substring(0, ref.indexOf('"'))).toList();
    assertThat(document.getJsonObject("components").getJsonObject("schemas").fieldNames()).containsAll(refs);
    for (String path : document.getJsonObject("paths").fieldNames()) {
      if (document.getJsonObject("paths").getJsonObject(path).containsKey("get")) {
        assertThat(path.equals("/ready") || path.equals("/health") || get(path).getInteger("status") == 200).as(path)
            .isTrue();
      }
    }
  }
}
