package io.regatta.load.turns;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.optim.OptimizerSpec;
import org.junit.jupiter.api.Test;

class TurnsTest {

  @Test
  void every_operation_has_its_line() {
    String report = Turns.report(20_000, 3, OptimizerSpec.Kind.ADAM);
    assertThat(report).contains("20000 rows of 10 floats, ADAM", "| pull of new rows | 16 | 1250 |", "| pull | ",
        "| push | ", "| push of 20000 rows |", "| pull of 20000 rows |",
        "| slice of an export |", "| slice of a digest |",
        "| push into a round | ", "| turn of a round of 4 | ");
    assertThat(report).containsPattern("All turns took at most 5.00 ms|Longer than 5.00 ms of CPU time: ");
  }
}
