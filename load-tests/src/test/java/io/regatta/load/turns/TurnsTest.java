package io.regatta.load.turns;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.optim.OptimizerSpec;
import org.junit.jupiter.api.Test;

class TurnsTest {

  @Test
  void every_operation_has_its_line() {
    String report = Turns.report(20_000, 3, OptimizerSpec.Kind.ADAM);
    assertThat(report).contains("20000 rows of 10 floats, ADAM", "| pull of new rows | 4 | 5000 |", "| pull | 3 |",
        "| push | 3 |", "| slice of an export |", "| slice of a digest |",
        "| push into a round | 3 |", "| turn of a round of 4 |");
  }
}
