package io.regatta.program.label;

import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import java.util.HashMap;
import java.util.Map;

/**
 * Losses of the order within groups of a batch. Each is the mean over the groups, weighted by their numbers of examples.
 * Stateless; used on the model thread.
 */
public enum RankingLoss {

  /**
   * Log loss of the order of a group's pairs of different labels, the mean over these pairs (RankNet; Burges et al.,
   * "Learning to Rank using Gradient Descent", 2005). A group without such a pair has no loss.
   */
  PAIRWISE {
    @Override
    public NDArray loss(long[] groups, float[] labels, NDArray scores) {
      int n = labels.length;
      float[] weights = new float[n * n];
      Map<Long, Integer> sizes = sizes(groups, labels);
      Map<Long, Integer> pairs = new HashMap<>();
      for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
          if (isPair(groups, labels, i, j)) {
            pairs.merge(groups[i], 1, Integer::sum);
          }
        }
      }
      for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
          weights[i * n + j] = isPair(groups, labels, i, j) ? (float) sizes.get(groups[i]) / pairs.get(groups[i]) / n : 0;
        }
      }
      NDArray differences = scores.reshape(n, 1).sub(scores.reshape(1, n));
      return Activation.softPlus(differences.neg()).mul(scores.getManager().create(weights, new Shape(n, n))).sum();
    }

    private static boolean isPair(long[] groups, float[] labels, int i, int j) {
      return groups[i] == groups[j] && labels[i] > labels[j];
    }
  },

  /**
   * Cross entropy between the softmax of a group's labels and that of its scores (ListNet with top-one probabilities; Cao
   * et al., "Learning to Rank: From Pairwise Approach to Listwise Approach", 2007).
   */
  LISTWISE {
    @Override
    public NDArray loss(long[] groups, float[] labels, NDArray scores) {
      int n = labels.length;
      Map<Long, Integer> sizes = sizes(groups, labels);
      float[] others = new float[n * n];
      float[] weights = new float[n];
      for (int i = 0; i < n; i++) {
        double sum = 0;
        for (int j = 0; j < n; j++) {
          boolean together = groups[i] == groups[j] && !Float.isNaN(labels[i]) && !Float.isNaN(labels[j]);
          others[i * n + j] = together ? 0 : OUTSIDE;
          sum += together ? Math.exp((double) labels[j] - labels[i]) : 0;
        }
        weights[i] = Float.isNaN(labels[i]) ? 0 : (float) (sizes.get(groups[i]) / sum / n);
      }
      NDManager manager = scores.getManager();
      NDArray each = scores.reshape(1, n).add(manager.create(others, new Shape(n, n)));
      NDArray most = each.max(new int[] {1}, true).stopGradient();
      NDArray ofGroup = each.sub(most).exp().sum(new int[] {1}).log().add(most.reshape(n));
      return ofGroup.sub(scores.reshape(n)).mul(manager.create(weights)).sum();
    }
  };

  /** Score of an example of another group. */
  private static final float OUTSIDE = -1e9f;

  /**
   * Returns the loss of a batch, a scalar.
   *
   * @param labels relevances; NaN where one is missing: the example is in no group
   * @param scores {@code [batch]} or {@code [batch, 1]}
   */
  public abstract NDArray loss(long[] groups, float[] labels, NDArray scores);

  private static Map<Long, Integer> sizes(long[] groups, float[] labels) {
    Map<Long, Integer> sizes = new HashMap<>();
    for (int i = 0; i < groups.length; i++) {
      if (!Float.isNaN(labels[i])) {
        sizes.merge(groups[i], 1, Integer::sum);
      }
    }
    return sizes;
  }
}
