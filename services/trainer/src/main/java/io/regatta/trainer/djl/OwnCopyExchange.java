package io.regatta.trainer.djl;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.dense.DenseMemory;
import java.util.List;

/**
 * What exchanges of gradients among ranks have in common: each rank makes every update on its own copy of the parameters, also those of
 * steps of the others that it only takes part in. Belongs to a rank's only model thread.
 */
abstract class OwnCopyExchange implements Exchange {

  private final PushPullExchange own;
  private final RankSteps steps;
  /** What others' steps have made of the values since the last step of this rank; null if nothing. */
  private DenseMemory newer;

  OwnCopyExchange(ReplicaContext replica, ParameterClient client, StepTimes times) {
    own = new PushPullExchange(replica, client, times);
    steps = replica.group().steps();
  }

  @Override
  public DenseMemory start() {
    return own.start();
  }

  /** A step of this rank begins. */
  final void stepBegins() {
    newer = null;
  }

  /**
   * Makes the update of a step.
   *
   * @param examples of all ranks
   * @param gradient the ranks' mean
   * @return the values of the next step
   */
  final DenseMemory update(double examples, DenseMemory gradient) {
    DenseMemory values = own.step(new Gradients(examples, gradient, List.of()), List.of());
    steps.trainedByAll(Math.round(examples));
    return values;
  }

  /** This rank has taken part in a step of the others. */
  final void othersStep(DenseMemory values) {
    newer = values;
  }

  /** The copy as it is. */
  final DenseMemory values() {
    return own.newest();
  }

  @Override
  public final boolean averages() {
    return true;
  }

  @Override
  public final DenseMemory resumed() {
    DenseMemory values = newer;
    newer = null;
    return values != null ? values : own.resumed();
  }

  @Override
  public final DenseMemory newest() {
    newer = null;
    return values();
  }
}
