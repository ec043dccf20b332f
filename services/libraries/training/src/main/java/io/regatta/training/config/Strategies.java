package io.regatta.training.config;

import io.regatta.core.exchange.Mode;
import io.regatta.node.settings.Inline;
import io.regatta.training.strategy.TrainerStrategy;
import io.regatta.training.strategy.async.Async;
import io.regatta.training.strategy.collective.Collective;
import io.regatta.training.strategy.downpour.Downpour;
import io.regatta.training.strategy.geo.Geo;
import io.regatta.training.strategy.halfasync.HalfAsync;
import io.regatta.training.strategy.lazyasync.LazyAsync;
import io.regatta.training.strategy.ssp.Ssp;
import io.regatta.training.strategy.sync.Sync;
import java.lang.reflect.RecordComponent;

/**
 * The registry of the trainer's strategies: one component for each mode. The keys of a strategy are keys of the job, so
 * every job has a strategy of every mode, and trains by one of them. Immutable.
 */
public record Strategies(
    @Inline Sync sync,
    @Inline HalfAsync halfAsync,
    @Inline Async async,
    @Inline Geo geo,
    @Inline Ssp ssp,
    @Inline LazyAsync lazyAsync,
    @Inline Downpour downpour,
    @Inline Collective collective) {

  /** Returns the strategy of a mode. */
  public TrainerStrategy of(Mode mode) {
    for (RecordComponent component : Strategies.class.getRecordComponents()) {
      TrainerStrategy strategy = value(component);
      if (strategy.mode() == mode) {
        return strategy;
      }
    }
    throw new IllegalStateException("mode " + mode.id() + " has no strategy in " + Strategies.class.getName()
        + "; add it there");
  }

  private TrainerStrategy value(RecordComponent component) {
    try {
      return (TrainerStrategy) component.getAccessor().invoke(this);
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("cannot read " + component, e);
    }
  }
}
