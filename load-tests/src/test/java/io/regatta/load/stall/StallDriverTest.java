package io.regatta.load.stall;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/**
 * With real processes: memory stays within the configured limits while one end stands still, and everything continues.
 */
class StallDriverTest {

  @Test
  void buffers_of_both_ends_stay_within_the_windows_and_nothing_is_lost() throws Exception {
    StallDriver.Result result = StallDriver.run(8_000_000, 4 << 20, 1000);
    assertThat(result.peaks()).hasSize(3).allSatisfy(peak -> {
      assertThat(peak.buffers()).as(peak.what() + ": " + peak.process()).isPositive().isLessThanOrEqualTo(peak.bound());
      assertThat(peak.bound()).isLessThan(8 << 20);
    });
    assertThat(result.markdown()).contains("| server frozen, trainer pushes | trainer |");
  }
}
