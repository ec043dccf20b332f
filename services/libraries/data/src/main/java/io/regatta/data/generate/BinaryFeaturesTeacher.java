package io.regatta.data.generate;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A teacher of LibSVM lines of a9a's shape: 14 groups of 123 binary features, of which a row has one per group, and a
 * label of probability {@code σ(bias + Σ weights)}. So logistic regression is the right model. Used by one thread.
 */
final class BinaryFeaturesTeacher implements TableTeacher {

  /** Number of features of each group. */
  private static final int[] GROUPS = {5, 8, 5, 16, 5, 7, 14, 6, 5, 2, 2, 2, 5, 41};
  private static final double BIAS = -2.0;
  private static final double DEVIATION = 0.7;

  private final long seed;
  private final double[][] weights = new double[GROUPS.length][];
  private final double[][] cumulative = new double[GROUPS.length][];

  BinaryFeaturesTeacher(long seed) {
    this.seed = seed;
    SplittableRandom random = TableTeacher.random(seed, -1);
    for (int group = 0; group < GROUPS.length; group++) {
      weights[group] = new double[GROUPS[group]];
      cumulative[group] = TableTeacher.zipf(GROUPS[group]);
      for (int i = 0; i < GROUPS[group]; i++) {
        weights[group][i] = DEVIATION * random.nextGaussian();
      }
    }
  }

  @Override
  public Rows rows(int stream, int count) {
    SplittableRandom random = TableTeacher.random(seed, stream);
    List<String> lines = new ArrayList<>(count);
    double[] scores = new double[count];
    boolean[] positive = new boolean[count];
    for (int row = 0; row < count; row++) {
      StringBuilder line = new StringBuilder();
      double score = BIAS;
      int first = 1;
      for (int group = 0; group < GROUPS.length; group++) {
        int chosen = TableTeacher.choose(random, cumulative[group]);
        score += weights[group][chosen];
        line.append(' ').append(first + chosen).append(":1");
        first += GROUPS[group];
      }
      scores[row] = score;
      positive[row] = random.nextDouble() < TableTeacher.sigmoid(score);
      lines.add((positive[row] ? "+1" : "-1") + line);
    }
    return TableTeacher.binary(lines, scores, positive);
  }
}
