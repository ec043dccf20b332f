package io.regatta.load.features;

import io.regatta.load.process.Medians;
import io.regatta.load.process.Sample;
import io.regatta.load.process.Scale;
import io.regatta.load.process.Table;
import io.regatta.load.process.Task;
import io.regatta.load.process.WorkerPair;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Random;

/**
 * The driver of features: a CSV file of 40 columns from the page cache to floats (sign · log(1 + |x|), and a mark of a missing
 * number) and to 64-bit hashes of text, by one thread; and of {@code analyze} over the same file. It measures rows for each CPU
 * second. Each kind is a process that stays up; pandas and Polars are in a virtual environment that it makes, or are left out by
 * name.
 */
public final class FeaturesDriver {

  static final String READ = "regatta";
  static final String ANALYZE = "regatta analyze";
  private static final List<String> PEERS = List.of("pandas", "polars");
  private static final double CLOSE = 1e-4;
  private static final int WARM_UP = 3;

  private FeaturesDriver() {}

  /** Returns the work of this driver's worker. */
  public static Task task(JsonObject setup) {
    return new FeatureReading(setup);
  }

  /** Markdown and raw values. */
  public record Result(String markdown, JsonObject json) {}

  /**
   * Measures.
   *
   * @param rows of the file, about 270 bytes each
   * @param environment directory of the virtual environment; null: no peers
   */
  public static Result run(Scale scale, int rows, Path environment) throws IOException {
    Path file = Files.createTempFile("regatta-load-features", ".csv");
    Map<String, WorkerPair> pairs = new LinkedHashMap<>();
    Map<String, PythonTable> peers = new LinkedHashMap<>();
    Map<String, List<Sample>> samples = new LinkedHashMap<>();
    StringBuilder leftOut = new StringBuilder();
    try {
      write(file, rows);
      for (String kind : List.of(READ, ANALYZE)) {
        pairs.put(kind, WorkerPair.start(new JsonObject().put("driver", "features").put("kind", kind).put("file", file.toString()), true));
        samples.put(kind, new ArrayList<>());
      }
      Optional<Path> python = environment == null ? Optional.empty() : PythonTable.environment(environment, leftOut);
      for (String kind : python.isEmpty() ? List.<String>of() : PEERS) {
        peers.put(kind, PythonTable.start(python.get(), kind, file));
        samples.put(kind, new ArrayList<>());
      }
      JsonObject command = new JsonObject().put("do", "read");
      Map<String, Integer> times = new LinkedHashMap<>();
      pairs.forEach((kind, pair) -> times.put(kind, pair.warmUpInBlocks(command, scale)));
      for (PythonTable peer : peers.values()) {
        peer.run(scale == Scale.QUICK ? 1 : WARM_UP);
      }
      for (int round = 0; round < scale.rounds(); round++) {
        JsonObject[] own = new JsonObject[1];
        pairs.forEach((kind, pair) -> samples.get(kind).add(pair.measure(command.copy().put("times", times.get(kind)), answer -> {
          if (answer.getLong("examples") != (long) rows * times.get(kind)) {
            throw new IllegalStateException("expected " + rows + " rows, " + times.get(kind) + " times, but read " + answer);
          }
          own[0] = kind.equals(READ) ? answer : own[0];
          return (double) rows * times.get(kind);
        })));
        for (Map.Entry<String, PythonTable> peer : peers.entrySet()) {
          samples.get(peer.getKey()).add(peer.getValue().run(scale == Scale.QUICK ? 1 : WARM_UP));
          check(peer.getKey(), peer.getValue(), own[0]);
        }
      }
      return result(rows, Files.size(file), samples, peers, leftOut.toString());
    } finally {
      pairs.values().forEach(WorkerPair::close);
      for (PythonTable peer : peers.values()) {
        peer.close();
      }
      Files.deleteIfExists(file);
    }
  }

  private static void check(String kind, PythonTable peer, JsonObject own) {
    if (peer.positive() != own.getLong("positive")
        || Math.abs(peer.floats() - own.getDouble("floats")) > CLOSE * Math.abs(own.getDouble("floats"))) {
      throw new IllegalStateException(kind + " computes other features: the sum of its floats is " + peer.floats() + ", labels "
          + peer.positive() + ", but ours " + own);
    }
  }

  private static void write(Path file, int rows) throws IOException {
    Random random = new Random(1);
    try (BufferedWriter out = Files.newBufferedWriter(file)) {
      StringBuilder header = new StringBuilder("label");
      for (int i = 1; i <= FeatureReading.NUMBERS; i++) {
        header.append(",I").append(i);
      }
      for (int i = 1; i <= FeatureReading.TEXTS; i++) {
        header.append(",C").append(i);
      }
      out.write(header.append('\n').toString());
      for (int row = 0; row < rows; row++) {
        StringBuilder line = new StringBuilder(random.nextInt(4) == 0 ? "1" : "0");
        for (int i = 0; i < FeatureReading.NUMBERS; i++) {
          line.append(',');
          if (random.nextInt(10) > 0) {
            line.append(i % 3 == 0 ? String.format(Locale.ROOT, "%.3f", 100 * random.nextGaussian()) : (int) Math.exp(4 + 2 * random.nextGaussian()));
          }
        }
        for (int i = 0; i < FeatureReading.TEXTS; i++) {
          line.append(',');
          if (random.nextInt(20) > 0) {
            line.append(String.format(Locale.ROOT, "%08x", (int) (1e6 * Math.pow(random.nextDouble(), 3)) * 2654435761L & 0xffffffffL));
          }
        }
        out.write(line.append('\n').toString());
      }
    }
  }

  private static double perCore(Sample sample) {
    return sample.units() / sample.clientCpu();
  }

  private static Result result(int rows, long bytes, Map<String, List<Sample>> samples, Map<String, PythonTable> peers, String leftOut) {
    Table table = new Table("kind", "rows per CPU second", "rows/s", "MB per CPU second", "regatta's to this", "wanted");
    JsonArray raw = new JsonArray();
    samples.forEach((kind, of) -> {
      double perCore = Medians.of(of, FeaturesDriver::perCore);
      double ratio = Medians.ratio(samples.get(READ), of, FeaturesDriver::perCore);
      String name = peers.containsKey(kind) ? kind + " " + peers.get(kind).version() : kind;
      table.row(name, perCore, Medians.of(of, Sample::rate), perCore * bytes / rows / 1e6, ratio,
          kind.equals("pandas") ? "≥ 2" : kind.equals("polars") ? "≥ 1" : "");
      raw.add(new JsonObject().put("kind", name).put("rows_per_cpu_second", perCore).put("to_this", ratio).put("samples", Medians.raw(of)));
    });
    return new Result("## features: a CSV file of " + rows + " rows of 40 columns, one thread\n\n" + table
        + (leftOut.isEmpty() ? "" : "\npandas and polars are left out: " + leftOut + "\n"), new JsonObject().put("unit", "rows").put("measured", raw));
  }
}
