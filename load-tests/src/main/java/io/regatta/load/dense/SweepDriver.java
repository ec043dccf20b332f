package io.regatta.load.dense;

import io.regatta.load.process.WorkerPair;
import io.regatta.load.process.Medians;
import io.regatta.load.process.Sample;
import io.regatta.load.process.Scale;
import io.regatta.load.process.Table;
import io.regatta.protocol.stream.StreamOptions;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntFunction;

/**
 * The driver of dense push and pull, as {@link DenseDriver} measures {@code regatta}, over sizes of chunks, windows and
 * frames. One setting varies at a time, with the others by default; the defaults come from its results. All are in one
 * pair of processes, so that each is as warm as the others.
 */
public final class SweepDriver {
  private static final StreamOptions DEFAULTS = StreamOptions.defaults();
  private static final int KILO = 1 << 10;
  private static final int MEGA = 1 << 20;
  /** Ratio of a connection's window to that of its streams, as by default. */
  private static final int CONNECTION = DEFAULTS.connectionWindowBytes() / DEFAULTS.initialWindowBytes();

  private SweepDriver() {}

  /** One line of the table. */
  private record Setting(String key, int bytes, StreamOptions options) {
    boolean isDefault() {
      return options.equals(DEFAULTS);
    }
  }

  /** Markdown and raw values. */
  public record Result(String markdown, JsonObject json) {}

  private static List<Setting> settings() {
    List<Setting> all = new ArrayList<>();
    add(all, "stream.chunk_bytes", DEFAULTS::withChunkBytes, 256 * KILO, 512 * KILO, MEGA, 2 * MEGA, 4 * MEGA);
    add(all, "stream.initial_window_bytes",
        bytes -> DEFAULTS.with(s -> s.initialWindowBytes(bytes).connectionWindowBytes(bytes * CONNECTION)),
        MEGA, 4 * MEGA, 16 * MEGA, 64 * MEGA);
    add(all, "stream.max_frame_bytes", DEFAULTS::withMaxFrameBytes, 16 * KILO, 64 * KILO, 256 * KILO);
    return all;
  }

  private static void add(List<Setting> all, String key, IntFunction<StreamOptions> options, int... sizes) {
    for (int bytes : sizes) {
      all.add(new Setting(key, bytes, options.apply(bytes)));
    }
  }

  /** Runs all settings; blocks. @param elements floats of the vector */
  public static Result run(Scale scale, int elements) throws IOException {
    List<Setting> settings = settings();
    List<StreamOptions> distinct = settings.stream().map(Setting::options).distinct().toList();
    Map<StreamOptions, Map<String, List<Sample>>> samples = new LinkedHashMap<>();
    try (WorkerPair pair = DenseDriver.start(Peers.REGATTA,
        distinct.stream().map(options -> new DenseTask(elements, options)).toList())) {
      Map<StreamOptions, Contestant> contestants = new LinkedHashMap<>();
      for (int i = 0; i < distinct.size(); i++) {
        contestants.put(distinct.get(i), new Contestant(pair, i, elements));
        samples.put(distinct.get(i), new LinkedHashMap<>());
      }
      contestants.values().forEach(c -> c.warmUp(scale));
      for (int round = 0; round < scale.rounds(); round++) {
        contestants.forEach((options, contestant) -> Contestant.OPERATIONS.forEach(operation -> samples.get(options)
            .computeIfAbsent(operation, o -> new ArrayList<>()).add(contestant.measure(operation))));
      }
      contestants.values().forEach(Contestant::check);
    }
    return result(settings, samples, elements);
  }

  private static Result result(List<Setting> settings, Map<StreamOptions, Map<String, List<Sample>>> samples,
      int elements) {
    Table table = new Table("setting", "value", "push GB/s", "push CPU s/GB, client + server", "pull GB/s",
        "pull CPU s/GB, client + server");
    JsonArray raw = new JsonArray();
    for (Setting s : settings) {
      List<Object> row = new ArrayList<>(List.of(s.key, size(s.bytes) + (s.isDefault() ? " (default)" : "")));
      samples.get(s.options).forEach((operation, of) -> {
        row.add(Medians.of(of, Sample::rate));
        row.add(Medians.cpu(of));
        raw.add(new JsonObject().put("setting", s.key).put("bytes", s.bytes).put("operation", operation)
            .put("samples", Medians.raw(of)));
      });
      table.row(row.toArray());
    }
    return new Result("## sweep: " + elements * 4L / 1_000_000 + " MB, push with SGD and pull, one setting at a time\n\n"
        + table, new JsonObject().put("unit", "GB").put("elements", elements).put("measured", raw));
  }

  private static String size(int bytes) {
    return bytes >= MEGA ? bytes / MEGA + " MiB" : bytes / KILO + " KiB";
  }
}
