package io.regatta.training.heter.part;

import ai.djl.ndarray.NDArray;

/** The mean of a loss over its elements. Stateless; used on a model thread. */
final class Means {

  private Means() {}

  /** Returns the mean; waits for the engine. */
  static double of(NDArray loss) {
    double sum = 0;
    float[] values = loss.toFloatArray();
    for (float value : values) {
      sum += value;
    }
    return sum / values.length;
  }
}
