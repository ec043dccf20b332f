package io.regatta.data.column;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.feature.InputRow;
import io.regatta.data.column.ColumnFacts.Type;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Random;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;

/** Facts of columns, and what one column alone says about the label. */
class ColumnSummaryTest {

  private static final int ROWS = 20_000;

  private final Random random = new Random(4);
  private final float[] labels = new float[ROWS];

  ColumnSummaryTest() {
    for (int i = 0; i < ROWS; i++) {
      labels[i] = random.nextInt(4) == 0 ? 1 : 0;
    }
  }

  /** Returns the facts of a column in two parts, which are merged. */
  private ColumnFacts facts(IntFunction<String> value) {
    ColumnSummary[] parts = {new ColumnSummary(1), new ColumnSummary(2)};
    InputRow row = new InputRow(1);
    for (int i = 0; i < ROWS; i++) {
      byte[] text = value.apply(i).getBytes(StandardCharsets.UTF_8);
      row.text(0, text, 0, text.length);
      parts[i < ROWS / 3 ? 0 : 1].add(row, 0, labels[i]);
    }
    parts[0].merge(parts[1]);
    return parts[0].facts();
  }

  @Test
  void types_follow_from_all_values() {
    assertThat(facts(i -> "").type()).isEqualTo(Type.EMPTY);
    assertThat(facts(i -> i % 2 == 0 ? "" : "-" + i).type()).isEqualTo(Type.WHOLE);
    assertThat(facts(i -> i == 7 ? "1.5" : "" + i).type()).isEqualTo(Type.NUMBER);
    assertThat(facts(i -> "2026-01-1" + i % 10).type()).isEqualTo(Type.TIME);
    assertThat(facts(i -> i == 7 ? "x" : "" + i).type()).isEqualTo(Type.TEXT);
    InputRow row = new InputRow(1);
    row.texts(0, List.of("a".getBytes(StandardCharsets.UTF_8)));
    ColumnSummary lists = new ColumnSummary(1);
    lists.add(row, 0, Float.NaN);
    assertThat(lists.facts().type()).isEqualTo(Type.LIST);
    assertThat(lists.facts().labelAuc()).isNaN();
  }

  @Test
  void columns_that_mislead_are_named() {
    assertThat(facts(i -> "").problems(true)).containsExactly("has no value in any of 20000 rows");
    assertThat(facts(i -> "x").problems(true)).containsExactly("has the same value in all 20000 rows");
    assertThat(facts(i -> "user" + i).problems(true)).singleElement().asString().startsWith("has a value of its own in nearly every row");
    assertThat(facts(i -> "user" + i).problems(false)).isEmpty();
    assertThat(facts(i -> labels[i] == 1 ? "won" : "lost").problems(true)).containsExactly(
        "gives the label away: alone it reaches AUC 1.000; is it known when a prediction is wanted?");
    assertThat(facts(i -> Double.toString(labels[i] * 2 + random.nextGaussian() * 0.2)).givesLabelAway()).isTrue();
    assertThat(facts(i -> Double.toString(random.nextGaussian() * 0.2 - labels[i] * 2)).givesLabelAway()).isTrue();
    assertThat(facts(i -> labels[i] == 1 ? "" : "" + random.nextInt()).givesLabelAway()).as("what is missing tells it").isTrue();
    assertThat(facts(i -> labels[i] == 1 ? "" : "known").givesLabelAway()).isTrue();
  }

  @Test
  void an_auc_is_that_of_the_column_and_says_nothing_of_values_of_one_row() {
    assertThat(facts(i -> "user" + i).labelAuc()).isCloseTo(0.5, within(0.02));
    assertThat(facts(i -> "" + random.nextInt(1000)).labelAuc()).isCloseTo(0.5, within(0.03));
    // numbers that are normal with means 0 and 1 have AUC Φ(1/√2)
    assertThat(facts(i -> Double.toString(labels[i] + random.nextGaussian())).labelAuc()).isCloseTo(0.7602, within(0.015));
    // text of three values: P(a|1) = 1, P(a|0) = 1/3, the AUC of the only order is 1/2 · 1/3 + 2/3
    assertThat(facts(i -> labels[i] == 1 ? "a" : List.of("a", "b", "c").get(random.nextInt(3))).labelAuc()).isCloseTo(5 / 6.0, within(0.01));
  }
}
