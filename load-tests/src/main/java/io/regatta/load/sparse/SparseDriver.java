package io.regatta.load.sparse;

import io.regatta.load.run.Medians;
import io.regatta.load.run.Sample;
import io.regatta.load.run.Scale;
import io.regatta.load.run.Table;
import io.regatta.load.run.Task;
import io.regatta.load.run.WorkerPair;
import io.regatta.load.run.ZipfBatches;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Pull and push (Adagrad) of the rows of whole batches, one shard and one trainer process over gRPC, for a small and a
 * large table. Rows are the distinct ids on the wire; raw ids are those of the examples. All rows are there before.
 */
public final class SparseDriver {
  private static final double MILLION = 1e6;
  private static final List<String> OPERATIONS = List.of("pull", "push");

  private SparseDriver() {}

  /** The task of a worker of this driver. */
  public static Task task(JsonObject setup) throws Exception {
    return setup.getString("role").equals("server") ? new SparseServer()
        : new SparseClient(setup.getInteger("port"), setup.getInteger("rows"));
  }

  /** Markdown and raw values. */
  public record Result(String markdown, JsonObject json) {}

  /** A table under measurement. */
  private static final class Case {
    final int rows;
    final WorkerPair pair;
    double heapBytes;
    double rawPerRow;
    final Map<String, Integer> times = new LinkedHashMap<>();
    final Map<String, List<Sample>> samples = new LinkedHashMap<>();

    Case(int rows) throws IOException {
      this.rows = rows;
      pair = WorkerPair.start(new JsonObject().put("driver", "sparse").put("kind", "regatta").put("rows", rows), false);
    }

    void fill() {
      JsonObject memory = new JsonObject().put("do", "memory");
      double before = pair.askServer(memory).getDouble("heap_bytes");
      pair.ask(new JsonObject().put("do", "fill"));
      heapBytes = pair.askServer(memory).getDouble("heap_bytes") - before;
    }

    void warmUp(Scale scale) {
      for (String operation : OPERATIONS) {
        times.put(operation, pair.warmUpInBlocks(new JsonObject().put("do", operation), scale));
        samples.put(operation, new ArrayList<>());
      }
    }

    void measure(String operation) {
      samples.get(operation).add(pair.measure(new JsonObject().put("do", operation).put("times", times.get(operation)),
          answer -> {
            rawPerRow = answer.getDouble("raw_ids") / answer.getDouble("rows");
            return answer.getDouble("rows") / MILLION;
          }));
    }
  }

  /** @param rows of the tables, the smallest first */
  public static Result run(Scale scale, List<Integer> rows) throws IOException {
    List<Case> cases = new ArrayList<>();
    try {
      for (int n : rows) {
        cases.add(new Case(n));
      }
      cases.forEach(Case::fill);
      cases.forEach(c -> c.warmUp(scale));
      for (int round = 0; round < scale.rounds(); round++) {
        for (Case c : cases) {
          OPERATIONS.forEach(c::measure);
        }
      }
    } finally {
      cases.forEach(c -> c.pair.close());
    }
    return result(cases);
  }

  private static Result result(List<Case> cases) {
    Table table = new Table("rows resident", "heap MB", "bytes/row", "operation", "M rows/s", "M raw ids/s",
        "CPU s/M rows, client + server", "time per row to the smallest table's", "wanted");
    JsonArray raw = new JsonArray();
    Case smallest = cases.get(0);
    for (Case c : cases) {
      for (String operation : OPERATIONS) {
        List<Sample> s = c.samples.get(operation);
        double rate = Medians.of(s, Sample::rate);
        double slower = Medians.ratio(smallest.samples.get(operation), s, Sample::rate);
        table.row(c.rows, c.heapBytes / MILLION, c.heapBytes / c.rows, operation, rate, rate * c.rawPerRow,
            Medians.cpu(s), slower,
            (operation.equals("pull") ? "≥ 3 M rows/s" : "≥ 1.5 M rows/s") + (c == smallest ? "" : ", ≤ 2 ×"));
        raw.add(new JsonObject().put("rows", c.rows).put("heap_bytes", c.heapBytes).put("operation", operation)
            .put("raw_ids_per_row", c.rawPerRow).put("samples", Medians.raw(s)));
      }
    }
    return new Result("## sparse: rows of " + SparseClient.DIM + " floats, Adagrad, " + ZipfBatches.SLOTS + " slots × "
        + ZipfBatches.EXAMPLES + " examples per request, Zipf's ids\n\n" + table,
        new JsonObject().put("unit", "million rows").put("measured", raw));
  }
}
