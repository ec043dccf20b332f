package io.regatta.data.generate;

import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A teacher of rows of the Census Income data's shape: six numbers and eight categories. An income above 50K has
 * probability {@code σ} of a linear function of both and of one cross, education by occupation, which a wide part can
 * learn. Used by one thread.
 */
final class CensusTeacher implements TableTeacher {

  private static final int EDUCATION = 1;
  private static final int OCCUPATION = 3;
  /** The categorical columns in the order of the file, each with its most frequent value first. */
  private static final String[][] VALUES = {
      {"Private", "Self-emp-not-inc", "Local-gov", "?", "State-gov", "Self-emp-inc", "Federal-gov"},
      {"HS-grad", "Some-college", "Bachelors", "Masters", "Assoc-voc", "11th", "Assoc-acdm", "10th", "Doctorate"},
      {"Married-civ-spouse", "Never-married", "Divorced", "Separated", "Widowed"},
      {"Prof-specialty", "Craft-repair", "Exec-managerial", "Adm-clerical", "Sales", "Other-service",
          "Machine-op-inspct", "?", "Transport-moving", "Tech-support"},
      {"Husband", "Not-in-family", "Own-child", "Unmarried", "Wife"},
      {"White", "Black", "Asian-Pac-Islander", "Other"},
      {"Male", "Female"},
      {"United-States", "Mexico", "?", "Philippines", "Germany", "Canada", "India", "Cuba"}};
  private static final double DEVIATION = 0.8;
  private static final double BIAS = -2.2;
  private static final double GAIN_RATE = 0.08;
  private static final double LOSS_RATE = 0.05;

  private final long seed;
  private final double[][] cumulative = new double[VALUES.length][];
  private final double[][] weights = new double[VALUES.length][];
  private final double[][] cross = new double[VALUES[EDUCATION].length][VALUES[OCCUPATION].length];

  CensusTeacher(long seed) {
    this.seed = seed;
    SplittableRandom random = TableTeacher.random(seed, -1);
    for (int column = 0; column < VALUES.length; column++) {
      cumulative[column] = TableTeacher.zipf(VALUES[column].length);
      weights[column] = normals(random, VALUES[column].length);
    }
    for (int education = 0; education < cross.length; education++) {
      cross[education] = normals(random, VALUES[OCCUPATION].length);
    }
  }

  private static double[] normals(SplittableRandom random, int count) {
    double[] out = new double[count];
    for (int i = 0; i < count; i++) {
      out[i] = DEVIATION * random.nextGaussian();
    }
    return out;
  }

  @Override
  public Rows rows(int stream, int count) {
    SplittableRandom random = TableTeacher.random(seed, stream);
    List<String> lines = new ArrayList<>(count);
    double[] scores = new double[count];
    boolean[] positive = new boolean[count];
    int[] chosen = new int[VALUES.length];
    for (int row = 0; row < count; row++) {
      double score = BIAS;
      for (int column = 0; column < VALUES.length; column++) {
        chosen[column] = TableTeacher.choose(random, cumulative[column]);
        score += weights[column][chosen[column]];
      }
      score += cross[chosen[EDUCATION]][chosen[OCCUPATION]];
      int age = whole(random, 39, 13, 17, 90);
      int weight = whole(random, 190_000, 100_000, 12_000, 999_999);
      int hours = whole(random, 40, 12, 1, 99);
      int gain = random.nextDouble() < GAIN_RATE ? whole(random, 6000, 4000, 100, 99_999) : 0;
      int loss = random.nextDouble() < LOSS_RATE ? whole(random, 1900, 300, 100, 4400) : 0;
      score += 0.04 * (age - 39) + 0.04 * (hours - 40) + (gain > 0 ? 2 : 0) + (loss > 0 ? 1 : 0);
      scores[row] = score;
      positive[row] = random.nextDouble() < TableTeacher.sigmoid(score);
      String[] text = new String[VALUES.length];
      for (int column = 0; column < text.length; column++) {
        text[column] = VALUES[column][chosen[column]];
      }
      lines.add(String.join(", ", String.valueOf(age), text[0], String.valueOf(weight), text[1],
          String.valueOf(chosen[EDUCATION] + 5), text[2], text[3], text[4], text[5], text[6], String.valueOf(gain),
          String.valueOf(loss), String.valueOf(hours), text[7], positive[row] ? ">50K" : "<=50K"));
    }
    return TableTeacher.binary(lines, scores, positive);
  }

  /** Draws a rounded normal number between two limits. */
  private static int whole(SplittableRandom random, double mean, double deviation, int least, int most) {
    return (int) Math.max(least, Math.min(most, Math.round(mean + deviation * random.nextGaussian())));
  }
}
