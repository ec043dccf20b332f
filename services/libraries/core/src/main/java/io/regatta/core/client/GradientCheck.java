package io.regatta.core.client;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.dense.NonFinite;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.GradientClipping;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The treatment of a trainer's whole gradients before they are cut for shards: shapes, NaN and infinity, clipping by
 * norm. Immutable; any thread.
 */
public final class GradientCheck {

  private final ModelSpec model;
  private final int denseNumel;
  private final Map<String, SparseTableSpec> tables = new HashMap<>();

  /** Creates the check of a model's gradients. */
  public GradientCheck(ModelSpec model) {
    this.model = model;
    denseNumel = model.denseNumel();
    model.sparse().forEach(t -> tables.put(t.name(), t));
  }

  int denseNumel() {
    return denseNumel;
  }

  SparseTableSpec table(String name) {
    SparseTableSpec t = tables.get(name);
    if (t == null) {
      throw new InvalidInput("unknown sparse table '" + name + "'; the model has " + tables.keySet());
    }
    return t;
  }

  void shapes(DenseMemory dense, List<SparseRows> sparse, String who) {
    if (dense != null && dense.size() != denseNumel) {
      throw new InvalidInput(who + " has " + dense.size() + " dense elements; the model has " + denseNumel);
    }
    for (SparseRows r : sparse) {
      int width = table(r.table()).pushWidth();
      if (r.values().length != (long) r.ids().length * width) {
        throw new InvalidInput(who + " has " + r.values().length + " values for " + r.ids().length + " rows of table '"
            + r.table() + "', whose pushed rows have " + width + " values");
      }
    }
  }

  /** Returns the place of the first NaN or infinite value, in words, or null. */
  public String nonFinite(DenseMemory dense, List<SparseRows> sparse) {
    int bad = dense == null ? -1 : dense.nonFinite();
    if (bad >= 0) {
      int offset = 0;
      for (DenseVariable v : model.dense()) {
        if (bad < offset + v.numel()) {
          return "gradient of '" + v.name() + "' is " + dense.at(bad) + " at element " + (bad - offset);
        }
        offset += v.numel();
      }
    }
    for (SparseRows r : sparse) {
      int k = NonFinite.find(r.values());
      if (k >= 0) {
        return "gradient of table '" + r.table() + "' is " + r.values()[k] + " in the row of id "
            + r.ids()[k / table(r.table()).pushWidth()];
      }
    }
    return null;
  }

  /**
   * Returns the dense gradient, each variable scaled to at most its optimizer's norm; a copy if there is such a norm.
   */
  public DenseMemory clipDense(DenseMemory dense) {
    float limit = model.denseOptimizer().clipNorm();
    if (dense == null || limit == 0) {
      return dense;
    }
    float[] out = dense.toArray();
    int offset = 0;
    for (DenseVariable v : model.dense()) {
      GradientClipping.byNorm(out, offset, v.numel(), limit);
      offset += v.numel();
    }
    return DenseMemory.of(out);
  }

  /**
   * Returns the sparse gradients, each table's batch scaled to at most its optimizer's norm; copies where there is one.
   */
  List<SparseRows> clipSparse(List<SparseRows> sparse) {
    List<SparseRows> out = new ArrayList<>(sparse.size());
    for (SparseRows r : sparse) {
      float limit = table(r.table()).optimizer().clipNorm();
      if (limit == 0) {
        out.add(r);
      } else {
        out.add(new SparseRows(r.table(), r.ids(), clipped(r, limit), r.counts()));
      }
    }
    return out;
  }

  /** Returns the clipped values; counts are neither scaled nor part of the norm. */
  private static float[] clipped(SparseRows r, float limit) {
    float[] values = r.values().clone();
    if (r.counts() == 0) {
      GradientClipping.byNorm(values, 0, values.length, limit);
      return values;
    }
    int dim = r.dim() - r.counts();
    float[] gradients = new float[r.ids().length * dim];
    for (int i = 0; i < r.ids().length; i++) {
      System.arraycopy(values, i * r.dim(), gradients, i * dim, dim);
    }
    GradientClipping.byNorm(gradients, 0, gradients.length, limit);
    for (int i = 0; i < r.ids().length; i++) {
      System.arraycopy(gradients, i * dim, values, i * r.dim(), dim);
    }
    return values;
  }
}
