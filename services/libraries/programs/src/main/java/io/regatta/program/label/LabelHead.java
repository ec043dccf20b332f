package io.regatta.program.label;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.types.DataType;
import ai.djl.nn.Activation;
import io.regatta.training.config.LabelConfig;

/**
 * The losses and scores of one label. Its outputs are float32 {@code [batch, outputs]}, its label {@code [batch]}.
 * Stateless; used on the model thread.
 */
public enum LabelHead {

  /**
   * The log odds of 1; log loss, in which an example of label 1 counts {@code positive_weight} times. If a share of the
   * examples of label 0 is trained on, its logarithm is added to the log odds: p becomes p / (p + (1 − p) / share).
   * Source: He et al., "Practical Lessons from Predicting Clicks on Ads at Facebook", 2014.
   */
  BINARY {
    @Override
    public NDArray losses(NDArray label, NDArray outputs, LabelConfig config) {
      NDArray x = outputs.reshape(label.getShape());
      NDArray losses = Activation.softPlus(x).sub(x.mul(label));
      return config.positiveWeight() == 1 ? losses : losses.mul(label.mul(config.positiveWeight() - 1).add(1));
    }

    @Override
    public void scores(float[] values, int from, int width, LabelConfig config) {
      values[from] = (float) (1 / (1 + Math.exp(-values[from] - Math.log(config.negativeRate()))));
    }
  },

  /** A score for each class, softmax over all; cross entropy. The label is the number of the class. */
  CLASSES {
    @Override
    public NDArray losses(NDArray label, NDArray outputs, LabelConfig config) {
      int classes = Math.toIntExact(outputs.getShape().get(1));
      NDArray chosen = label.toType(DataType.INT32, false).oneHot(classes).toType(DataType.FLOAT32, false);
      return outputs.logSoftmax(1).mul(chosen).sum(new int[] {1}).neg();
    }

    @Override
    public void scores(float[] values, int from, int width, LabelConfig config) {
      double most = Double.NEGATIVE_INFINITY;
      for (int i = from; i < from + width; i++) {
        most = Math.max(most, values[i]);
      }
      double sum = 0;
      for (int i = from; i < from + width; i++) {
        sum += Math.exp(values[i] - most);
      }
      for (int i = from; i < from + width; i++) {
        values[i] = (float) (Math.exp(values[i] - most) / sum);
      }
    }
  },

  /** The number; half of the squared error. */
  SQUARED {
    @Override
    public NDArray losses(NDArray label, NDArray outputs, LabelConfig config) {
      return outputs.reshape(label.getShape()).sub(label).square().mul(0.5f);
    }
  },

  /**
   * The number; half of the squared error up to delta, linear beyond it (Huber, "Robust Estimation of a Location
   * Parameter", 1964).
   */
  HUBER {
    @Override
    public NDArray losses(NDArray label, NDArray outputs, LabelConfig config) {
      NDArray error = outputs.reshape(label.getShape()).sub(label).abs();
      NDArray within = error.minimum((float) config.delta());
      return within.mul(error.sub(within.mul(0.5f)));
    }
  },

  /** The logarithm of the mean; negative log likelihood of a Poisson distribution, without the term of the label alone. */
  POISSON {
    @Override
    public NDArray losses(NDArray label, NDArray outputs, LabelConfig config) {
      NDArray x = outputs.reshape(label.getShape());
      return x.exp().sub(x.mul(label));
    }

    @Override
    public void scores(float[] values, int from, int width, LabelConfig config) {
      values[from] = (float) Math.exp(values[from]);
    }
  };

  /**
   * Returns the loss of each example, {@code [batch]}.
   *
   * @param label without missing values
   * @param config of the label
   */
  public abstract NDArray losses(NDArray label, NDArray outputs, LabelConfig config);

  /** Replaces the outputs of an example, {@code values[from..from + width)}, by its scores. */
  public void scores(float[] values, int from, int width, LabelConfig config) {}

  /** Returns the head of a label; null for a ranking, see {@link RankingLoss}. */
  static LabelHead of(LabelConfig label) {
    return switch (label.kind()) {
      case BINARY -> BINARY;
      case CLASSES -> CLASSES;
      case NUMBER -> switch (label.loss()) {
        case HUBER -> HUBER;
        case POISSON -> POISSON;
        default -> SQUARED;
      };
      case RANK -> null;
    };
  }
}
