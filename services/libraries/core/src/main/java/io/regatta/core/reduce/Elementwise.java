package io.regatta.core.reduce;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.nio.DoubleBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * The operations that reduce arrays of several members to one, element by element. Any thread. They are applied in the
 * order of the list: the same list gives the same bits wherever it is reduced.
 */
public enum Elementwise {
  SUM {
    @Override
    double combine(double a, double b) {
      return a + b;
    }
  },
  MAX {
    @Override
    double combine(double a, double b) {
      return Math.max(a, b);
    }
  },
  MIN {
    @Override
    double combine(double a, double b) {
      return Math.min(a, b);
    }
  };

  abstract double combine(double a, double b);

  /** Returns its name in messages: {@code sum}, {@code max}, {@code min}. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** Returns the operation with this name, or throws {@code InvalidInput}. */
  public static Elementwise ofWord(String word) {
    return Arrays.stream(values()).filter(how -> how.word().equals(word)).findFirst().orElseThrow(() ->
        new InvalidInput("unknown reduction '" + word + "'; give one of "
            + Arrays.stream(values()).map(Elementwise::word).collect(Collectors.joining(", "))));
  }

  /**
   * Returns the arrays reduced to one. Their positions stay as they are.
   *
   * @param values at least one; all of one length, or {@code InvalidInput}
   */
  public double[] reduce(List<DoubleBuffer> values) {
    DoubleBuffer first = values.get(0);
    double[] out = new double[first.remaining()];
    first.get(first.position(), out);
    for (DoubleBuffer more : values.subList(1, values.size())) {
      if (more.remaining() != out.length) {
        throw new InvalidInput("all-reduce: a trainer gave " + more.remaining() + " values, another " + out.length
            + "; all must give the same number, and reach the same calls in the same order");
      }
      int from = more.position();
      for (int i = 0; i < out.length; i++) {
        out[i] = combine(out[i], more.get(from + i));
      }
    }
    return out;
  }
}
