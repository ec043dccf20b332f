package io.regatta.core.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;
import org.junit.jupiter.api.Test;

class SlotCoverageTest {

  private static final List<Integer> WIDTHS = List.of(1, 3);

  private static SlotCoverage of(int... positions) {
    SlotCoverage coverage = new SlotCoverage(WIDTHS, List.of());
    coverage.add(positions, new long[6]);
    return coverage;
  }

  @Test
  void aSlotIsCoveredIfAnyOfItsPlacesHoldsAnId() {
    SlotCoverage coverage = of(0, -1, 5, -1, -1, -1, -1, -1, 2, 0, -1, -1, 3, -1, -1, -1);
    assertThat(coverage.of(0)).isEqualTo(0.75);
    assertThat(coverage.of(1)).isEqualTo(0.5);
    assertThat(new SlotCoverage(WIDTHS, List.of()).of(0)).isNaN();
  }

  @Test
  void theIdOfAnEmptyValueCoversNothing() {
    SlotCoverage coverage = new SlotCoverage(WIDTHS, List.of(70L, 80L));
    coverage.add(new int[] {0, 1, 2, -1, 2, 2, -1, -1}, new long[] {70, 80, 5});
    assertThat(coverage.of(0)).as("70, then 5").isEqualTo(0.5);
    assertThat(coverage.of(1)).as("80 and 5, then 5").isEqualTo(1);
    coverage.add(new int[] {1, 1, -1, -1}, new long[] {70, 80, 5});
    assertThat(coverage.of(1)).as("80 alone").isEqualTo(2 / 3.0);
    assertThatThrownBy(() -> new SlotCoverage(WIDTHS, List.of(1L))).isInstanceOf(InvalidInput.class);
  }

  @Test
  void summedOverRanksItIsThatOfOneProcess() {
    SlotCoverage one = of(0, -1, 5, -1, -1, -1, -1, -1);
    double[] sums = of(0, -1, 5, -1).sums();
    double[] other = of(-1, -1, -1, -1).sums();
    for (int i = 0; i < sums.length; i++) {
      sums[i] += other[i];
    }
    SlotCoverage all = new SlotCoverage(WIDTHS, List.of());
    all.take(sums);
    assertThat(all.sums()).isEqualTo(one.sums());
  }

  @Test
  void whatDoesNotFitIsRefused() {
    assertThatThrownBy(() -> of(1, 2, 3)).isInstanceOf(InvalidInput.class).hasMessageContaining("3 places");
    assertThatThrownBy(() -> new SlotCoverage(WIDTHS, List.of()).take(new double[2])).isInstanceOf(InvalidInput.class);
  }
}
