package io.regatta.trainer.djl;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.GradientClipping;
import io.regatta.core.optim.Optimizer;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.NanPolicy;
import io.regatta.core.shard.ParameterClient;
import io.regatta.core.shard.ParameterClient.Values;
import io.regatta.core.shard.SparseIds;
import io.regatta.core.shard.SparseRows;
import io.regatta.trainer.TrainerSession;
import it.unimi.dsi.fastutil.longs.LongArrayList;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A rank's local copies in geo mode, shared by its replicas: local SGD on every step, and every {@code kSteps} steps
 * an exchange of deltas. Source: GEO-SGD as in Paddle's communicator: delta = (local - old) / trainers; old += delta;
 * push delta, the servers add it; pull what has changed; local += server - old; old = server.
 *
 * <p>A step changes it on the leader's thread while the other training replicas wait; the lock is for replicas that
 * evaluate meanwhile.
 */
final class GeoState {

  private final TrainerSession session;
  private final ParameterClient client;
  private final RankSteps steps;
  private final int kSteps;
  private final ModelSpec model;
  private final Map<String, GeoTable> tables = new LinkedHashMap<>();
  private float[] local;
  private float[] old;
  private long[] versions;
  private long localSteps;
  private long sinceExchange;

  GeoState(TrainerSession session, ParameterClient client, RankSteps steps, int kSteps) {
    this.session = session;
    this.client = client;
    this.steps = steps;
    this.kSteps = kSteps;
    model = client.job().model();
    check(model.denseOptimizer(), "the dense parameters");
    for (SparseTableSpec t : model.sparse()) {
      check(t.optimizer(), "table " + t.name());
      tables.put(t.name(), new GeoTable(t.name(), t.dim()));
    }
  }

  private static void check(OptimizerSpec optimizer, String what) {
    if (optimizer.kind() != OptimizerSpec.Kind.SGD) {
      throw new InvalidInput("geo mode trains with SGD only, but the optimizer of " + what + " is "
          + optimizer.kind().name().toLowerCase(java.util.Locale.ROOT)
          + "; set optimizer.kind: sgd, or choose another mode");
    }
  }

  /** The dense values to start from. */
  synchronized float[] start() {
    if (local == null) {
      Values v = session.await("pull of initial values", client.pull(0, true, List.of(), false));
      local = v.dense();
      old = local.clone();
      versions = v.versions();
    }
    return local.clone();
  }

  synchronized float[] rows(String table, int dim, long[] ids, boolean keep) {
    GeoTable t = tables.get(table);
    float[] out = new float[ids.length * dim];
    LongArrayList missing = t.copy(ids, out);
    if (missing.isEmpty()) {
      return out;
    }
    List<SparseIds> wish = List.of(new SparseIds(table, missing.toLongArray()));
    SparseRows fresh = session.await("pull of rows of table " + table,
        keep ? client.pull(0, false, wish, false) : client.read(false, wish)).sparse().get(0);
    if (keep) {
      t.admit(fresh.ids(), fresh.values());
      t.copy(ids, out);
      return out;
    }
    for (int i = 0, m = 0; m < missing.size(); i++) {
      if (ids[i] == missing.getLong(m)) {
        System.arraycopy(fresh.values(), m++ * dim, out, i * dim, dim);
      }
    }
    return out;
  }

  /** One local step of SGD with the replicas' merged gradients, and an exchange if one is due. */
  synchronized float[] step(Gradients g) {
    if (finite(g)) {
      clip(g);
      update(model.denseOptimizer(), local, 0, g.dense(), 0, local.length);
      for (SparseRows rows : g.sparse()) {
        GeoTable t = tables.get(rows.table());
        SparseTableSpec spec = spec(rows.table());
        for (int i = 0; i < rows.ids().length; i++) {
          int at = t.touch(rows.ids()[i]);
          update(spec.optimizer(), t.values(), at, rows.values(), i * spec.dim(), spec.dim());
        }
      }
    }
    localSteps++;
    sinceExchange++;
    if (sinceExchange >= kSteps) {
      exchange();
    }
    return local.clone();
  }

