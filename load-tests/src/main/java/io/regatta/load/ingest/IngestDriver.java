package io.regatta.load.ingest;

import io.regatta.data.generate.CriteoGenerator;
import io.regatta.load.process.Medians;
import io.regatta.load.process.Sample;
import io.regatta.load.process.Scale;
import io.regatta.load.process.Table;
import io.regatta.load.process.Task;
import io.regatta.load.process.WorkerPair;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

/**
 * The driver of reading, parsing, normalising and hashing Criteo files from the page cache, by one thread. It measures
 * MB for each CPU second of the process, the capacity of a core with garbage collection and JIT included. Each kind is
 * a process that stays up.
 */
public final class IngestDriver {

  private static final String PARSE = "regatta";
  private static final String LOADER = "regatta loader";
  private static final String SPLIT = "split";
  private static final List<String> KINDS = List.of(PARSE, LOADER, SPLIT);
  private static final double MEGABYTE = 1e6;

  private IngestDriver() {}

  /** Returns the work of this driver's worker. */
  public static Task task(JsonObject setup) {
    return setup.getString("kind").equals(SPLIT) ? new SplitReading(setup)
        : new RegattaReading(setup, setup.getString("kind").equals(LOADER));
  }

  /** Markdown and raw values. */
  public record Result(String markdown, JsonObject json) {}

  /** @param rows of the files that are read, about 240 bytes each */
  public static Result run(Scale scale, int rows) throws IOException {
    Path data = Files.createTempDirectory("regatta-load-ingest");
    Map<String, WorkerPair> pairs = new LinkedHashMap<>();
    Map<String, List<Sample>> samples = new LinkedHashMap<>();
    long bytes = 0;
    try {
      List<Path> files = CriteoGenerator.ensure(data, new CriteoGenerator.Size(1, rows, 1, 2)).train(data);
      JsonArray names = new JsonArray();
      for (Path file : files) {
        names.add(file.toString());
        bytes += Files.size(file);
      }
      double megabytes = bytes / MEGABYTE;
      Map<String, Integer> times = new LinkedHashMap<>();
      JsonObject command = new JsonObject().put("do", "read");
      for (String kind : KINDS) {
        WorkerPair pair = WorkerPair.start(new JsonObject().put("driver", "ingest").put("kind", kind).put("files", names),
            true);
        pairs.put(kind, pair);
        samples.put(kind, new ArrayList<>());
        times.put(kind, pair.warmUpInBlocks(command, scale));
      }
      for (int round = 0; round < scale.rounds(); round++) {
        Set<Long> sums = new HashSet<>();
        pairs.forEach((kind, pair) -> samples.get(kind).add(pair.measure(command.copy().put("times", times.get(kind)),
            answer -> {
              check(answer, rows, times.get(kind), sums);
              return megabytes * times.get(kind);
            })));
      }
    } finally {
      pairs.values().forEach(WorkerPair::close);
      delete(data);
    }
    return result(bytes, rows, samples);
  }

  private static void check(JsonObject answer, int rows, int times, Set<Long> sums) {
    if (answer.getLong("examples") != (long) rows * times) {
      throw new IllegalStateException("expected " + rows + " examples, " + times + " times, but read " + answer);
    }
    sums.add(answer.getLong("sum") / times);
    if (sums.size() > 1) {
      throw new IllegalStateException("the kinds read different ids, their sums are " + sums);
    }
  }

  private static void delete(Path directory) throws IOException {
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  private static double perCore(Sample sample) {
    return sample.units() / sample.clientCpu();
  }

  private static Result result(long bytes, int rows, Map<String, List<Sample>> samples) {
    Table table = new Table("kind", "MB per CPU second", "MB/s", "examples per CPU second", "to split's", "wanted");
    JsonArray raw = new JsonArray();
    samples.forEach((kind, of) -> {
      double ratio = Medians.ratio(of, samples.get(SPLIT), IngestDriver::perCore);
      double perCore = Medians.of(of, IngestDriver::perCore);
      table.row(kind, perCore, Medians.of(of, Sample::rate), perCore * MEGABYTE / ((double) bytes / rows), ratio,
          kind.equals(PARSE) ? "≥ 150 MB, aim 300" : "");
      raw.add(new JsonObject().put("kind", kind).put("mb_per_cpu_second", perCore).put("to_split", ratio)
          .put("samples", Medians.raw(of)));
    });
    return new Result("## ingest: Criteo files of " + rows + " rows, " + Table.number(bytes / MEGABYTE)
        + " MB, one thread\n\n" + table, new JsonObject().put("unit", "MB").put("measured", raw));
  }
}
