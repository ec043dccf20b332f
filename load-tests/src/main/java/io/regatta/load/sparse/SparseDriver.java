package io.regatta.load.sparse;

import io.regatta.load.process.WorkerPair;
import io.regatta.load.process.Sample;
import io.regatta.load.process.Scale;
import io.regatta.load.process.Task;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The driver of pull and push (Adagrad) of the rows of whole batches, with one shard and one trainer process, for a
 * small and a large table. Peers are grpc-java with a table of fastutil's, and copies from random places of memory.
 * Rows are the distinct ids on the wire; raw ids are those of the examples. All rows exist beforehand.
 */
public final class SparseDriver {
  static final String REGATTA = "regatta";
  static final String GRPC_JAVA = "grpc-java";
  static final String GATHER = "gather";
  static final String PULL = "pull";
  static final String PUSH = "push";
  static final int DIM = 10;
  static final double MILLION = 1e6;

  private SparseDriver() {}

  /** Returns the work of this driver's worker. */
  public static Task task(JsonObject setup) throws Exception {
    String kind = setup.getString("kind");
    int rows = setup.getInteger("rows");
    return kind.equals(GATHER) ? new GatherClient(rows)
        : setup.getString("role").equals("server") ? new SparseServer(kind)
            : new SparseClient(kind, setup.getInteger("port"), rows);
  }

  /** A table of one kind under measurement. */
  static final class Case implements AutoCloseable {
    final String kind;
    final int rows;
    final List<String> operations;
    final Map<String, List<Sample>> samples = new LinkedHashMap<>();
    double heapBytes = Double.NaN;
    double rawPerRow;
    private final WorkerPair pair;
    private final Map<String, Integer> times = new LinkedHashMap<>();

    Case(String kind, int rows) throws IOException {
      this.kind = kind;
      this.rows = rows;
      operations = kind.equals(GATHER) ? List.of(PULL) : List.of(PULL, PUSH);
      pair = WorkerPair.start(new JsonObject().put("driver", "sparse").put("kind", kind).put("rows", rows),
          kind.equals(GATHER));
    }

    private void fill() {
      if (!kind.equals(GATHER)) {
        JsonObject memory = new JsonObject().put("do", "memory");
        double before = pair.askServer(memory).getDouble("heap_bytes");
        pair.ask(new JsonObject().put("do", "fill"));
        heapBytes = pair.askServer(memory).getDouble("heap_bytes") - before;
      }
    }

    private void warmUp(Scale scale) {
      for (String operation : operations) {
        times.put(operation, pair.warmUpInBlocks(new JsonObject().put("do", operation), scale));
        samples.put(operation, new ArrayList<>());
      }
    }

    private void measure(String operation) {
      samples.get(operation).add(pair.measure(new JsonObject().put("do", operation).put("times", times.get(operation)),
          answer -> {
            rawPerRow = answer.getDouble("raw_ids") / answer.getDouble("rows");
            return answer.getDouble("rows") / MILLION;
          }));
    }

    @Override
    public void close() {
      pair.close();
    }
  }

  /** @param rows of the tables, the smallest first */
  public static SparseResult run(Scale scale, List<Integer> rows) throws IOException {
    List<Case> cases = new ArrayList<>();
    try {
      for (String kind : List.of(REGATTA, GRPC_JAVA, GATHER)) {
        for (int n : rows) {
          cases.add(new Case(kind, n));
        }
      }
      cases.forEach(Case::fill);
      cases.forEach(c -> c.warmUp(scale));
      for (int round = 0; round < scale.rounds(); round++) {
        for (Case c : cases) {
          c.operations.forEach(c::measure);
        }
      }
    } finally {
      cases.forEach(Case::close);
    }
    return new SparseResult(cases);
  }
}
