package io.regatta.load.sparse;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.optim.Adagrad;
import io.regatta.core.optim.OptimizerRegistry;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.optim.UpdateStep;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The peer does what core does: the same rule gives the same bits. */
class AdagradRowsTest {
  private static final int DIM = 3;
  private static final int ROWS = 100_000; // more than a slab

  @Test
  void rows_are_those_of_cores_rule() {
    AdagradRows rows = new AdagradRows(DIM);
    Adagrad rule = (Adagrad) OptimizerRegistry.named("adagrad").defaults();
    UpdateStep step = OptimizerSpec.of(rule, AdagradRows.RATE).step(AdagradRows.RATE, 1);
    float[] expected = new float[ROWS * DIM];
    float[] sums = new float[ROWS * DIM];
    for (int id = 0; id < ROWS; id++) {
      rows.pull(-id, expected, id * DIM);
    }
    assertThat(expected).contains(expected[0]).doesNotContain(0);
    SplittableRandom random = new SplittableRandom(1);
    for (int i = 0; i < 10_000; i++) {
      int id = random.nextInt(i % 2 == 0 ? 10 : ROWS);
      float[] gradient = {0, (float) random.nextDouble(), -1, 0.5f};
      rows.push(-id, gradient, 1);
      rule.apply(expected, id * DIM, sums, id * DIM, DIM, gradient, 1, DIM, step);
    }
    float[] found = new float[ROWS * DIM];
    for (int id = 0; id < ROWS; id++) {
      rows.pull(-id, found, id * DIM);
    }
    assertThat(found).isEqualTo(expected);
  }
}
