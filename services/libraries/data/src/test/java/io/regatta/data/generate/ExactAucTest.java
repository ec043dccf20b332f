package io.regatta.data.generate;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class ExactAucTest {

  @Test
  void closedForms() {
    assertThat(ExactAuc.of(new double[] {1, 2, 3, 4}, new boolean[] {false, false, true, true})).isEqualTo(1);
    assertThat(ExactAuc.of(new double[] {1, 2, 3, 4}, new boolean[] {true, false, true, false})).isEqualTo(0.25);
    assertThat(ExactAuc.of(new double[] {5, 5, 5}, new boolean[] {true, false, false})).isEqualTo(0.5);
    assertThat(ExactAuc.of(new double[] {1, 2}, new boolean[] {true, true})).isEqualTo(0.5);
  }
}
