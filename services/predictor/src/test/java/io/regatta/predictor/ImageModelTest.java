package io.regatta.predictor;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.progress.Progress;
import io.regatta.data.FileSource;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotSource;
import io.regatta.data.generate.GeneratedImages;
import io.regatta.node.process.Blocking;
import io.regatta.program.FitALine;
import io.regatta.program.LeNet;
import io.regatta.program.ResNet50;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.training.config.JobConfig;
import io.regatta.training.run.LocalRun;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Models whose examples are not lines: images and numbers. */
@Timeout(value = 3, unit = TimeUnit.MINUTES)
class ImageModelTest {

  private static final int SIDE = 28;

  @TempDir
  Path dir;

  private final HttpClient http = HttpClient.newHttpClient();
  private final Vertx vertx = Vertx.vertx();
  private int port;

  @AfterEach
  void close() {
    Blocking.get(vertx.close());
  }

  private Predictor served(Class<?> program, JsonObject settings) {
    LocalRun.run(JobConfig.of(new JsonObject().put("job", "served").put("program", program.getName())
        .put("mode", "collective")
        .put("compute_threads", 1).put("batch_size", 8).put("max_steps", 2).put("output", dir.resolve("model")
            .toString())
        .put("data", program == FitALine.class ? new JsonObject().put("dir", dir.resolve("data").toString())
            : new JsonObject())
        .put("optimizer", new JsonObject().put("kind", "sgd").put("learning_rate", 0.01)).put("settings", settings)),
            null, Progress.none());
    Predictor predictor = Predictor.load(dir.resolve("model"));
    PredictionEndpoint endpoint = new PredictionEndpoint(vertx, PeerSecurity.NONE, probe -> probe.response().end(),
        () -> true,
        predictor, new PredictorConfig("model", "", 1000, 0, 1 << 22, 8, 0, 100, 10_000), 10_000);
    HttpServer server = Blocking.get(endpoint.server().listen(0, "127.0.0.1"));
    port = server.actualPort();
    return predictor;
  }

