package io.regatta.core.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.search.SuccessiveHalving.Rung;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Values that a search draws, and the rungs of successive halving. */
class SearchTest {

  private static final int DRAWS = 4000;

  @Test
  void draws_are_uniform_in_the_range_or_in_its_logarithm_and_repeat() {
    ParameterRange linear = new ParameterRange(-1, 3, false, false, List.of());
    ParameterRange log = new ParameterRange(1e-4, 1, true, false, List.of());
    double[] ofLinear = IntStream.range(0, DRAWS).mapToDouble(i -> (double) linear.draw(7, i, "a")).toArray();
    double[] ofLog = IntStream.range(0, DRAWS).mapToDouble(i -> Math.log10((double) log.draw(7, i, "b"))).toArray();
    assertThat(IntStream.range(0, DRAWS).mapToDouble(i -> ofLinear[i]).average().orElseThrow()).isCloseTo(1, within(0.06));
    assertThat(IntStream.range(0, DRAWS).mapToDouble(i -> ofLog[i]).average().orElseThrow()).isCloseTo(-2, within(0.06));
    assertThat(IntStream.range(0, DRAWS).allMatch(i -> ofLinear[i] >= -1 && ofLinear[i] < 3)).isTrue();
    assertThat(linear.draw(7, 5, "a")).isEqualTo(ofLinear[5]).isNotEqualTo(linear.draw(7, 5, "b")).isNotEqualTo(linear.draw(8, 5, "a"));
  }

  @Test
  void whole_numbers_and_given_values_come_equally_often() {
    ParameterRange whole = new ParameterRange(2, 4, false, true, List.of());
    ParameterRange given = new ParameterRange(0, 0, false, false, List.of("8", "16,8"));
    for (long value = 2; value <= 4; value++) {
      long wanted = value;
      assertThat(IntStream.range(0, DRAWS).filter(i -> whole.draw(1, i, "k").equals(wanted)).count()).isBetween(1200L, 1460L);
    }
    assertThat(IntStream.range(0, DRAWS).filter(i -> given.draw(1, i, "k").equals("16,8")).count()).isBetween(1850L, 2150L);
    assertThatThrownBy(() -> new ParameterRange(1, 1, false, false, List.of())).isInstanceOf(InvalidInput.class);
    assertThatThrownBy(() -> new ParameterRange(0, 1, true, false, List.of())).isInstanceOf(InvalidInput.class).hasMessageContaining("log");
  }

  @Test
  void rungs_divide_trials_and_multiply_epochs() {
    assertThat(new SuccessiveHalving(27, 1, 27, 3).rungs())
        .containsExactly(new Rung(27, 1), new Rung(9, 3), new Rung(3, 9), new Rung(1, 27));
    assertThat(new SuccessiveHalving(10, 2, 5, 3).rungs()).containsExactly(new Rung(10, 2), new Rung(3, 5));
    assertThat(new SuccessiveHalving(1, 1, 9, 3).rungs()).containsExactly(new Rung(1, 9));
    assertThatThrownBy(() -> new SuccessiveHalving(3, 5, 4, 3)).isInstanceOf(InvalidInput.class).hasMessageContaining("least_epochs");
  }
}
