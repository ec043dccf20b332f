package io.regatta.core.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.model.TableLife;
import io.regatta.core.optim.LearningRate;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.optim.Sgd;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Shapes, broken values and clipping of whole gradients: a model of two variables, a plain and a counted table. */
class GradientCheckTest {

  private final GradientCheck unclipped = check(0);
  /** Norms of at most 5. */
  private final GradientCheck clipped = check(5);

  private static GradientCheck check(float clipNorm) {
    OptimizerSpec sgd = new OptimizerSpec(new Sgd(), LearningRate.constant(1), 0, 0, clipNorm);
    TableLife counts = TableLife.counted();
    return new GradientCheck(new ModelSpec(1,
        List.of(new DenseVariable("a", List.of(2)), new DenseVariable("b", List.of(1, 2))), sgd,
        List.of(new SparseTableSpec("plain", 2, InitializerSpec.zeros(), sgd),
            new SparseTableSpec("counted", 2, InitializerSpec.zeros(), sgd, counts))));
  }

  private static DenseMemory dense(float... values) {
    return DenseMemory.of(values);
  }

  private static SparseRows plain(float... values) {
    return new SparseRows("plain", new long[] {70, -71}, values);
  }

  private static SparseRows counted(float... values) {
    return new SparseRows("counted", new long[] {80, 81}, values, TableLife.COUNTS);
  }

  @Test
  void namesTheVariableAndElementOfTheFirstBrokenValue() {
    assertThat(unclipped.nonFinite(dense(1, 2, 3, 4), List.of())).isNull();
    assertThat(unclipped.nonFinite(dense(Float.NaN, 2, 3, 4), List.of())).isEqualTo("gradient of 'a' is NaN at element 0");
    assertThat(unclipped.nonFinite(dense(1, Float.NaN, 3, 4), List.of())).isEqualTo("gradient of 'a' is NaN at element 1");
    assertThat(unclipped.nonFinite(dense(1, 2, Float.NEGATIVE_INFINITY, 4), List.of()))
        .isEqualTo("gradient of 'b' is -Infinity at element 0");
    assertThat(unclipped.nonFinite(dense(1, 2, 3, Float.NaN), List.of())).isEqualTo("gradient of 'b' is NaN at element 1");
  }

  @Test
  void namesTheTableAndIdOfTheFirstBrokenRow() {
    assertThat(unclipped.nonFinite(null, List.of(plain(1, 2, 3, 4), counted(1, 2, 3, 4, 5, 6, 7, 8)))).isNull();
    assertThat(unclipped.nonFinite(null, List.of(plain(Float.NaN, 2, 3, 4)))).contains("'plain'", "NaN", "id 70");
    assertThat(unclipped.nonFinite(null, List.of(plain(1, 2, Float.NaN, 4)))).contains("id -71");
    assertThat(unclipped.nonFinite(dense(1, 2, 3, 4), List.of(plain(1, 2, 3, 4), counted(1, 2, 3, 4, 5, 6, 7, Float.NaN))))
        .contains("'counted'", "id 81");
  }

  @Test
  void refusesOtherShapesThanTheModels() {
    unclipped.shapes(dense(1, 2, 3, 4), List.of(plain(1, 2, 3, 4), counted(1, 2, 3, 4, 5, 6, 7, 8)), "push");
    assertThat(unclipped.denseNumel()).isEqualTo(4);
    assertThatThrownBy(() -> unclipped.shapes(dense(1, 2, 3), List.of(), "push")).isInstanceOf(InvalidInput.class)
        .hasMessageContainingAll("push has 3", "the model has 4");
    assertThatThrownBy(() -> unclipped.shapes(null, List.of(plain(1, 2, 3)), "push")).isInstanceOf(InvalidInput.class)
        .hasMessageContainingAll("3 values for 2 rows", "have 2 values");
    assertThatThrownBy(() -> unclipped.shapes(null, List.of(counted(1, 2, 3, 4)), "push"))
        .isInstanceOf(InvalidInput.class).hasMessageContainingAll("4 values for 2 rows", "have 4 values");
    assertThatThrownBy(() -> unclipped.table("other")).isInstanceOf(InvalidInput.class).hasMessageContaining("'other'");
  }

  @Test
  void scalesEachVariableByItself_whenItsNormIsAboveTheLimit() {
    DenseMemory given = dense(6, 8, 3, 4);
    assertThat(clipped.clipDense(given).toArray()).containsExactly(3, 4, 3, 4);
    assertThat(clipped.clipDense(dense(3, 4, 60, 80)).toArray()).containsExactly(3, 4, 3, 4);
    assertThat(given.toArray()).as("the caller's memory").containsExactly(6, 8, 3, 4);
    assertThat(clipped.clipDense(null)).isNull();
    assertThat(unclipped.clipDense(given)).as("no copy without a limit").isSameAs(given);
  }

  @Test
  void scalesATablesBatchAsAWhole_whenItsNormIsAboveTheLimit() {
    SparseRows given = plain(6, 0, 0, 8);
    SparseRows out = clipped.clipSparse(List.of(given)).get(0);
    assertThat(out.values()).containsExactly(3, 0, 0, 4);
    assertThat(out.ids()).containsExactly(70, -71);
    assertThat(out.table()).isEqualTo("plain");
    assertThat(given.values()).as("the caller's array").containsExactly(6, 0, 0, 8);
    assertThat(unclipped.clipSparse(List.of(given)).get(0)).as("no copy without a limit").isSameAs(given);
  }

  @Test
  void leavesCountsOutOfTheNormAndAsTheyAre() {
    SparseRows out = clipped.clipSparse(List.of(counted(6, 0, 100, 1, 0, 8, 200, 2))).get(0);
    assertThat(out.values()).containsExactly(3, 0, 100, 1, 0, 4, 200, 2);
    assertThat(out.counts()).isEqualTo(TableLife.COUNTS);
  }
}
