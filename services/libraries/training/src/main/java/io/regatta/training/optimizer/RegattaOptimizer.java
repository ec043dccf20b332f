package io.regatta.training.optimizer;

import ai.djl.ndarray.NDArray;
import ai.djl.training.optimizer.Optimizer;
import io.regatta.core.optim.OptimizerSpec;

/**
 * An optimizer that {@code DefaultTrainingConfig.optOptimizer} takes and that says by its {@link #spec} which of
 * core's update rules the servers run. It never updates anything itself.
 */
public abstract class RegattaOptimizer extends Optimizer {

  private final OptimizerSpec spec;

  protected RegattaOptimizer(OptimizerSpec spec) {
    super(new NoBuilder());
    this.spec = spec;
  }

  /** The update rule, as it travels to the servers. */
  public final OptimizerSpec spec() {
    return spec;
  }

  /** The class for a spec. */
  public static RegattaOptimizer of(OptimizerSpec spec) {
    return switch (spec.kind()) {
      case SGD -> new Sgd(spec);
      case MOMENTUM -> new Momentum(spec);
      case ADAGRAD -> new Adagrad(spec);
      case ADAM -> new Adam(spec);
      case FTRL -> new Ftrl(spec);
    };
  }

  /** Never called: the servers update. */
  @Override
  public final void update(String parameterId, NDArray weight, NDArray grad) {
    throw new IllegalStateException(getClass().getSimpleName() + " updates on the servers, in FleetTrainer.step(): "
        + "make the trainer with worker.distributedTrainer(model, config), not with model.newTrainer(config)");
  }

  private static final class NoBuilder extends OptimizerBuilder<NoBuilder> {
    @Override
    protected NoBuilder self() {
      return this;
    }
  }
}
