package io.regatta.trainer.djl;

import ai.djl.ndarray.NDArray;
import ai.djl.training.GradientCollector;

/** The engine's gradient collector, with the time that backward takes. Belongs to the model thread. */
final class TimedCollector implements GradientCollector {

  private final GradientCollector engine;
  private final StepTimes times;

  TimedCollector(GradientCollector engine, StepTimes times) {
    this.engine = engine;
    this.times = times;
  }

  @Override
  public void backward(NDArray target) {
    long begin = System.nanoTime();
    engine.backward(target);
    times.add(StepTimes.Part.BACKWARD, System.nanoTime() - begin);
    times.span("backward", begin);
  }

  @Override
  public void zeroGradients() {
    engine.zeroGradients();
  }

  @Override
  public void close() {
    engine.close();
  }
}
