package io.regatta.training.model;

import ai.djl.ndarray.NDArray;
import ai.djl.training.GradientCollector;
import io.regatta.training.replica.StepTimes;
import java.util.function.DoubleConsumer;

/** A gradient collector of the engine that also measures the time of backward. Belongs to the model thread. */
public final class TimedCollector implements GradientCollector {

  private final GradientCollector engine;
  private final StepTimes times;
  private final DoubleConsumer losses;

  /**
   * @param losses gets the mean of each target of a backward pass; null if not needed, as reading it waits for the
   *     engine
   */
  public TimedCollector(GradientCollector engine, StepTimes times, DoubleConsumer losses) {
    this.engine = engine;
    this.times = times;
    this.losses = losses;
  }

  @Override
  public void backward(NDArray target) {
    long begin = times.clock().nanos();
    engine.backward(target);
    times.add(StepTimes.Part.BACKWARD, times.clock().nanos() - begin);
    times.span("backward", begin);
    if (losses != null) {
      losses.accept(mean(target.toFloatArray()));
    }
  }

  private static double mean(float[] values) {
    double sum = 0;
    for (float value : values) {
      sum += value;
    }
    return sum / values.length;
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