  /** Pushes what has been trained since the last exchange, if anything. */
  synchronized void handIn() {
    if (sinceExchange > 0) {
      exchange();
    }
  }

  /** The servers' values alone: what is local beyond them (the other trainers' share of the last deltas) is dropped. */
  synchronized float[] newest() {
    Values v = session.await("pull of the newest values", client.pull(steps.made(), true, List.of(), false));
    local = v.dense();
    old = local.clone();
    versions = v.versions();
    tables.values().forEach(GeoTable::clear);
    return local.clone();
  }

  /** By norm, per variable and per table's batch, as {@code ParameterClient} does in the other modes. */
  private void clip(Gradients g) {
    float limit = model.denseOptimizer().clipNorm();
    if (limit > 0 && g.dense() != null) {
      int off = 0;
      for (DenseVariable v : model.dense()) {
        GradientClipping.byNorm(g.dense(), off, v.numel(), limit);
        off += v.numel();
      }
    }
    for (SparseRows rows : g.sparse()) {
      float tableLimit = spec(rows.table()).optimizer().clipNorm();
      if (tableLimit > 0) {
        GradientClipping.byNorm(rows.values(), 0, rows.values().length, tableLimit);
      }
    }
  }

  private void update(OptimizerSpec spec, float[] w, int wOff, float[] g, int gOff, int n) {
    if (g != null && n > 0) {
      Optimizer.of(spec).apply(w, wOff, new float[0], 0, 0, g, gOff, n,
          (float) spec.learningRate().at(localSteps), localSteps + 1);
    }
  }

  private SparseTableSpec spec(String table) {
    return model.sparse().stream().filter(t -> t.name().equals(table)).findFirst().orElseThrow();
  }

  /** A broken gradient must not reach the local copy, from where no later exchange could remove it. */
  private boolean finite(Gradients g) {
    boolean finite = g.dense() == null || finite(g.dense());
    for (SparseRows rows : g.sparse()) {
      finite &= finite(rows.values());
    }
    if (!finite && client.job().nanPolicy() == NanPolicy.FAIL) {
      throw new InvalidInput("trainer " + session.trainer().rank() + " of job " + client.job().job() + ", step "
          + localSteps + ": the gradient holds NaN or infinite values; lower the learning rate, clip gradients, or set "
          + "nan_policy: skip");
    }
    if (!finite) {
      steps.acknowledged(0, true);
    }
    return finite;
  }

  private static boolean finite(float[] values) {
    for (float v : values) {
      if (!Float.isFinite(v)) {
        return false;
      }
    }
    return true;
  }

  private void exchange() {
    int trainers = session.worldSize();
    float[] delta = new float[local.length];
    for (int i = 0; i < delta.length; i++) {
      delta[i] = (local[i] - old[i]) / trainers;
      old[i] += delta[i];
    }
    List<SparseRows> rows = new ArrayList<>();
    for (GeoTable t : tables.values()) {
      SparseRows d = t.takeDelta(trainers);
      if (d.ids().length > 0) {
        rows.add(d);
      }
    }
    var pushed = steps.next(n -> client.push(Math.max(0, localSteps - 1), 1, versions, delta, rows));
    var pulled = client.pull(steps.made(), true, List.of(), true);
    var ack = session.await("exchange of step " + localSteps, PushPullExchange.both(pushed, pulled));
    steps.acknowledged(ack.staleness(), ack.skippedPush());
    take(pulled.join());
    sinceExchange = 0;
  }

  private void take(Values v) {
    versions = v.versions();
    for (int i = 0; i < local.length; i++) {
      local[i] += v.dense()[i] - old[i];
      old[i] = v.dense()[i];
    }
    for (SparseRows changed : v.sparse()) {
      tables.get(changed.table()).merge(changed.ids(), changed.values());
    }
  }
}
