package io.regatta.core.client;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.optim.Sgd;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A rank's local copy of the model in geo mode. It runs local SGD on every step, and exchanges deltas with the servers
 * every {@code kSteps} steps. The source is GEO-SGD as in Paddle's communicator. Before the push: delta = (local - old)
 * / trainers; old += delta. The servers add the delta. After the pull of what has changed: local += server - old; old =
 * server.
 *
 * <p>Gradients are checked and clipped here, as {@link ParameterClient#push} does in the other modes; deltas are not.
 * Its owner pushes and pulls, and must not use it from two threads at a time; nothing here waits.
 */
public final class GeoState {

  /**
   * The delta that one exchange pushes.
   *
   * @param step last local step that it includes
   * @param versions at which the local values were last equal to the servers'
   */
  public record Delta(long step, long[] versions, float[] dense, List<SparseRows> sparse) {}

  private final JobSpec job;
  private final int rank;
  private final int kSteps;
  private final GradientCheck model;
  private final OptimizerSpec denseSpec;
  private final Sgd denseOptimizer;
  private final Map<String, GeoTable> tables = new LinkedHashMap<>();
  private float[] local;
  private float[] old;
  private long[] versions;
  private long localSteps;
  private long sinceExchange;

  /** Creates an empty copy for the start of a run. */
  public GeoState(JobSpec job, int rank, int kSteps) {
    this(job, rank, kSteps, 0);
  }

  /**
   * Creates an empty copy; {@link #renew} gives it values. Refuses optimizers other than SGD.
   *
   * @param localSteps steps that the rank has made in earlier starts of the run, from which the schedule of the
   *     learning rate continues
   */
  public GeoState(JobSpec job, int rank, int kSteps, long localSteps) {
    this.job = job;
    this.localSteps = localSteps;
    this.rank = rank;
    this.kSteps = kSteps;
    model = new GradientCheck(job.model());
    denseSpec = job.model().denseOptimizer();
    checkSgd(denseSpec, "the dense parameters");
    denseOptimizer = (Sgd) denseSpec.optimizer();
    for (SparseTableSpec t : job.model().sparse()) {
      checkSgd(t.optimizer(), "table " + t.name());
      tables.put(t.name(), new GeoTable(t));
    }
  }

  private static void checkSgd(OptimizerSpec optimizer, String what) {
    if (!(optimizer.optimizer() instanceof Sgd)) {
      throw new InvalidInput("geo mode trains with SGD only, but the optimizer of " + what + " is "
          + optimizer.name() + "; set optimizer.kind: sgd, or choose another mode");
    }
  }

  /** Returns true if there are values. */
  public boolean started() {
    return local != null;
  }

  /** Returns a copy of the local dense values. */
  public float[] dense() {
    return local.clone();
  }

  /**
   * Copies the local rows of a table, {@code ids.length × dim}, into {@code out}.
   *
   * @return the ids whose rows are not here, in their order
   */
  public long[] copy(String table, long[] ids, float[] out) {
    return table(table).copy(ids, out);
  }

  /** Adds rows with the servers' values; rows that are here already stay as they are. */
  public void admit(SparseRows rows) {
    table(rows.table()).admit(rows.ids(), rows.values());
  }

  /**
   * Makes one local step with the merged gradients of the rank's replicas. A NaN or infinite one must not reach the
   * local copy, from where no later exchange could remove it. By policy it fails, or is skipped; a skipped step counts.
   *
   * @param dense gradient of the flat dense vector, or null
   * @param sparse gradients by table, ids distinct; their rows must be here
   * @return false if the gradient was skipped
   */
  public boolean step(float[] dense, List<SparseRows> sparse) {
    String who = "step " + localSteps + " of trainer " + rank;
    DenseMemory gradient = DenseMemory.of(dense);
    model.shapes(gradient, sparse, who);
    String bad = model.nonFinite(gradient, sparse);
    if (bad != null && job.nanPolicy() == NanPolicy.FAIL) {
      throw new InvalidInput(who + " of job " + job.job() + " refused before it was applied: " + bad
          + "; lower the learning rate, clip gradients, or set nan_policy: skip");
    }
    if (bad == null) {
      update(model.clipDense(gradient), model.clipSparse(sparse));
    }
    localSteps++;
    sinceExchange++;
    return bad == null;
  }

  private void update(DenseMemory dense, List<SparseRows> sparse) {
    if (dense != null) {
      denseOptimizer.applyWhole(local, new float[0][], dense.array(),
          denseSpec.step((float) denseSpec.learningRate().at(localSteps), localSteps + 1));
    }
    for (SparseRows rows : sparse) {
      table(rows.table()).update(rows, localSteps);
    }
  }

  /** Returns the number of local steps. */
  public long steps() {
    return localSteps;
  }

  /** Returns true if the next operation must be an exchange. */
  public boolean exchangeDue() {
    return sinceExchange >= kSteps;
  }

  /** Returns true if there are local steps that no exchange has flushed. */
  public boolean pending() {
    return sinceExchange > 0;
  }

  /**
   * Begins an exchange: returns this trainer's part of what training has changed since the last one. Push it, then
   * pull.
   */
  public Delta takeDelta() {
    float[] delta = new float[local.length];
    for (int i = 0; i < delta.length; i++) {
      delta[i] = (local[i] - old[i]) / job.trainers();
      old[i] += delta[i];
    }
    List<SparseRows> rows = new ArrayList<>();
    for (GeoTable t : tables.values()) {
      SparseRows d = t.takeDelta(job.trainers());
      if (d.ids().length > 0) {
        rows.add(d);
      }
    }
    sinceExchange = 0;
    return new Delta(Math.max(0, localSteps - 1), versions, delta, rows);
  }

  /** Ends an exchange with the servers' dense values and their changed rows, pulled after the push of the delta. */
  public void merge(ParameterClient.Values server) {
    versions = server.versions();
    for (int i = 0; i < local.length; i++) {
      local[i] += server.dense()[i] - old[i];
      old[i] = server.dense()[i];
    }
    for (SparseRows changed : server.sparse()) {
      table(changed.table()).merge(changed.ids(), changed.values());
    }
  }

  /**
   * Replaces the local dense values by the servers', and drops all rows, which are pulled again at their next use.
   * Local changes beyond those values are lost: the other trainers' part of the last deltas.
   */
  public void renew(ParameterClient.Values server) {
    local = server.dense();
    old = local.clone();
    versions = server.versions();
    tables.values().forEach(GeoTable::clear);
  }

  private GeoTable table(String name) {
    model.table(name); // refuses an unknown one, naming those that there are
    return tables.get(name);
  }
}
