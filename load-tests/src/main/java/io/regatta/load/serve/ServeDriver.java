package io.regatta.load.serve;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.progress.Progress;
import io.regatta.load.process.Medians;
import io.regatta.load.process.Scale;
import io.regatta.load.process.Table;
import io.regatta.load.process.Task;
import io.regatta.load.process.WorkerPair;
import io.regatta.training.config.JobConfig;
import io.regatta.training.run.LocalRun;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;

/**
 * The driver of the service: CTR-DNN (26 embeddings of 10, layers of 400, 400 and 400) over HTTP, lines of Criteo's
 * format, from 1, 8 and 64 connections with 1 and 100 examples in a request. Beside it an {@link OnnxServer} with the
 * same weights. Server and clients are two processes on the same cores; rounds of both kinds alternate.
 */
public final class ServeDriver {

  private static final String REGATTA = "regatta";
  private static final String ONNX = "onnxruntime";
  private static final int[] CONNECTIONS = {1, 8, 64};
  private static final int[] EXAMPLES = {1, 100};
  private static final long ID_SPACE = 100_001;
  private static final int TEST_ROWS = 10_000;
  /** Environment variable that names onnxruntime's jar, as run.sh fetches it. */
  private static final String JAR = "REGATTA_ONNXRUNTIME_JAR";

  private ServeDriver() {}

  /** Returns the work of this driver's worker. */
  public static Task task(JsonObject setup) throws Exception {
    if (setup.getString("role").equals("client")) {
      return new HttpLoad(setup);
    }
    return setup.getString("kind").equals(REGATTA) ? new PredictorServer(setup) : new OnnxServer(setup);
  }

  /** One round of a case: ms, and per second. */
  private record Round(double p50, double p99, double requests, double serverCpuMicros) {}

  /** Markdown and raw values. */
  public record Result(String markdown, JsonObject json) {}

