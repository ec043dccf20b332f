package io.regatta.predictor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.regatta.core.progress.Progress;
import io.regatta.node.process.Blocking;
import io.regatta.protocol.security.PeerSecurity;
import io.regatta.training.config.JobConfig;
import io.regatta.training.run.LocalRun;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The commands with curl in docs/serving.md: their answers have the form of those beside them. */
@Timeout(value = 2, unit = TimeUnit.MINUTES)
class ServingPageTest {

  private static final Path PAGE = Path.of("../../docs/serving.md");

  @TempDir
  Path dir;

  /** A command, and its answer as the page shows it; empty: the page shows none. */
  private record Example(String command, String answer) {}

  private static List<Example> examples() throws Exception {
    List<Example> examples = new ArrayList<>();
    String[] blocks = Files.readString(PAGE).split("```sh\n");
    for (int i = 1; i < blocks.length; i++) {
      StringBuilder command = new StringBuilder();
      for (String line : blocks[i].substring(0, blocks[i].indexOf("```")).split("\n")) {
        if (line.startsWith("# ")) {
          examples.add(new Example(command.toString(), line.substring(2)));
          command.setLength(0);
        } else {
          command.append(line).append('\n');
        }
      }
      if (!command.isEmpty()) {
        examples.add(new Example(command.toString(), ""));
      }
    }
    return examples.stream().filter(example -> example.command.contains("127.0.0.1:8080")
        && example.command.contains("curl -s")).toList();
  }

  private void train() throws Exception {
    Random random = new Random(3);
    StringBuilder rows = new StringBuilder("bought,color,tags,price,amount\n");
    for (int i = 0; i < 300; i++) {
      rows.append(random.nextBoolean() ? "yes" : "no").append(random.nextBoolean() ? ",red," : ",blue,")
          .append(random.nextBoolean() ? "new|small," : ",")
          .append(random.nextInt(12)).append(',').append(random.nextInt(99)).append('\n');
    }
    Files.writeString(dir.resolve("train.csv"), rows);
    LocalRun.run(JobConfig.of(new JsonObject("""
        {"job": "shop", "epochs": 1, "batch_size": 50, "optimizer": {"kind": "adam", "learning_rate": 0.001},
         "data": {"dir": "DIR", "files": ["train.csv"], "test": {"share": 0.2, "by": "hash"}},
         "labels": {"bought": {"positive": "yes"}},
         "features": {"color": {"kind": "id"}, "tags": {"kind": "ids", "separator": "|", "max": 20, "pooling": "mean"},
           "price": {"kind": "bucket", "bounds": [1, 2, 5, 10]},
           "amount": {"kind": "number", "transform": "log", "scale": "none"},
           "colorXprice": {"kind": "cross", "of": ["color", "price"]}},
         "model": {"kind": "deepfm", "embedding": 10, "hidden": [8]},
         "output": "DIR/model"}""".replace("DIR", dir.toString()))), null, Progress.none());
  }

  /** Returns the members of a value and, of arrays, the first element; numbers and texts are replaced by their kind. */
  private static Object form(Object value) {
    if (value instanceof JsonObject object) {
      Map<String, Object> members = new TreeMap<>();
      object.forEach(member -> members.put(member.getKey(), form(member.getValue())));
      return members;
    } else if (value instanceof JsonArray array) {
      return array.isEmpty() ? List.of() : List.of(form(array.getValue(0)));
    }
    return value instanceof Number ? "number" : value instanceof String ? "text" : String.valueOf(value);
  }

  private String run(String command) throws Exception {
    Process process = new ProcessBuilder("sh", "-c", command).directory(dir.toFile()).redirectErrorStream(true).start();
    String out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(command + out).isZero();
    return out;
  }

  @Test
  void commandsAnswerAsThePageSays() throws Exception {
    assumeTrue(new ProcessBuilder("sh", "-c", "command -v curl").start().waitFor() == 0, "no curl here");
    train();
    Vertx vertx = Vertx.vertx();
    try (Predictor predictor = Predictor.load(dir.resolve("model"))) {
      PredictionEndpoint endpoint = new PredictionEndpoint(vertx, PeerSecurity.NONE, probe -> probe.response().end(),
          () -> true,
          predictor, PredictorConfig.of("model", "", 1000, 1 << 20), 10_000);
      HttpServer server = Blocking.get(endpoint.server().listen(0, "127.0.0.1"));
      List<Example> examples = examples();
      assertThat(examples).hasSizeGreaterThan(6);
      for (Example example : examples) {
        String out = run(example.command.replace("127.0.0.1:8080", "127.0.0.1:" + server.actualPort()));
        if (!example.answer.isEmpty()) {
          assertThat(form(new JsonObject(out))).as(example.command + out)
              .isEqualTo(form(new JsonObject(example.answer)));
          JsonArray scores = new JsonObject(example.answer).getJsonArray("scores");
          assertThat(scores == null || new JsonObject(out).getJsonArray("scores").size() == scores.size()).as(out)
              .isTrue();
        }
      }
      assertThat(new JsonObject(Files.readString(dir.resolve("openapi.json"))).getString("openapi")).isEqualTo("3.1.0");
    } finally {
      Blocking.get(vertx.close());
    }
  }
}
