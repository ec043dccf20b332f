package io.regatta.core.model;

import java.util.List;

/**
 * One dense parameter of the model, float32.
 *
 * @param name unique within the model, the same on every rank (the key of DJL's ParameterList)
 * @param shape dimensions, row-major
 */
public record DenseVariable(String name, List<Integer> shape) {

  /** Number of elements. */
  public int numel() {
    int n = 1;
    for (int d : shape) {
      n = Math.multiplyExact(n, d);
    }
    return n;
  }
}
