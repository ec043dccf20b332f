package io.regatta.load.collective;

import io.regatta.load.collective.Contender.Calls;
import io.regatta.load.process.Medians;
import io.regatta.load.process.Table;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/** The results of the all-reduce driver. For one thread. */
public final class AllReduceResult {
  private static final int MB = 1 << 20;
  private static final List<String> KINDS = Stream.concat(RegattaGroup.KINDS.stream(),
      Stream.of(OpenMpiGroup.TCP, OpenMpiGroup.SHARED_MEMORY, GlooGroup.GLOO)).toList();
  private static final List<List<String>> RATIOS = List.of(
      List.of(RegattaGroup.PROCESSES, GlooGroup.GLOO), List.of(RegattaGroup.PROCESSES, OpenMpiGroup.TCP),
      List.of(RegattaGroup.UNIX, OpenMpiGroup.TCP), List.of(RegattaGroup.SHARED, GlooGroup.GLOO),
      List.of(RegattaGroup.SHARED, OpenMpiGroup.TCP), List.of(RegattaGroup.SHARED, OpenMpiGroup.SHARED_MEMORY),
      List.of(RegattaGroup.AGGREGATED, RegattaGroup.PROCESSES), List.of(RegattaGroup.HANDOVER, OpenMpiGroup.SHARED_MEMORY));

  private final List<Integer> sizes;
  private final List<Integer> ranks;
  private final Map<Key, List<Calls>> samples = new LinkedHashMap<>();

  private record Key(String kind, int ranks, int bytes) {}

  AllReduceResult(List<Integer> sizes, List<Integer> ranks) {
    this.sizes = sizes;
    this.ranks = ranks;
  }

  void add(Contender contender, int bytes, Calls calls) {
    samples.computeIfAbsent(new Key(contender.kind(), contender.ranks(), bytes), k -> new ArrayList<>()).add(calls);
  }

  List<Calls> samples(String kind, int n, int bytes) {
    return samples.getOrDefault(new Key(kind, n, bytes), List.of());
  }

  private double median(String kind, int n, int bytes, ToDoubleFunction<Calls> figure) {
    return Medians.of(samples(kind, n, bytes).stream().mapToDouble(figure).toArray());
  }

  /** Returns the median over the rounds of one's time divided by the other's in the same round. */
  private double ratio(String one, String other, int n, int bytes) {
    List<Calls> a = samples(one, n, bytes);
    List<Calls> b = samples(other, n, bytes);
    return Medians.of(IntStream.range(0, Math.min(a.size(), b.size()))
        .mapToDouble(i -> a.get(i).median() / b.get(i).median()).toArray());
  }

  private static String wanted(String one, String other, int n, int bytes) {
    if (n != 2 || !one.equals(RegattaGroup.PROCESSES) && !one.equals(RegattaGroup.HANDOVER)) {
      return "";
    }
    return switch (other) {
      case GlooGroup.GLOO -> bytes >= MB ? "≤ 1" : "";
      case RegattaGroup.PROCESSES -> "";
      case OpenMpiGroup.TCP -> bytes <= 4096 ? "≤ 2" : bytes >= 16 * MB ? "≤ 1" : bytes >= MB ? "≤ 1.3" : "";
      default -> bytes >= MB ? "≤ 1" : "";
    };
  }

  /** Returns three tables: time of a call, CPU seconds of all ranks per GB, and ratios of the times. */
  public String markdown() {
    Table times = table("p50 µs", Calls::micros);
    Table cpu = table("CPU s/GB", Calls::cpuPerGb);
    Table ratios = new Table("ratio of", "to", "ranks", "bytes", "time", "wanted");
    for (int n : ranks) {
      for (List<String> pair : RATIOS) {
        String one = pair.get(0);
        String other = pair.get(1);
        for (int bytes : sizes) {
          ratios.row(one, other, n, size(bytes), ratio(one, other, n, bytes), wanted(one, other, n, bytes));
        }
      }
    }
    return "## allreduce: float32, sum\n\n" + times + "\n" + cpu + "\n" + ratios;
  }

  private Table table(String figure, ToDoubleFunction<Calls> of) {
    List<String> columns = new ArrayList<>(List.of(figure, "ranks"));
    sizes.forEach(bytes -> columns.add(size(bytes)));
    Table table = new Table(columns.toArray(String[]::new));
    for (int n : ranks) {
      for (String kind : KINDS) {
        List<Object> row = new ArrayList<>(List.of(kind, n));
        sizes.forEach(bytes -> row.add(median(kind, n, bytes, of)));
        table.row(row.toArray());
      }
    }
    return table;
  }

  private static String size(int bytes) {
    return bytes >= MB ? bytes / MB + " MB" : bytes / 1024 + " KB";
  }

  /** Returns all raw values. */
  public JsonObject json() {
    JsonArray all = new JsonArray();
    samples.forEach((key, calls) -> {
      JsonArray rounds = new JsonArray();
      calls.forEach(c -> rounds.add(new JsonObject().put("p50_seconds", c.median()).put("seconds", c.seconds())
          .put("cpu_seconds", c.cpu()).put("gigabytes", c.gigabytes())));
      all.add(new JsonObject().put("kind", key.kind).put("ranks", key.ranks).put("bytes", key.bytes).put("rounds", rounds));
    });
    return new JsonObject().put("measured", all);
  }
}