  /** Runs all cases. */
  public static Result run(Scale scale) throws IOException {
    Path dir = Files.createTempDirectory("regatta-load-serve");
    try {
      LocalRun.run(job(dir), null, Progress.none());
      return measured(scale, dir);
    } finally {
      try (Stream<Path> files = Files.walk(dir)) {
        for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
          Files.delete(file);
        }
      }
    }
  }

  private static JobConfig job(Path dir) {
    return JobConfig.of(new JsonObject().put("job", "served").put("program", "io.regatta.program.CtrDnn")
        .put("mode", "sync")
        .put("output", dir.resolve("model").toString()).put("compute_threads", 1).put("batch_size", 1000)
            .put("epochs", 1)
        .put("data", new JsonObject().put("dir", dir.resolve("data").toString()))
        .put("optimizer", new JsonObject().put("kind", "adagrad").put("learning_rate", 0.05))
        .put("settings", new JsonObject().put("hidden", new JsonArray().add(400).add(400).add(400))
            .put("id_space", ID_SPACE)
            .put("train_rows", 50_000).put("test_rows", TEST_ROWS).put("train_files", 1)));
  }

  private static Result measured(Scale scale, Path dir) throws IOException {
    String jar = System.getenv(JAR);
    boolean peer = jar != null && !jar.isBlank() && Files.exists(Path.of(jar));
    List<String> kinds = peer ? List.of(REGATTA, ONNX) : List.of(REGATTA);
    Map<String, WorkerPair> pairs = new LinkedHashMap<>();
    Map<String, List<Round>> rounds = new LinkedHashMap<>();
    try {
      for (String kind : kinds) {
        pairs.put(kind, WorkerPair.start(new JsonObject().put("driver", "serve").put("kind", kind)
            .put("model", dir.resolve("model").toString()).put("lines", dir.resolve("data/test.tsv").toString())
            .put("id_space", ID_SPACE).put("jar", String.valueOf(jar)), false));
      }
      requireSameScores(pairs);
      for (int examples : EXAMPLES) {
        for (int connections : CONNECTIONS) {
          JsonObject command = new JsonObject().put("do", "load").put("connections", connections)
              .put("examples", examples);
          pairs.values().forEach(pair -> pair.ask(command.copy().put("for", scale.warmUpLimitSeconds() / 3)));
          for (int round = 0; round < scale.rounds(); round++) {
            pairs.forEach((kind, pair) -> rounds.computeIfAbsent(key(kind, connections, examples), k ->
                new ArrayList<>())
                .add(round(pair, command.copy().put("for", scale.blockSeconds()))));
          }
        }
      }
    } finally {
      pairs.values().forEach(WorkerPair::close);
    }
    return result(kinds, rounds, peer);
  }

  /** Checks that both answer the same lines with the same scores: else the networks differ. */
  private static void requireSameScores(Map<String, WorkerPair> pairs) {
    JsonArray first = null;
    for (WorkerPair pair : pairs.values()) {
      JsonArray scores = new JsonObject(pair.ask(new JsonObject().put("do", "load").put("connections", 1)
          .put("examples", 100)
          .put("for", 0.0)).getString("answer")).getJsonArray("scores");
      for (int i = 0; first != null && i < scores.size(); i++) {
        if (Math.abs(scores.getFloat(i) - first.getFloat(i)) > 1e-5) {
          throw new InvalidInput("the servers answer line " + (i + 1) + " with " + first.getFloat(i) + " and "
              + scores.getFloat(i));
        }
      }
      first = scores;
    }
  }

  private static Round round(WorkerPair pair, JsonObject command) {
    double before = pair.serverCpuSeconds();
    JsonObject answer = pair.ask(command);
    double cpu = pair.serverCpuSeconds() - before;
    double requests = answer.getDouble("requests");
    return new Round(answer.getDouble("p50"), answer.getDouble("p99"), requests / answer.getDouble("seconds"),
        1e6 * cpu / requests);
  }

  private static String key(String kind, int connections, int examples) {
    return kind + " " + connections + " x " + examples;
  }

  private static Result result(List<String> kinds, Map<String, List<Round>> rounds, boolean peer) {
    Table table = new Table("server", "connections", "examples", "p50 ms", "p99 ms", "requests/s", "examples/s",
        "server CPU µs per request",
        "p99 to " + ONNX + "'s", "examples/s to " + ONNX + "'s");
    JsonArray raw = new JsonArray();
    for (int examples : EXAMPLES) {
      for (int connections : CONNECTIONS) {
        for (String kind : kinds) {
          List<Round> own = rounds.get(key(kind, connections, examples));
          List<Round> other = kind.equals(REGATTA) && peer ? rounds.get(key(ONNX, connections, examples)) : null;
          double rate = median(own, Round::requests);
          table.row(kind, connections, examples, median(own, Round::p50), median(own, Round::p99), rate,
              rate * examples,
              median(own, Round::serverCpuMicros), other == null ? Double.NaN : ratio(own, other, Round::p99),
              other == null ? Double.NaN : ratio(own, other, Round::requests));
          JsonArray all = new JsonArray();
          own.forEach(round -> all.add(new JsonObject().put("p50_ms", round.p50).put("p99_ms", round.p99)
              .put("requests_per_second", round.requests)));
          raw.add(new JsonObject().put("server", kind).put("connections", connections).put("examples", examples)
              .put("rounds", all));
        }
      }
    }
    String without = peer ? "" : "\nLeft out: " + ONNX + ", whose jar " + JAR + " does not name.\n";
    return new Result("## serve: CTR-DNN over HTTP, lines of Criteo's format\n\n" + table + without,
        new JsonObject().put("measured", raw));
  }

  private static double median(List<Round> rounds, ToDoubleFunction<Round> figure) {
    return Medians.of(rounds.stream().mapToDouble(figure).toArray());
  }

  private static double ratio(List<Round> one, List<Round> other, ToDoubleFunction<Round> figure) {
    double[] ratios = new double[one.size()];
    for (int i = 0; i < ratios.length; i++) {
      ratios[i] = figure.applyAsDouble(one.get(i)) / figure.applyAsDouble(other.get(i));
    }
    return Medians.of(ratios);
  }
}
