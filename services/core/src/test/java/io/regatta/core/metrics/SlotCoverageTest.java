package io.regatta.core.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;
import org.junit.jupiter.api.Test;

class SlotCoverageTest {

  private static final List<Integer> WIDTHS = List.of(1, 3);

  private static SlotCoverage of(int... positions) {
    SlotCoverage coverage = new SlotCoverage(WIDTHS);
    coverage.add(positions);
    return coverage;
  }

  @Test
  void aSlotIsCoveredIfAnyOfItsPlacesHoldsAnId() {
    SlotCoverage coverage = of(0, -1, 5, -1, -1, -1, -1, -1, 2, 0, -1, -1, 3, -1, -1, -1);
    assertThat(coverage.of(0)).isEqualTo(0.75);
    assertThat(coverage.of(1)).isEqualTo(0.5);
    assertThat(new SlotCoverage(WIDTHS).of(0)).isNaN();
  }

  @Test
  void summedOverRanksItIsThatOfOneProcess() {
    SlotCoverage one = of(0, -1, 5, -1, -1, -1, -1, -1);
    double[] sums = of(0, -1, 5, -1).sums();
    double[] other = of(-1, -1, -1, -1).sums();
    for (int i = 0; i < sums.length; i++) {
      sums[i] += other[i];
    }
    SlotCoverage all = new SlotCoverage(WIDTHS);
    all.take(sums);
    assertThat(all.sums()).isEqualTo(one.sums());
  }

  @Test
  void whatDoesNotFitIsRefused() {
    assertThatThrownBy(() -> of(1, 2, 3)).isInstanceOf(InvalidInput.class).hasMessageContaining("3 places");
    assertThatThrownBy(() -> new SlotCoverage(WIDTHS).take(new double[2])).isInstanceOf(InvalidInput.class);
  }
}
