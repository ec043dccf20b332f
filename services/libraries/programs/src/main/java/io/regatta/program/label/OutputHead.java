package io.regatta.program.label;

import ai.djl.ndarray.NDArray;
import ai.djl.training.loss.Loss;
import java.util.List;

/** The output layer of a network: its loss, and the conversion of its outputs to scores. Used on the model thread. */
public interface OutputHead {

  /** Returns the loss of a batch, the mean over its examples. */
  Loss loss(String name);

  /** Returns the names of the scores of an example, in their order. */
  List<String> names();

  /** Returns the scores of a batch, row by row, the same number for each example. */
  float[] scores(NDArray outputs);

  /** Returns true if the first score is the probability that the first label is 1. */
  boolean isBinary();
}
