package io.regatta.trainer.optimizer;

import ai.djl.ndarray.NDArray;
import ai.djl.training.optimizer.Optimizer;
import io.regatta.core.optim.OptimizerSpec;

/**
 * An optimizer for {@code DefaultTrainingConfig.optOptimizer} that names the one which the servers run by its {@link
 * #spec}. It never updates anything itself.
 */
public final class RegattaOptimizer extends Optimizer {

  private final OptimizerSpec spec;

  /** Creates the optimizer of a specification, such as {@code OptimizerSpec.of("adam", 0.001)}. */
  public RegattaOptimizer(OptimizerSpec spec) {
    super(new NoBuilder());
    this.spec = spec;
  }

  /** The update rule, as it travels to the servers. */
  public OptimizerSpec spec() {
    return spec;
  }

  /** Never called: the servers update. */
  @Override
  public void update(String parameterId, NDArray weight, NDArray grad) {
    throw new IllegalStateException(spec.name() + " updates on the servers, in FleetTrainer.step(): "
        + "make the trainer with worker.distributedTrainer(model, config), not with model.newTrainer(config)");
  }

  private static final class NoBuilder extends OptimizerBuilder<NoBuilder> {
    @Override
    protected NoBuilder self() {
      return this;
    }
  }
}
