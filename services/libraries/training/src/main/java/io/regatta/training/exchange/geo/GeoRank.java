package io.regatta.training.exchange.geo;

import io.regatta.core.client.GeoState;
import io.regatta.core.client.ParameterClient;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.training.exchange.push.Rows;
import io.regatta.training.replica.Gradients;
import io.regatta.training.replica.RankSteps;
import io.regatta.training.replica.Stages;
import io.regatta.training.session.TrainerSession;
import java.util.List;

/**
 * One rank's side of geo mode, shared by its replicas: it pushes and pulls for its {@link GeoState}. A step runs on the
 * leader's thread while the other training replicas wait; the lock is for replicas that evaluate meanwhile.
 */
public final class GeoRank {

  private final TrainerSession session;
  private final ParameterClient client;
  private final RankSteps steps;
  private final GeoState state;

  public GeoRank(TrainerSession session, ParameterClient client, RankSteps steps, int kSteps) {
    this.session = session;
    this.client = client;
    this.steps = steps;
    state = new GeoState(client.job(), session.trainer().rank(), kSteps, steps.steps());
  }

  /** Returns the initial dense values. */
  synchronized float[] start() {
    if (!state.started()) {
      state.renew(session.await("pull of initial values", client.pull(0, true, List.of(), false)));
    }
    return state.dense();
  }

  /** Returns rows: for a training step, after which they are local, or (not {@code training}) for evaluation. */
  synchronized float[] rows(String table, int dim, long[] ids, boolean training) {
    float[] out = new float[ids.length * dim];
    long[] missing = state.copy(table, ids, out);
    if (missing.length == 0) {
      return out;
    }
    List<SparseIds> wish = List.of(new SparseIds(table, missing));
    SparseRows fresh = session.await("pull of rows of table " + table,
        training ? client.pull(0, false, wish, false) : client.read(false, wish)).sparse().get(0);
    if (training) {
      state.admit(fresh);
    }
    for (int i = 0, m = 0; m < missing.length; i++) {
      if (ids[i] == missing[m]) {
        System.arraycopy(fresh.values(), m++ * dim, out, i * dim, dim);
      }
    }
    return out;
  }

  /** Makes one local step with the merged gradients of these replicas, and an exchange if one is due. */
  synchronized float[] step(List<Integer> replicas, Gradients g) {
    if (!state.step(g.dense() == null ? null : g.dense().toArray(), g.sparse())) {
      steps.acknowledged(0, true);
    }
    steps.stepped(replicas);
    if (state.exchangeDue()) {
      exchange();
    }
    return state.dense();
  }

  /**
   * Returns a copy of the local dense values, which contain this rank's training and the others' deltas received so
   * far.
   */
  synchronized float[] dense() {
    return state.dense().clone();
  }

  /** Pushes what has been trained since the last exchange, if anything. */
  synchronized void handIn() {
    if (state.pending()) {
      exchange();
    }
  }

  /** Returns the servers' values alone; see {@link GeoState#renew}. */
  synchronized float[] newest() {
    state.renew(session.await("pull of the newest values", client.pull(steps.made(), true, List.of(), false)));
    return state.dense();
  }

  /** Pushes what has been trained, and returns the servers' dense values; the local ones remain. */
  synchronized float[] read() {
    handIn();
    return session.await("reading of dense values", client.read(true, List.of())).dense();
  }

  private void exchange() {
    GeoState.Delta delta = state.takeDelta();
    var pushed = steps.next(List.of(), (step, after) -> client.push(delta.step(), 1, delta.versions(),
        DenseMemory.of(delta.dense()), delta.sparse(), after.withLearningRateStep(state.steps())));
    var pulled = client.pull(steps.made(), true, List.of(), true);
    var ack = session.await("exchange of step " + state.steps(), Stages.both(pushed, pulled));
    steps.acknowledged(ack.staleness(), ack.skippedPush());
    state.merge(pulled.join());
  }
}
