package io.regatta.trainer.djl;

import ai.djl.Model;
import ai.djl.training.Trainer;
import ai.djl.training.TrainingConfig;
import io.regatta.trainer.Strategy;

/**
 * A DJL trainer whose {@link #step} exchanges gradients for values with the shards. Belongs to one model thread.
 * {@code EasyTrain.fit} runs it unchanged; hand-written loops with {@code newGradientCollector}, {@code backward} and
 * {@code step} work as well. The loss must be the mean over the batch's examples.
 */
public final class FleetTrainer extends Trainer {

  /** Refuses a stock DJL optimizer and more than one device. Call {@link #initialize} next. */
  public FleetTrainer(Model model, TrainingConfig config, Strategy strategy, ReplicaContext replica) {
    super(model, config);
    throw new UnsupportedOperationException("TODO trainer helper");
  }

  /** Steps taken so far over the whole run. */
  public long steps() {
    throw new UnsupportedOperationException("TODO trainer helper");
  }

  /**
   * Number of examples behind the gradients of the next {@link #step}, its weight in the mean over ranks. Only needed
   * when the first dimension of the data is not the number of examples.
   */
  public void setExamples(long examples) {
    throw new UnsupportedOperationException("TODO trainer helper");
  }
}
