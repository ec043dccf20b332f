package io.regatta.load.process;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class SteadyTest {
  private final Steady steady = new Steady(new Scale(5, 15, 1));

  @Test
  void three_blocks_in_a_row_that_are_hardly_faster_end_the_warm_up() {
    for (double seconds : new double[] {3, 2, 1.96, 1, 0.96, 0.93}) {
      assertThat(steady.after(seconds, 1)).isFalse();
    }
    assertThat(steady.after(9.5, 10)).isTrue();
  }

  @Test
  void so_does_the_limit() {
    assertThat(steady.after(10, 1)).isFalse();
    assertThat(steady.after(5, 1)).isTrue();
  }
}
