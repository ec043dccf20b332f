package io.regatta.training.strategy.lazyasync;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.training.exchange.push.RowAndBias;
import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The values on which lazy-async trains with one trainer, whose requests the shard takes in order. */
class LazyAsyncTest {

  private static double[] lazyAsync(int kSteps) {
    return RowAndBias.train(new JsonObject().put("mode", "lazy_async").put("k_steps", kSteps));
  }

  @Test
  void withAPullAfterEachStep_itIsAsync() {
    assertThat(lazyAsync(1)).containsExactly(RowAndBias.train(new JsonObject().put("mode", "async")));
  }

  /**
   * A step sees the values of the last step whose number is a multiple of k. As in async, its rows were asked for
   * before the push that precedes the pull.
   */
  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5, 100})
  void aStepSeesThePushesBeforeTheLastPull(int kSteps) {
    double[] trained = lazyAsync(kSteps);
    double[] expected = RowAndBias.byHand(step -> step - step % kSteps - 1, step -> step - step % kSteps);
    assertThat(trained[0]).as("row").isCloseTo(expected[0], within(1e-5));
    assertThat(trained[1]).as("bias").isCloseTo(expected[1], within(1e-5));
    double[] otherwise = RowAndBias.byHand(step -> step - step % (kSteps + 1) - 1, step -> step - step % (kSteps + 1));
    if (kSteps < 100) {
      assertThat(Math.abs(expected[1] - otherwise[1])).as("the test tells them apart").isGreaterThan(1e-3);
    }
  }

  @Test
  void refusesToPullNever() {
    assertThatThrownBy(() -> new LazyAsync(0)).isInstanceOf(InvalidInput.class)
        .hasMessage("k_steps must be at least 1, not 0");
  }
}
