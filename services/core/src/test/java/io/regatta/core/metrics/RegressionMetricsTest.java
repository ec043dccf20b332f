package io.regatta.core.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
import org.junit.jupiter.api.Test;

class RegressionMetricsTest {

  private static RegressionMetrics metrics(float... predictions) {
    RegressionMetrics m = new RegressionMetrics();
    for (float p : predictions) {
      m.add(p, 1);
    }
    return m;
  }

  @Test
  void meanOfSquares() {
    RegressionMetrics m = metrics(2, 4, -1);
    assertThat(m.count()).isEqualTo(3);
    assertThat(m.sums()).containsExactly(1 + 9 + 4, 1 + 3 + 2, 3);
    assertThat(m.mse()).isCloseTo(14 / 3.0, within(1e-15));
    assertThat(m.rmse()).isCloseTo(Math.sqrt(14 / 3.0), within(1e-15));
    assertThat(m.mae()).isEqualTo(6 / 3.0);
    m.reset();
    assertThat(m.mse()).isNaN();
    assertThat(m.mae()).isNaN();
  }

  @Test
  void mergedAndAllReducedAreTheWhole() {
    RegressionMetrics merged = metrics(2, 4);
    merged.merge(metrics(-1));
    assertThat(merged.sums()).isEqualTo(metrics(2, 4, -1).sums());
    assertThat(RegressionMetrics.ofSums(new double[] {14, 6, 3}).mse()).isEqualTo(merged.mse());
  }

  @Test
  void wrongInputIsRefused() {
    assertThatThrownBy(() -> metrics(Float.NaN)).isInstanceOf(InvalidInput.class).hasMessageContaining("not finite");
    assertThatThrownBy(() -> RegressionMetrics.ofSums(new double[] {1, 1, 0.5})).isInstanceOf(InvalidInput.class);
    assertThatThrownBy(() -> RegressionMetrics.ofSums(new double[] {1})).isInstanceOf(InvalidInput.class);
  }
}
