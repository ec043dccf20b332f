package io.regatta.core.retrieval;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.Comparator;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class RetrievalTest {

  @Test
  void theBestItemsAreThoseOfASort() {
    Random random = new Random(3);
    int dim = 4;
    float[] vectors = new float[500 * dim];
    for (int i = 0; i < vectors.length; i++) {
      vectors[i] = random.nextInt(5) - 2; // with ties
    }
    TopItems top = new TopItems(vectors, dim);
    for (int k : new int[] {1, 7, 500, 900}) {
      float[] query = {9, random.nextFloat(), random.nextFloat(), -1, 2};
      int[] sorted = IntStream.range(0, top.items()).boxed()
          .sorted(Comparator.comparing((Integer item) -> -top.product(item, query, 1))).limit(k).mapToInt(i -> i).toArray();
      assertThat(top.best(query, 1, k)).isEqualTo(sorted);
    }
    assertThatThrownBy(() -> new TopItems(new float[7], 2)).isInstanceOf(InvalidInput.class);
  }

  /** An item in every third batch has probability 1/3; one that was seen once, the inverse of its first distance. */
  @Test
  void frequenciesFollowTheDistances() {
    ItemFrequencies frequencies = new ItemFrequencies(0.1);
    for (int batch = 1; batch <= 300; batch++) {
      frequencies.add(batch % 3 == 0 ? new long[] {5, 5, 7} : batch == 40 ? new long[] {7, 9} : new long[] {7});
    }
    assertThat(frequencies.probability(7)).isEqualTo(1);
    assertThat(frequencies.probability(5)).isCloseTo(1 / 3.0, within(1e-12));
    assertThat(frequencies.probability(9)).isEqualTo(1 / 40.0);
    assertThat(frequencies.probability(1)).isEqualTo(1);
  }

  /** Distances are 2 (the first), then 3 and 1, the newest with weight 1/4. */
  @Test
  void newDistancesCountByTheRate() {
    ItemFrequencies frequencies = new ItemFrequencies(0.25);
    for (long item : new long[] {0, 1, 0, 0, 1, 1}) {
      frequencies.add(new long[] {item});
    }
    assertThat(1 / frequencies.probability(1)).isCloseTo((2 * 0.75 + 3 * 0.25) * 0.75 + 0.25, within(1e-12));
  }
}
