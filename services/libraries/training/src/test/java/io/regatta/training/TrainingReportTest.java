package io.regatta.training;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class TrainingReportTest {

  /** The two numbers are of one whole, and their sum is the share of the line before. */
  @Test
  void theShareOfReadingIsToldInItsParts() {
    TrainingReport report = new TrainingReport(10, 1000, 50, 0.5, 13, 5, 10, 10, 10);
    assertThat(report.timeLine()).startsWith("time: read 26 %, pull 10 %");
    assertThat(report.readLine(2)).isEqualTo("of read, 4 % waited for readers (2.00 s of 50.0 s), 22 % made arrays of their batches "
        + "after the engine's previous step");
    assertThat(TrainingReport.none().readLine(0)).contains("0 % waited for readers");
  }
}
