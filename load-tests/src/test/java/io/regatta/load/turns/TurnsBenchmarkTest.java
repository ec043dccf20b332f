package io.regatta.load.turns;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TurnsBenchmarkTest {

  @Test
  void every_operation_has_its_line() {
    String report = TurnsBenchmark.report(20_000, 3, "adam");
    assertThat(report).contains("20000 rows of 10 floats, adam", "| pull of new rows | 16 | 1250 |", "| pull | ",
        "| push | ", "| push of 20000 rows |", "| pull of 20000 rows |",
        "| slice of an export |", "| slice of a digest |",
        "| push into a round | ", "| turn of a round of 4 | ");
    assertThat(report).containsPattern("All turns took at most 5.00 ms|Longer than 5.00 ms of CPU time: ");
  }

  @Test
  void every_kind_of_large_job_has_its_lines() {
    String report = ScaleTurns.report(50, 8, 4, 1000, 2);
    assertThat(report).contains("| push of a row of each of 50 tables | ", "| push of 1000 rows beside 50 tables | ",
        "| pull of a row of each of 50 tables | ", "| push to a round of 8, and its closing | ",
        "| view in which one of 8 trainers has gone | 8 | ", "| metrics of 50 tables, registered | ",
        "| beginning of a snapshot of 50 tables | ", "| push of one of 8 in ssp mode | ",
        "| geo's push of 1000 rows, one of 4 | ", "| geo's pull of what has changed | ");
    assertThat(report).containsPattern("All turns took at most 5.00 ms|Longer than 5.00 ms of CPU time: ");
  }
}
