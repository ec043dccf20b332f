package io.regatta.data.generate;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;

/**
 * A teacher of rows of the housing data's shape: 13 features with a common factor, as those of neighbourhoods have. The
 * value is linear in them with normal noise. Used by one thread.
 */
final class HousingTeacher implements TableTeacher {

  /** Standard deviation of the noise: about that of least squares on the public data. */
  private static final double NOISE = 4.7;
  private static final double SHARED = 0.6;
  private static final double[] MEAN = {3.6, 11.4, 11.1, 0.07, 0.55, 6.3, 68.6, 3.8, 9.5, 408, 18.5, 357, 12.7};
  private static final double[] DEVIATION = {8.6, 23.3, 6.9, 0.25, 0.12, 0.7, 28.1, 2.1, 8.7, 168, 2.2, 91, 7.1};
  private static final double BASE = 22.5;

  private final long seed;
  private final double[] weights = new double[MEAN.length];
  private final double[] loadings = new double[MEAN.length];

  HousingTeacher(long seed) {
    this.seed = seed;
    SplittableRandom random = TableTeacher.random(seed, -1);
    for (int i = 0; i < weights.length; i++) {
      loadings[i] = random.nextBoolean() ? SHARED : -SHARED;
      weights[i] = 2.4 * (random.nextDouble() * 2 - 1);
    }
  }

  @Override
  public Rows rows(int stream, int count) {
    SplittableRandom random = TableTeacher.random(seed, stream);
    List<String> lines = new ArrayList<>(count);
    double squares = 0;
    for (int row = 0; row < count; row++) {
      StringBuilder line = new StringBuilder();
      double shared = random.nextGaussian();
      double value = BASE;
      for (int i = 0; i < weights.length; i++) {
        double x = loadings[i] * shared + StrictMath.sqrt(1 - SHARED * SHARED) * random.nextGaussian();
        value += weights[i] * x;
        line.append(String.format(Locale.ROOT, " %.4f", MEAN[i] + DEVIATION[i] * x));
      }
      double noise = NOISE * random.nextGaussian();
      squares += noise * noise;
      lines.add(line.append(String.format(Locale.ROOT, " %.2f", value + noise)).toString());
    }
    return new Rows(lines, "mean squared error", squares / count);
  }
}
