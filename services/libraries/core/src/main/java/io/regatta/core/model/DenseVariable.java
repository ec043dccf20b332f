package io.regatta.core.model;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;

/**
 * One dense parameter of the model, float32.
 *
 * @param name unique within the model, the same on every rank (the key of DJL's ParameterList)
 * @param shape dimensions, row-major, each at least 1; none for a scalar
 */
public record DenseVariable(String name, List<Integer> shape) {

  public DenseVariable {
    ModelSpec.requireName("dense variable", name);
    shape = List.copyOf(shape);
    long n = 1;
    for (int d : shape) {
      if (d < 1) {
        throw new InvalidInput("dense variable " + name + " has shape " + shape
            + ": every dimension must be at least 1");
      }
      n *= d;
      if (n > Integer.MAX_VALUE) {
        throw new InvalidInput("dense variable " + name + " has shape " + shape
            + ": more than 2^31-1 elements do not fit one variable; split it, or make it a sparse table");
      }
    }
  }

  /** Returns the number of elements. */
  public int numel() {
    int n = 1;
    for (int d : shape) {
      n *= d;
    }
    return n;
  }
}
