package io.regatta.trainer.exchange.collective;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.dense.DenseMemory;
import io.regatta.trainer.exchange.push.PushPullExchange;
import io.regatta.trainer.replica.Gradients;
import io.regatta.trainer.replica.RankSteps;
import io.regatta.trainer.replica.ReplicaContext;
import io.regatta.trainer.replica.StepTimes;
import io.regatta.trainer.strategy.sync.Sync;
import java.util.List;

/**
 * A rank's own copy of the parameters in collective mode, on which it makes every update, also those of steps of the
 * others that it only takes part in. Belongs to a rank's only model thread.
 */
final class OwnCopy {

  private final PushPullExchange own;
  private final RankSteps steps;
  /** What others' steps have made of the values since the last step of this rank; null if nothing. */
  private DenseMemory newer;

  OwnCopy(ReplicaContext replica, ParameterClient client, StepTimes times) {
    own = new PushPullExchange(replica, client, new Sync(), times);
    steps = replica.group().steps();
  }

  /** Returns the values to start from. */
  DenseMemory start() {
    return own.start();
  }

  /** A step of this rank begins. */
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

  /** This rank has taken part in a step of the others. */
  void othersStepped(DenseMemory values) {
    newer = values;
  }

  /** Returns the copy as it is. */
  DenseMemory values() {
    return own.newest();
  }

  /** Returns what others' steps have made of it since this rank's last one; null if nothing. */
  DenseMemory resumed() {
    DenseMemory values = newer;
    newer = null;
    return values != null ? values : own.resumed();
  }

  /** Returns the copy as it is, which is what {@link #resumed} would have told. */
  DenseMemory newest() {
    newer = null;
    return values();
  }
}
