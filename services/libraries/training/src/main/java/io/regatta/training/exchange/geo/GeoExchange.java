package io.regatta.training.exchange.geo;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.exchange.SparseIds;
import io.regatta.training.replica.Exchange;
import io.regatta.training.replica.Gradients;
import io.regatta.training.replica.ReplicaContext;
import io.regatta.training.replica.StepTimes;
import java.util.List;

/**
 * One replica's side of geo mode: it meets the rank's other replicas, and then reads the shared {@link GeoRank}.
 * Belongs to the replica's model thread.
 */
public final class GeoExchange implements Exchange {

  /** The contribution of a replica to a step. */
  private record Given(int replica, Gradients gradients) {}

  private final ReplicaContext replica;
  private final GeoRank state;
  private final StepTimes times;

  public GeoExchange(ReplicaContext replica, GeoRank state, StepTimes times) {
    this.replica = replica;
    this.state = state;
    this.times = times;
  }

  @Override
  public DenseMemory start() {
    return DenseMemory.of(state.start());
  }

  @Override
  public float[] rows(String table, int dim, long[] ids) {
    long begin = times.clock().nanos();
    try {
      return state.rows(table, dim, ids, true);
    } finally {
      times.add(StepTimes.Part.PULL, times.clock().nanos() - begin);
    }
  }

  @Override
  public float[] evaluationRows(String table, int dim, long[] ids) {
    return state.rows(table, dim, ids, false);
  }

  @Override
  public DenseMemory step(Gradients gradients, List<SparseIds> next) {
    return replica.group().step(replica.session(), replica.replica(), "geo step",
        new Given(replica.replica(), gradients), all -> DenseMemory.of(state.step(all.stream().map(Given::replica).toList(),
            Gradients.merge(all.stream().map(Given::gradients).toList()))));
  }

  /** Returns null: local values are as new as possible without an exchange. */
  @Override
  public DenseMemory resumed() {
    return null;
  }

  @Override
  public void handIn() {
    state.handIn();
  }

  @Override
  public DenseMemory newest() {
    return DenseMemory.of(state.newest());
  }

  /** Returns the servers' values, with this rank's steps in them: heter workers have the local ones of the part. */
  @Override
  public DenseMemory current() {
    return DenseMemory.of(state.read());
  }

  @Override
  public float[] last() {
    return state.dense();
  }
}
