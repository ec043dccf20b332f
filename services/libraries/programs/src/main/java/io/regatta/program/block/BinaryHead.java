package io.regatta.program.block;

import ai.djl.ndarray.NDArray;
import ai.djl.training.loss.Loss;
import io.regatta.program.label.OutputHead;
import java.util.List;

/**
 * The output layer of a network for two classes: its loss, and the conversion of its outputs to probabilities.
 * Stateless; used on the model thread.
 */
public enum BinaryHead implements OutputHead {

  /** {@code [batch, 1]}: the log odds of class 1; mean log loss. */
  LOGIT(1) {
    @Override
    public Loss loss(String name) {
      return new LogitLoss(name);
    }

    @Override
    double logOdds(float[] outputs, int example) {
      return outputs[example];
    }
  },

  /** {@code [batch, 2]}: a score for each class, softmax over both; mean cross entropy. */
  SOFTMAX(2) {
    @Override
    public Loss loss(String name) {
      return Loss.softmaxCrossEntropyLoss(name);
    }

    @Override
    double logOdds(float[] outputs, int example) {
      return (double) outputs[2 * example + 1] - outputs[2 * example];
    }
  };

  private final int width;

  BinaryHead(int width) {
    this.width = width;
  }

  /** Returns the outputs per example. */
  int width() {
    return width;
  }

  @Override
  public abstract Loss loss(String name);

  abstract double logOdds(float[] outputs, int example);

  @Override
  public List<String> names() {
    return List.of("score");
  }

  @Override
  public boolean isBinary() {
    return true;
  }

  @Override
  public float[] scores(NDArray outputs) {
    return probabilities(outputs);
  }

  /** Returns the probabilities of class 1, one per example. */
  public float[] probabilities(NDArray outputs) {
    float[] values = outputs.toFloatArray();
    float[] probabilities = new float[values.length / width];
    for (int i = 0; i < probabilities.length; i++) {
      probabilities[i] = (float) (1 / (1 + Math.exp(-logOdds(values, i))));
    }
    return probabilities;
  }
}
