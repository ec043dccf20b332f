package io.regatta.training.feature;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;
import org.junit.jupiter.api.Test;

class NameRangeTest {

  @Test
  void aRangeStandsForItsNames() {
    assertThat(NameRange.names("features", "I[1-3]")).containsExactly("I1", "I2", "I3");
    assertThat(NameRange.names("features", "I[9-11]")).containsExactly("I9", "I10", "I11");
    assertThat(NameRange.names("features", "day[08-11]_x")).containsExactly("day08_x", "day09_x", "day10_x", "day11_x");
    assertThat(NameRange.names("features", "[0-1]")).containsExactly("0", "1");
    assertThat(NameRange.names("data.columns", List.of("label", "C[1-2]"))).containsExactly("label", "C1", "C2");
  }

  @Test
  void otherTextIsAName() {
    for (String name : List.of("age", "a[b]", "a[1]", "a[1-]", "a[1-2][3-4]", "")) {
      assertThat(NameRange.names("features", name)).containsExactly(name);
    }
  }

  @Test
  void refusesRangesThatFallOrAreHuge() {
    assertThat(NameRange.names("features", "x[1-10000]")).hasSize(10_000);
    for (String bad : List.of("x[2-1]", "x[0-10000]", "x[1-999999999]")) {
      assertThatThrownBy(() -> NameRange.names("features", bad)).isInstanceOf(InvalidInput.class).hasMessageContaining("features: " + bad);
    }
  }
}
