package io.regatta.core.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class TopAccuracyTest {

  private static final float[] SCORES = {
      0, 1, 2, 3, 4, 5, 6,
      6, 5, 4, 3, 2, 1, 0,
      1, 1, 1, 1, 1, 1, 1};

  @Test
  void countsTheHighestAndTheFiveHighest() {
    TopAccuracy metrics = new TopAccuracy();
    metrics.add(SCORES, new float[] {6, 4, 6});
    assertThat(metrics.top1()).isEqualTo(1.0 / 3);
    assertThat(metrics.top5()).as("of equal scores the lower classes come first").isEqualTo(2.0 / 3);
  }

  @Test
  void partsAddUpToTheWhole() {
    TopAccuracy whole = new TopAccuracy();
    whole.add(SCORES, new float[] {1, 0, 0});
    TopAccuracy parts = new TopAccuracy();
    parts.add(SCORES, new float[] {1, 0, 0});
    parts.merge(TopAccuracy.ofSums(new double[] {0, 0, 0}));
    assertThat(TopAccuracy.ofSums(parts.sums()).sums()).containsExactly(whole.sums()).containsExactly(3, 2, 2);
  }

  @Test
  void notANumberIsWrongAndFewerThanFiveClassesAreAllAmongFive() {
    TopAccuracy metrics = new TopAccuracy();
    metrics.add(new float[] {Float.NaN, 1, 1, Float.NaN}, new float[] {0, 0});
    assertThat(metrics.top1()).isEqualTo(0.5);
    assertThat(metrics.top5()).isEqualTo(0.5);
    assertThat(new TopAccuracy().top1()).isNaN();
  }

  @Test
  void mergedIsTheWhole() {
    TopAccuracy whole = new TopAccuracy();
    whole.add(SCORES, new float[] {6, 4, 6});
    whole.add(SCORES, new float[] {1, 0, 0});
    TopAccuracy merged = new TopAccuracy();
    merged.add(SCORES, new float[] {6, 4, 6});
    TopAccuracy other = new TopAccuracy();
    other.add(SCORES, new float[] {1, 0, 0});
    merged.merge(other);
    assertThat(merged.sums()).containsExactly(6, 3, 4).containsExactly(whole.sums());
    assertThat(merged.examples()).isEqualTo(6);
  }

  /** Against the classes in order, with scores that are often equal. */
  @Property(tries = 200)
  void findsTheLabelAmongTheClassesInOrder(@ForAll long seed, @ForAll @IntRange(min = 1, max = 9) int classes) {
    Random random = new Random(seed);
    int examples = 20;
    float[] scores = new float[examples * classes];
    float[] labels = new float[examples];
    int first = 0;
    int amongFive = 0;
    for (int i = 0; i < examples; i++) {
      int row = i * classes;
      for (int c = 0; c < classes; c++) {
        scores[row + c] = random.nextInt(4);
      }
      int label = random.nextInt(classes);
      labels[i] = label;
      List<Integer> order = IntStream.range(0, classes).boxed().sorted(Comparator.comparing(c -> -scores[row + c])).toList();
      first += order.indexOf(label) == 0 ? 1 : 0;
      amongFive += order.indexOf(label) < 5 ? 1 : 0;
    }
    TopAccuracy metrics = new TopAccuracy();
    metrics.add(scores, labels);
    assertThat(metrics.sums()).containsExactly(examples, first, amongFive);
  }
}
