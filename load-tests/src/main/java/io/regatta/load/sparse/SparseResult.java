package io.regatta.load.sparse;

import io.regatta.load.process.Medians;
import io.regatta.load.process.Sample;
import io.regatta.load.process.Table;
import io.regatta.load.run.ZipfBatches;
import io.regatta.load.sparse.SparseDriver.Case;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.function.ToDoubleFunction;

/** The results of the sparse driver. Immutable by convention. */
public final class SparseResult {
  private final List<Case> cases;

  /** @param cases by kind, and the smallest table of each first */
  SparseResult(List<Case> cases) {
    this.cases = cases;
  }

  private Case of(String kind, int rows) {
    return cases.stream().filter(c -> c.kind.equals(kind) && c.rows == rows).findFirst().orElseThrow();
  }

  private Case smallest(Case of) {
    return cases.stream().filter(c -> c.kind.equals(of.kind)).findFirst().orElseThrow();
  }

  /** Returns two tables: results and ratios. */
  public String markdown() {
    Table figures = new Table("kind", "rows resident", "heap MB", "bytes/row", "operation", "M rows/s", "M raw ids/s",
        "CPU s/M rows, client + server", "time per row to the smallest table's", "wanted");
    for (Case c : cases) {
      for (String operation : c.operations) {
        List<Sample> s = c.samples.get(operation);
        double rate = Medians.of(s, Sample::rate);
        figures.row(c.kind, c.rows, c.heapBytes / SparseDriver.MILLION, c.heapBytes / c.rows, operation, rate,
            c.rawPerRow == 0 ? Double.NaN : rate * c.rawPerRow, Medians.cpu(s),
            Medians.ratio(smallest(c).samples.get(operation), s, Sample::rate), wanted(c, operation));
      }
    }
    Table ratios = new Table("ratio of", "to", "figure", "rows resident", "pull", "push");
    for (int rows : cases.stream().map(c -> c.rows).distinct().toList()) {
      ratios.row(SparseDriver.REGATTA, SparseDriver.GRPC_JAVA, "M rows/s", rows,
          ratio(SparseDriver.GRPC_JAVA, rows, SparseDriver.PULL, Sample::rate),
          ratio(SparseDriver.GRPC_JAVA, rows, SparseDriver.PUSH, Sample::rate));
      ratios.row(SparseDriver.REGATTA, SparseDriver.GRPC_JAVA, "CPU s/M rows", rows,
          ratio(SparseDriver.GRPC_JAVA, rows, SparseDriver.PULL, Sample::cpu),
          ratio(SparseDriver.GRPC_JAVA, rows, SparseDriver.PUSH, Sample::cpu));
      ratios.row(SparseDriver.REGATTA, SparseDriver.GATHER, "M rows/s", rows,
          ratio(SparseDriver.GATHER, rows, SparseDriver.PULL, Sample::rate), Double.NaN);
    }
    return "## sparse: rows of " + SparseDriver.DIM + " floats, Adagrad, " + ZipfBatches.SLOTS + " slots × "
        + ZipfBatches.EXAMPLES + " examples per request, Zipf's ids\n\n" + figures + "\n" + ratios;
  }

  private String wanted(Case c, String operation) {
    return !c.kind.equals(SparseDriver.REGATTA) ? ""
        : (operation.equals(SparseDriver.PULL) ? "≥ 3 M rows/s" : "≥ 1.5 M rows/s")
            + (c == smallest(c) ? "" : ", ≤ 2 ×, ≤ 1.2 GB");
  }

  private double ratio(String peer, int rows, String operation, ToDoubleFunction<Sample> figure) {
    return Medians.ratio(of(SparseDriver.REGATTA, rows).samples.get(operation), of(peer, rows).samples.get(operation),
        figure);
  }

  /** Returns all raw values; units are millions of rows. */
  public JsonObject json() {
    JsonArray raw = new JsonArray();
    for (Case c : cases) {
      c.samples.forEach((operation, s) -> raw.add(new JsonObject().put("kind", c.kind).put("rows", c.rows)
          .put("heap_bytes", Double.isNaN(c.heapBytes) ? null : c.heapBytes).put("operation", operation)
          .put("raw_ids_per_row", c.rawPerRow).put("samples", Medians.raw(s))));
    }
    return new JsonObject().put("unit", "million rows").put("measured", raw);
  }
}
