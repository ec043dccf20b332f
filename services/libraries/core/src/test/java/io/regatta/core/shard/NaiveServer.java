package io.regatta.core.shard;

import io.regatta.core.exchange.SparseRows;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.ParameterHash;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.TestRule;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The single-process result: one dense array, a map of rows, the rules applied one after another. An oracle. */
final class NaiveServer {

  final float[] dense = LocalJob.initial();
  final Map<String, Map<Long, float[][]>> rows = new LinkedHashMap<>();
  private final ModelSpec model;
  private final float[] denseSlots;
  private long updates;

  NaiveServer(ModelSpec model) {
    this.model = model;
    denseSlots = slots(TestRule.of(model.denseOptimizer()), dense.length);
    model.sparse().forEach(t -> rows.put(t.name(), new HashMap<>()));
  }

  private static float[] slots(TestRule optimizer, int n) {
    float[] slots = new float[n * optimizer.slots()];
    for (int i = 0; i < slots.length; i++) {
      slots[i] = optimizer.initialSlot(i / n);
    }
    return slots;
  }

  void update(long step, float[] gradient, List<SparseRows> sparse) {
    updates++;
    if (gradient != null) {
      float lr = (float) model.denseOptimizer().learningRate().at(step);
      TestRule.of(model.denseOptimizer())
          .apply(dense, 0, denseSlots, 0, dense.length, gradient, 0, dense.length, lr, updates);
    }
    for (SparseRows r : sparse) {
      SparseTableSpec t = table(r.table());
      float lr = (float) t.optimizer().learningRate().at(step);
      for (int i = 0; i < r.ids().length; i++) {
        float[][] row = row(t, r.ids()[i]);
        TestRule.of(t.optimizer()).apply(row[0], 0, row[1], 0, t.dim(), r.values(), i * t.dim(), t.dim(), lr, updates);
      }
    }
  }

  /** Weighted mean in rank order, element by element. */
  void round(long step, List<LocalJob.Gradient> byRank) {
    double total = byRank.stream().mapToDouble(LocalJob.Gradient::weight).sum();
    float[] mean = null;
    Map<String, Map<Long, float[]>> sparse = new LinkedHashMap<>();
    for (LocalJob.Gradient g : byRank) {
      float factor = (float) (g.weight() / total);
      if (g.dense() != null) {
        mean = sum(mean, g.dense(), 0, g.dense().length, factor);
      }
      for (SparseRows r : g.sparse()) {
        int dim = table(r.table()).dim();
        Map<Long, float[]> sums = sparse.computeIfAbsent(r.table(), t -> new HashMap<>());
        for (int i = 0; i < r.ids().length; i++) {
          sums.put(r.ids()[i], sum(sums.get(r.ids()[i]), r.values(), i * dim, dim, factor));
        }
      }
    }
    update(step, mean, sparse.entrySet().stream().map(e -> rows(e.getKey(), e.getValue())).toList());
  }

  private static float[] sum(float[] sum, float[] g, int off, int n, float factor) {
    float[] out = sum == null ? new float[n] : sum;
    for (int i = 0; i < n; i++) {
      out[i] = sum == null ? factor * g[off + i] : out[i] + factor * g[off + i];
    }
    return out;
  }

  private SparseRows rows(String table, Map<Long, float[]> sums) {
    int dim = table(table).dim();
    long[] ids = sums.keySet().stream().mapToLong(Long::longValue).toArray();
    float[] values = new float[ids.length * dim];
    for (int i = 0; i < ids.length; i++) {
      System.arraycopy(sums.get(ids[i]), 0, values, i * dim, dim);
    }
    return new SparseRows(table, ids, values);
  }

  float[][] row(SparseTableSpec t, long id) {
    return rows.get(t.name()).computeIfAbsent(id, i -> {
      float[] values = new float[t.dim()];
      t.initializer().fill(model.seed(), t.name(), id, values, 0, t.dim());
      return new float[][] {values, slots(TestRule.of(t.optimizer()), t.dim())};
    });
  }

  SparseTableSpec table(String name) {
    return model.sparse().stream().filter(t -> t.name().equals(name)).findFirst().orElseThrow();
  }

  long digest() {
    long sum = ParameterHash.dense("fc.weight", 0, dense, 0, 15) + ParameterHash.dense("fc.bias", 0, dense, 15, 9);
    for (SparseTableSpec t : model.sparse()) {
      for (var e : rows.get(t.name()).entrySet()) {
        sum += ParameterHash.row(t.name(), e.getKey(), e.getValue()[0], 0, t.dim());
      }
    }
    return sum;
  }
}