  private JsonObject post(String path, String type, byte[] body) throws Exception {
    HttpResponse<String> answer = http.send(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + port + path))
        .header("content-type", type)
        .POST(BodyPublishers.ofByteArray(body)).build(), BodyHandlers.ofString());
    return new JsonObject(answer.body()).put("status", answer.statusCode());
  }

  private static byte[] encoded(BufferedImage image, String format) throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    assertThat(ImageIO.write(image, format, bytes)).isTrue();
    return bytes.toByteArray();
  }

  @Test
  void lenetTakesImagesAndTheirPixels() throws Exception {
    try (Predictor predictor = served(LeNet.class, new JsonObject().put("train_images", 16).put("test_images", 8))) {
      SlotBatch pixels = SlotBatch.allocate(predictor.layout(), 1);
      BufferedImage grey = new BufferedImage(SIDE, SIDE, BufferedImage.TYPE_BYTE_GRAY);
      BufferedImage colours = new BufferedImage(SIDE, SIDE, BufferedImage.TYPE_INT_RGB);
      for (int i = 0; i < SIDE * SIDE; i++) {
        int value = i * 7 % 256;
        pixels.dense()[i] = value / 127.5f - 1;
        grey.getRaster().setSample(i % SIDE, i / SIDE, 0, value);
        colours.setRGB(i % SIDE, i / SIDE, value * 0x010101);
      }
      float[] expected = predictor.predict(pixels).get().scores();
      assertThat(expected).hasSize(10);
      assertThat(predictor.outputs()).isEqualTo(10);
      float sum = 0;
      for (float each : expected) {
        sum += each;
      }
      assertThat(sum).isBetween(0.9999f, 1.0001f);
      String scores = new JsonArray(boxed(expected)).encode();
      byte[] png = encoded(grey, "png");
      assertThat(post("/predict", "image/png", png).getJsonArray("scores").encode()).isEqualTo("[" + scores + "]");
      assertThat(post("/predict", "image/png", encoded(colours, "png")).getJsonArray("scores").encode())
          .isEqualTo("[" + scores + "]");
      assertThat(post("/predict", "text/plain", Arrays.toString(Arrays.copyOf(pixels.dense(), SIDE * SIDE)).getBytes())
          .getJsonArray("scores").encode()).isEqualTo("[" + scores + "]");
      JsonObject input = new JsonObject().put("name", "image").put("datatype", "BYTES").put("shape", new JsonArray()
          .add(2))
          .put("data", new JsonArray().add(Base64.getEncoder().encodeToString(png))
              .add(Base64.getEncoder().encodeToString(png)));
      JsonObject answer = post("/v2/models/served/infer", "application/json", new JsonObject()
          .put("inputs", new JsonArray().add(input)).encode().getBytes());
      assertThat(answer.getJsonArray("outputs").getJsonObject(0).getJsonArray("shape").encode()).as(answer.encode())
          .isEqualTo("[2,10]");
      JsonObject values = new JsonObject().put("name", "values").put("datatype", "FP32").put("shape", new JsonArray()
          .add(1).add(1).add(SIDE).add(SIDE))
          .put("data", new JsonArray(boxed(Arrays.copyOf(pixels.dense(), SIDE * SIDE))));
      assertThat(post("/v2/models/served/infer", "application/json", new JsonObject().put("inputs", new JsonArray()
          .add(values)).encode().getBytes())
          .getJsonArray("outputs").getJsonObject(0).getJsonArray("data").encode()).isEqualTo(scores);
      Path file = Files.write(dir.resolve("digit.PNG"), png);
      SlotBatch read = SlotBatch.allocate(predictor.layout(), 2);
      assertThat(readAll(predictor.examples(List.of(file, file)), read)).isEqualTo(2);
      assertThat(Arrays.copyOfRange(read.dense(), SIDE * SIDE, 2 * SIDE * SIDE)).isEqualTo(Arrays.copyOf(pixels.dense(), SIDE * SIDE));
      assertThat(post("/predict", "image/png", encoded(new BufferedImage(101, 100, BufferedImage.TYPE_INT_RGB),
          "png")).encode())
          .contains("request, image 1 has 101 x 100 pixels; at most 10000 are decoded").contains("400");
      JsonObject many = new JsonObject().put("name", "image").put("datatype", "BYTES")
          .put("shape", new JsonArray().add(100_000)).put("data", new JsonArray(Collections.nCopies(100_000, "")));
      assertThat(post("/v2/models/served/infer", "application/json", new JsonObject()
          .put("inputs", new JsonArray().add(many)).encode().getBytes()).encode()).contains("a request has 100000 images; send at most")
          .contains("400");
      assertThat(post("/predict", "image/png", "no image".getBytes(StandardCharsets.US_ASCII)).encode())
          .contains("request, image 1 is not an image of a known format").contains("400");
      assertThat(post("/predict", "text/plain", "1 2 3".getBytes()).encode())
          .contains("request, line 1, column 4: expected 784 numbers, found 3").contains("400");
    }
  }

  private static <R> int readAll(FileSource<R> source, SlotBatch into) {
    int rows = 0;
    try (SlotSource.Cursor<R> cursor = source.open()) {
      for (R record = cursor.next(); record != null; record = cursor.next()) {
        rows += source.parse(record, into, rows) ? 1 : 0;
      }
    }
    return rows;
  }

  private static List<Float> boxed(float[] values) {
    Float[] boxed = new Float[values.length];
    for (int i = 0; i < values.length; i++) {
      boxed[i] = values[i];
    }
    return List.of(boxed);
  }

  @Test
  void resnetHasAsManyScoresAsClasses() throws Exception {
    try (Predictor predictor = served(ResNet50.class, new JsonObject().put("image_size", 32).put("classes", 5)
        .put("train_images", 16)
        .put("test_images", 5))) {
      SlotSource<?> images = new GeneratedImages("test", 1, 16, 5, 5, 3, 32);
      assertThat(images.layout()).isEqualTo(predictor.layout());
      BufferedImage photo = new BufferedImage(60, 40, BufferedImage.TYPE_INT_RGB);
      JsonArray scores = post("/predict", "image/jpeg", encoded(photo, "jpeg")).getJsonArray("scores");
      assertThat(scores.getJsonArray(0)).hasSize(5);
      assertThat(predictor.outputs()).isEqualTo(5);
    }
  }

  @Test
  void fitALineTakesItsThirteenNumbers() throws Exception {
    try (Predictor predictor = served(FitALine.class, new JsonObject())) {
      String line = "0.1,0,-0.2,0,0.3 0 0 0 0 0 0 0 1e-1";
      JsonArray scores = post("/predict", "text/plain", (line + "\n[" + line.replace(' ', ',') + "]\n").getBytes())
          .getJsonArray("scores");
      assertThat(scores).hasSize(2);
      assertThat(scores.getFloat(0)).isEqualTo(scores.getFloat(1));
      JsonObject input = new JsonObject().put("name", "lines").put("datatype", "BYTES").put("shape", new JsonArray()
          .add(1)).put("data", new JsonArray().add(line));
      assertThat(post("/v2/models/served/infer", "application/json", new JsonObject().put("inputs", new JsonArray()
          .add(input)).encode().getBytes())
          .getJsonArray("outputs").getJsonObject(0).getJsonArray("data").getFloat(0)).isEqualTo(scores.getFloat(0));
    }
  }
}
