package io.regatta.training.strategy.downpour;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.training.exchange.push.RowAndBias;
import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The values on which downpour trains with one trainer, whose requests the shard takes in order. */
class DownpourTest {

  private static double[] downpour(int pushSteps, int pullSteps) {
    return RowAndBias.train(new JsonObject().put("mode", "downpour").put("push_steps", pushSteps)
        .put("pull_steps", pullSteps));
  }

  @Test
  void withAPushAndAPullAfterEachStep_itIsAsync() {
    assertThat(RowAndBias.train(new JsonObject().put("mode", "downpour")))
        .containsExactly(RowAndBias.train(new JsonObject().put("mode", "async"))).containsExactly(downpour(1, 1));
  }

  @Test
  void withAPushAfterEachStep_itIsLazyAsync() {
    assertThat(downpour(1, 3))
        .containsExactly(RowAndBias.train(new JsonObject().put("mode", "lazy_async").put("k_steps", 3)));
  }

  /**
   * A step sees the values of the last step whose number is a multiple of the steps between pulls: they contain the
   * steps up to the last multiple of those between pushes. As in async, its rows were asked for before the push that
   * precedes the pull. At the end all steps have been pushed.
   */
  @ParameterizedTest
  @CsvSource({"1, 2", "2, 1", "2, 2", "3, 2", "2, 3", "5, 1", "5, 4", "100, 1", "100, 100"})
  void aStepSeesThePushesBeforeTheLastPull(int pushSteps, int pullSteps) {
    double[] trained = downpour(pushSteps, pullSteps);
    double[] expected = byHand(pushSteps, pullSteps);
    assertThat(trained[0]).as("row").isCloseTo(expected[0], within(1e-5));
    assertThat(trained[1]).as("bias").isCloseTo(expected[1], within(1e-5));
    if (pushSteps < 100) {
      assertThat(Math.abs(expected[1] - byHand(pushSteps + 1, pullSteps)[1])).as("the test tells them apart")
          .isGreaterThan(1e-3);
    }
  }

  private static double[] byHand(int pushSteps, int pullSteps) {
    return RowAndBias.byHand(step -> pushed(step - step % pullSteps - 1, pushSteps),
        step -> pushed(step - step % pullSteps, pushSteps));
  }

  private static int pushed(int steps, int pushSteps) {
    return steps < 0 ? 0 : steps - steps % pushSteps;
  }

  @Test
  void refusesToPushOrPullNever() {
    assertThatThrownBy(() -> new Downpour(0, 1)).isInstanceOf(InvalidInput.class)
        .hasMessage("push_steps must be at least 1, not 0");
    assertThatThrownBy(() -> new Downpour(1, 0)).isInstanceOf(InvalidInput.class)
        .hasMessage("pull_steps must be at least 1, not 0");
  }
}
