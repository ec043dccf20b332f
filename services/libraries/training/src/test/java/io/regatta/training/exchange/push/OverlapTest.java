package io.regatta.training.exchange.push;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The values on which async trains with one trainer, whose requests the shard takes in order. With {@code overlap} they
 * hold all pushes but the last one. Without it dense values hold all of them, and rows all but the last. The oracle is
 * that recursion.
 */
class OverlapTest {

  @ParameterizedTest
  @CsvSource({"async, true, 1, 1", "async, false, 1, 0", "ssp, true, 1, 0", "sync, true, 0, 0"})
  void aStepComputesOnWhatItsModePromises(String mode, boolean overlap, int rowLag, int biasLag) {
    double[] trained = RowAndBias.train(new JsonObject().put("mode", mode).put("overlap", overlap));
    double[] expected = byHand(rowLag, biasLag);
    assertThat(trained[0]).as("row").isCloseTo(expected[0], within(1e-5));
    assertThat(trained[1]).as("bias").isCloseTo(expected[1], within(1e-5));
    double[] otherwise = byHand(rowLag, 1 - biasLag);
    assertThat(Math.abs(expected[1] - otherwise[1])).as("the test tells them apart").isGreaterThan(1e-3);
  }

  /** All lines of the batch were skipped: the replica makes the step of the others without a gradient. */
  @Test
  void makesAStepWithoutAGradient_whenABatchHasNoExample() {
    double[] trained = RowAndBias.train(new JsonObject().put("mode", "async").put("overlap", true), 5);
    double[] expected = RowAndBias.byHand(step -> step - 1, step -> step - 1, 5);
    assertThat(trained[0]).as("row").isCloseTo(expected[0], within(1e-5));
    assertThat(trained[1]).as("bias").isCloseTo(expected[1], within(1e-5));
  }

  private static double[] byHand(int rowLag, int biasLag) {
    return RowAndBias.byHand(step -> step - rowLag, step -> step - biasLag);
  }
}
