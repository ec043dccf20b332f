package io.regatta.training.config.regularization;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.settings.Setting;

/**
 * The section {@code model.regularization} of a job: L2 and dropout for each part of the network. An L2 of λ adds
 * λ/2·‖w‖² to the mean loss of a batch, so that the gradient of a weight grows by λ·w. Of a table it touches only the
 * rows of the batch: each row that the batch names gets λ·w once, however often it is named. Biases have none. Immutable.
 */
public record RegularizationConfig(
    @Setting(value = "0", doc = "L2 of the linear part: its weights of dense features, and the rows of the table weights.")
    double l2Linear,

    @Setting(value = "0", doc = "L2 of the vectors: rows of the table embedding, and vectors of dense features.")
    double l2Embedding,

    @Setting(value = "0", doc = "L2 of the weights of the relu layers.")
    double l2Deep,

    @Setting(value = "0", doc = "L2 of the weights of the cross layers and of their logit.")
    double l2Cross,

    @Setting(value = "0", doc = "Probability with which a value of a vector is 0 in a training step, for all parts that use the vectors.")
    double embeddingDropout,

    @Setting(value = "0", doc = "Probability with which an output of the cross layers is 0 in a training step.")
    double crossDropout) {

  /** No regularization. */
  public static final RegularizationConfig NONE = new RegularizationConfig(0, 0, 0, 0, 0, 0);

  public RegularizationConfig {
    notNegative("l2_linear", l2Linear);
    notNegative("l2_embedding", l2Embedding);
    notNegative("l2_deep", l2Deep);
    notNegative("l2_cross", l2Cross);
    probability("embedding_dropout", embeddingDropout);
    probability("cross_dropout", crossDropout);
  }

  private static void notNegative(String key, double value) {
    if (!(value >= 0) || Double.isInfinite(value)) {
      throw new InvalidInput(key + " must be a number of at least 0, not " + value);
    }
  }

  private static void probability(String key, double value) {
    if (!(value >= 0 && value < 1)) {
      throw new InvalidInput(key + " must be from 0 to less than 1, not " + value);
    }
  }
}
