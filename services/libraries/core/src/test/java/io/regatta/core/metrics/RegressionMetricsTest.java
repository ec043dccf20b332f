package io.regatta.core.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.From;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
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
    assertThat(RegressionMetrics.ofSums(merged.sums()).mse()).isEqualTo(merged.mse());
    merged.merge(merged);
    assertThat(merged.mse()).isEqualTo(metrics(2, 4, -1).mse());
  }

  /** Errors have magnitudes whose double sum would depend on the order; compared with decimals that round once. */
  @Property(tries = 200)
  void anyOrderAndGroupingHaveTheBitsOfOneProcess(@ForAll @Size(min = 1, max = 60) List<@From("errors") Float> errors,
      @ForAll @IntRange(min = 1, max = 7) int ranks, @ForAll long seed) {
    RegressionMetrics whole = new RegressionMetrics();
    BigDecimal squares = BigDecimal.ZERO;
    BigDecimal absolutes = BigDecimal.ZERO;
    for (float error : errors) {
      whole.add(error, 0);
      squares = squares.add(new BigDecimal((double) error * error));
      absolutes = absolutes.add(new BigDecimal(Math.abs(error)));
    }
    assertThat(whole.mse()).isEqualTo(squares.doubleValue() / errors.size());
    assertThat(whole.mae()).isEqualTo(absolutes.doubleValue() / errors.size());

    List<Float> order = new ArrayList<>(errors);
    Collections.shuffle(order, new Random(seed));
    double[] summed = new double[whole.sums().length];
    for (int r = 0; r < ranks; r++) {
      RegressionMetrics part = new RegressionMetrics();
      for (int i = r; i < order.size(); i += ranks) {
        part.add(order.get(i), 0);
      }
      double[] sums = part.sums();
      Arrays.setAll(summed, i -> summed[i] + sums[i]);
    }
    RegressionMetrics all = RegressionMetrics.ofSums(summed);
    assertThat(all.mse()).isEqualTo(whole.mse());
    assertThat(all.mae()).isEqualTo(whole.mae());
    assertThat(all.rmse()).isEqualTo(whole.rmse());
    assertThat(all.count()).isEqualTo(errors.size());
  }

  @Provide
  Arbitrary<Float> errors() {
    return Arbitraries.floats().filter(Float::isFinite);
  }

  @Test
  void wrongInputIsRefused() {
    double[] half = metrics(2).sums();
    half[half.length - 1] = 0.5;
    double[] mean = metrics(2).sums();
    mean[3] = 0.25;
    assertThatThrownBy(() -> RegressionMetrics.ofSums(mean)).isInstanceOf(InvalidInput.class).hasMessageContaining("no mean");
    assertThatThrownBy(() -> metrics(Float.NaN)).isInstanceOf(InvalidInput.class).hasMessageContaining("not finite");
    assertThatThrownBy(() -> RegressionMetrics.ofSums(half)).isInstanceOf(InvalidInput.class);
    assertThatThrownBy(() -> RegressionMetrics.ofSums(new double[] {1})).isInstanceOf(InvalidInput.class);
  }
}
