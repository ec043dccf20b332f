package io.regatta.training.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.progress.Progress;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ConsoleProgressTest {

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private long seconds;

  @Test
  void plainLinesShowRateMetricsAndTimeLeftAtMostOncePerInterval() {
    try (Progress progress = progress(false)) {
      progress.begin("train", 1000);
      seconds = 1;
      progress.advance(100);
      progress.metric("loss", 0.5);
      progress.metric("auc", 0.75);
      seconds = 2;
      progress.advance(100);
      progress.advance(0);
      progress.line("hello");
      seconds = 10;
      progress.advance(800);
      progress.end();
    }
    assertThat(text().lines()).containsExactly(
        "job train: 200/1000 examples, 100/s, loss 0.5000, auc 0.7500, 8 s left",
        "hello",
        "job train: 1000/1000 examples, 100/s, loss 0.5000, auc 0.7500",
        "job train: 1000/1000 examples, 100/s, loss 0.5000, auc 0.7500, done in 10.0 s");
  }

  @Test
  void unknownTotalAndANewPhaseEndThePreviousOne() {
    try (Progress progress = progress(false)) {
      progress.begin("train", -1);
      seconds = 4;
      progress.advance(8);
      progress.begin("test", 5);
    }
    assertThat(text().lines()).containsExactly("job train: 8 examples, 2/s", "job train: 8 examples, 2/s, done in 4.0 s",
        "job test: 0/5 examples, 0/s, stopped after 0.0 s");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatAnEarlierLifeOfTheRunHasDoneCountsAsDoneButTookNoTime(boolean terminal) {
    try (Progress progress = progress(terminal)) {
      progress.begin("train", 1000);
      progress.behind(600);
      seconds = 2;
      progress.advance(200);
    }
    assertThat(text()).contains(terminal ? "100/s 2 s left" : "job train: 800/1000 examples, 100/s, 2 s left");
  }

  /** A run that was resumed after a quarter of its data. */
  @Test
  void timeLeftIsThatOfTheShareWhereTheTotalIsNotKnown() {
    double[] share = {0.25};
    try (Progress progress = progress(false)) {
      progress.begin("train", -1);
      progress.share(() -> share[0]);
      progress.advance(100);
      seconds = 10;
      share[0] = 0.5;
      progress.advance(100);
      seconds = 12;
      share[0] = 1;
      progress.advance(100);
      progress.begin("train", 1000);
      progress.share(() -> share[0]);
      share[0] = 0;
      progress.advance(0);
      seconds = 16;
      share[0] = 0.5;
      progress.advance(100);
    }
    assertThat(text().lines()).contains("job train: 200 examples, 20/s, 20 s left", "job train: 300 examples, 25/s",
        "job train: 100/1000 examples, 25/s, 4 s left");
  }

  @Test
  void onATerminalABarIsDrawn() {
    try (Progress progress = progress(true)) {
      progress.begin("train", 10);
      progress.metric("auc", 0.5);
      progress.advance(10);
      progress.line("a line");
    }
    assertThat(text()).contains("train").contains("100%").contains("auc 0.5000").contains("a line");
  }

  @Test
  void oneOfSeveralTrainersSaysSoInEachLine() {
    try (Progress progress = progress(false, "trainer 0 of 2")) {
      progress.begin("train", 100);
      seconds = 4;
      progress.advance(100);
      progress.end();
    }
    assertThat(text().lines()).containsExactly("job train, trainer 0 of 2: 100/100 examples, 25/s",
        "job train, trainer 0 of 2: 100/100 examples, 25/s, done in 4.0 s");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aPhaseWhoseLastBatchesAreSmallerEndsAtAHundredPercent(boolean terminal) {
    try (Progress progress = progress(terminal)) {
      progress.begin("train", 1600);
      progress.advance(1558);
      progress.end();
      progress.begin("train", 1600);
      progress.advance(1558);
    }
    assertThat(text()).contains("job train: 1558/1558 examples").as("broken off").contains("job train: 1558/1600 examples");
    if (terminal) {
      assertThat(text()).contains("100%");
    }
  }

  @Test
  void theBarOfOneOfSeveralTrainersFitsATerminalWithAllItsFigures() throws Exception {
    try (Progress progress = progress(true, "trainer 0 of 2")) {
      progress.begin("train", 100_000);
      progress.metric("loss", 0.3312);
      progress.metric("auc", 0.9071);
      seconds = 4;
      progress.advance(45_000);
      awaitText("s left");
    }
    List<String> drawn = text().lines().flatMap(line -> Stream.of(line.split("\r"))).toList();
    assertThat(drawn.get(0)).isEqualTo("job: the progress of trainer 0 of 2; the result counts all");
    assertThat(drawn).anyMatch(line -> line.contains("45/100k") && line.contains("11250/s loss 0.3312 auc 0.9071 5 s left"));
    assertThat(drawn.stream().filter(line -> line.contains("45/100k") && line.contains("["))).isNotEmpty()
        .allMatch(line -> line.length() <= 80);
  }

  /** The bar is drawn by a thread of its own. */
  private void awaitText(String wanted) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(20);
    while (!text().contains(wanted) && System.nanoTime() < deadline) {
      Thread.onSpinWait();
    }
  }

  private ConsoleProgress progress(boolean terminal) {
    return progress(terminal, "");
  }

  private ConsoleProgress progress(boolean terminal, String part) {
    return new ConsoleProgress("job", () -> part, new PrintStream(bytes, true, StandardCharsets.UTF_8), terminal,
        Duration.ofSeconds(2), () -> TimeUnit.SECONDS.toNanos(seconds));
  }

  private String text() {
    return bytes.toString(StandardCharsets.UTF_8);
  }
}
