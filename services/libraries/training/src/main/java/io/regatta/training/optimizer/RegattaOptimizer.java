package io.regatta.training.optimizer;

import ai.djl.ndarray.NDArray;
import ai.djl.training.optimizer.Optimizer;
import io.regatta.core.optim.OptimizerSpec;

/**
 * An optimizer that {@code DefaultTrainingConfig.optOptimizer} takes and that holds, for any of core's optimizers, the
 * {@link #spec} that shards apply. It never updates anything itself.
 */
public final class RegattaOptimizer extends Optimizer {

  private final OptimizerSpec spec;

  /** Creates the optimizer of a specification, for example {@code OptimizerSpec.of("adam", 0.01)}. */
  public RegattaOptimizer(OptimizerSpec spec) {
    super(new NoBuilder());
    this.spec = spec;
  }

  /** Creates the optimizer of a name, such as {@code adam}, with its default hyperparameters, at a constant rate. */
  public static RegattaOptimizer of(String name, double rate) {
    return new RegattaOptimizer(OptimizerSpec.of(name, rate));
  }

  /** Returns the specification that shards apply. */
  public OptimizerSpec spec() {
    return spec;
  }

  /** Fails: shards update. */
  @Override
  public void update(String parameterId, NDArray weight, NDArray grad) {
    throw new IllegalStateException("optimizer " + spec.name() + " updates on the servers, in FleetTrainer.step(): "
        + "make the trainer with worker.distributedTrainer(model, config), not with model.newTrainer(config)");
  }

  private static final class NoBuilder extends OptimizerBuilder<NoBuilder> {
    @Override
    protected NoBuilder self() {
      return this;
    }
  }
}
