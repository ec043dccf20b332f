package io.regatta.data.feature;

import io.regatta.core.feature.BadValue;
import io.regatta.core.feature.InputRow;
import java.util.List;
import java.util.Set;

/** The labels of an example, and what else of a row is no input of the network, as floats. Immutable; any thread. */
public interface RowLabels {

  /** Returns the columns that are read, each once. */
  List<String> columns();

  /** Returns those columns that a file must have. */
  Set<String> required();

  /** Returns the number of floats. */
  int width();

  /**
   * Puts the floats of a row into {@code labels[at..at + width)}; NaN is a missing value.
   *
   * @param numbers of the {@link #columns} in the row; -1 where there is none
   * @return null, or the reason why the row is bad
   */
  BadValue read(InputRow row, int[] numbers, float[] labels, int at);

  /** Returns true if the only float is a binary label. */
  default boolean isBinary() {
    return false;
  }

  /** Returns the same labels for rows to predict, which may lack all of them. */
  RowLabels toPredict();
}
