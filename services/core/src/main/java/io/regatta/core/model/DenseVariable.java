package io.regatta.core.model;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;

/**
 * One dense parameter of the model, float32.
 *
 * @param name unique within the model, the same on every rank (the key of DJL's ParameterList)
 * @param shape dimensions, row-major
 */
public record DenseVariable(String name, List<Integer> shape) {

  public DenseVariable {
    shape = List.copyOf(shape);
    if (name.isBlank() || shape.stream().anyMatch(d -> d < 0)) {
      throw new InvalidInput("dense variable '" + name + "' needs a name and dimensions of at least 0, not " + shape);
    }
  }

  /** Number of elements. */
  public int numel() {
    int n = 1;
    for (int d : shape) {
      n = Math.multiplyExact(n, d);
    }
    return n;
  }
}
