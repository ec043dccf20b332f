package io.regatta.training.exchange.collective;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.dense.DenseMemory;
import io.regatta.training.exchange.push.PushPullExchange;
import io.regatta.training.replica.Gradients;
import io.regatta.training.replica.RankSteps;
import io.regatta.training.replica.ReplicaContext;
import io.regatta.training.replica.StepTimes;
import io.regatta.training.strategy.sync.Sync;
import java.util.List;

/**
 * A rank's own copy of the parameters in collective mode, on which it makes every update, including those of others'
 * steps in which it only takes part. Belongs to a rank's only model thread.
 */
final class OwnCopy {

  private final PushPullExchange own;
  private final RankSteps steps;
  /** Values after others' steps since the last step of this rank; null if there were none. */
  private DenseMemory newer;

  OwnCopy(ReplicaContext replica, ParameterClient client, StepTimes times) {
    own = new PushPullExchange(replica, client, new Sync(), times);
    steps = replica.group().steps();
  }

  /** Returns the values to start from. */
  DenseMemory start() {
    return own.start();
  }

  /** Begins a step of this rank. */
  void stepBegins() {
    newer = null;
  }

  /**
   * Makes the update of a step.
   *
   * @param examples of all ranks
   * @param gradient the ranks' mean
   * @return the values of the next step
   */
  DenseMemory update(double examples, DenseMemory gradient) {
    DenseMemory values = own.step(new Gradients(examples, gradient, List.of()), List.of());
    steps.trainedByAll(Math.round(examples));
    return values;
  }

  /** Notes the values after a step of the others in which this rank has taken part. */
  void othersStepped(DenseMemory values) {
    newer = values;
  }

  /** Returns the present copy. */
  DenseMemory values() {
    return own.newest();
  }

  /** Returns the values after others' steps since this rank's last one; null if there were none. */
  DenseMemory resumed() {
    DenseMemory values = newer;
    newer = null;
    return values != null ? values : own.resumed();
  }

  /** Returns the present copy, including what {@link #resumed} would have returned. */
  DenseMemory newest() {
    newer = null;
    return values();
  }
}
