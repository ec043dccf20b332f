package io.regatta.load.train;

import io.regatta.load.process.WorkerPair;
import io.regatta.load.process.Medians;
import io.regatta.load.process.Sample;
import io.regatta.load.process.Scale;
import io.regatta.load.process.Table;
import io.regatta.load.process.Task;
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
import java.util.stream.Stream;

/**
 * The driver of training CTR-DNN from files to weights: with a server and a trainer in one JVM, alone, and the bare
 * network of DJL with rows in memory. Each kind is a process that stays up; a round of it trains the same examples
 * again, from the beginning. Times are those of the training loop, first step to last.
 */
public final class TrainDriver {
  private static final double MILLION = 1e6;
  private static final int BATCH = 1000;
  private static final String SERVICES = "server + trainer";
  private static final String LOCAL = "--local";
  private static final String BARE = "bare DJL network";
  private static final List<String> KINDS = List.of(SERVICES, LOCAL, BARE);

  private TrainDriver() {}

  /** Returns the work of this driver's worker. */
  public static Task task(JsonObject setup) {
    return switch (setup.getString("kind")) {
      case BARE -> new BareNetwork(setup.getInteger("batch"));
      case LOCAL -> new ProgramRun(false, setup);
      default -> new ProgramRun(true, setup);
    };
  }

  /** Markdown and raw values. */
  public record Result(String markdown, JsonObject json) {}

  /** @param examples of a round */
  public static Result run(Scale scale, int examples) throws IOException {
    Path data = Files.createTempDirectory("regatta-load-train");
    Map<String, WorkerPair> pairs = new LinkedHashMap<>();
    Map<String, List<Sample>> samples = new LinkedHashMap<>();
    Map<String, String> where = new LinkedHashMap<>();
    try {
      JsonObject command = new JsonObject().put("do", "train").put("examples", examples);
      for (String kind : KINDS) {
        WorkerPair pair = WorkerPair.start(new JsonObject().put("driver", "train").put("kind", kind)
            .put("data", data.toString()).put("examples", examples).put("batch", BATCH), true);
        pairs.put(kind, pair);
        samples.put(kind, new ArrayList<>());
        pair.warmUp(command, scale);
      }
      for (int round = 0; round < scale.rounds(); round++) {
        pairs.forEach((kind, pair) -> {
          JsonObject told = pair.ask(command);
          samples.get(kind).add(new Sample(told.getLong("examples") / MILLION, told.getDouble("train_seconds"),
              told.getDouble("cpu"), 0));
          where.put(kind, told.getString("where"));
        });
      }
    } finally {
      pairs.values().forEach(WorkerPair::close);
      delete(data);
    }
    return result(examples, samples, where);
  }

  /** Deletes a directory with its content. */
  static void delete(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  private static Result result(int examples, Map<String, List<Sample>> samples, Map<String, String> where) {
    Table table = new Table("kind", "examples/s", "CPU s per million examples", "ratio", "wanted",
        "model thread's time in the last round");
    List<Sample> local = samples.get(LOCAL);
    double toLocal = Medians.ratio(samples.get(SERVICES), local, Sample::rate);
    double toBare = Medians.ratio(local, samples.get(BARE), Sample::rate);
    samples.forEach((kind, of) -> table.row(kind, Medians.of(of, Sample::rate) * MILLION, Medians.of(of, Sample::cpu),
        kind.equals(SERVICES) ? Table.number(toLocal) + " of --local"
            : kind.equals(LOCAL) ? Table.number(toBare) + " of the bare network" : "",
        kind.equals(SERVICES) ? "≥ 0.85" : kind.equals(LOCAL) ? "≥ 0.9" : "", where.get(kind)));
    JsonArray raw = new JsonArray();
    samples.forEach((kind, of) -> raw.add(new JsonObject().put("kind", kind).put("where", where.get(kind))
        .put("samples", Medians.raw(of))));
    return new Result("## train: CTR-DNN, " + examples + " examples in batches of " + BATCH
        + ", async, one compute thread\n\n" + table, new JsonObject().put("unit", "million examples")
            .put("services_to_local", toLocal).put("local_to_bare", toBare).put("measured", raw));
  }
}
