package io.regatta.training.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Mode;
import io.regatta.training.strategy.TrainerStrategy;
import io.regatta.training.strategy.downpour.Downpour;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class StrategiesTest {

  private static Strategies of(JsonObject keys) {
    return JobConfig.of(keys.copy().put("job", "census")).strategies();
  }

  @ParameterizedTest
  @EnumSource
  void everyModeHasOneStrategy(Mode mode) {
    TrainerStrategy strategy = of(new JsonObject()).of(mode);
    assertThat(strategy.mode()).isEqualTo(mode);
    assertThat(strategy.stepsPerPush()).isPositive();
    assertThat(strategy.stepsPerPull()).isPositive();
    assertThat(Strategies.class.getRecordComponents()).hasSameSizeAs(Mode.values());
  }

  @Test
  void aModesKeysAreKeysOfTheJob() {
    Strategies given = of(new JsonObject().put("k_steps", 7).put("staleness_bound", 3).put("overlap", true));
    assertThat(Stream.of(Mode.GEO, Mode.LAZY_ASYNC, Mode.ASYNC).map(mode -> given.of(mode).stepsPerPull()))
        .containsExactly(7, 7, 1);
    assertThat(given.of(Mode.GEO).stepsPerPush()).isEqualTo(7);
    assertThat(given.of(Mode.LAZY_ASYNC).stepsPerPush()).isEqualTo(1);
    assertThat(given.of(Mode.SSP).stalenessBound()).isEqualTo(3);
    assertThat(given.of(Mode.ASYNC).overlap()).isTrue();
    assertThat(given.of(Mode.LAZY_ASYNC).overlap()).isFalse();
    Strategies others = of(new JsonObject().put("push_steps", 5).put("pull_steps", 6));
    assertThat(others.of(Mode.DOWNPOUR).stepsPerPush()).isEqualTo(5);
    assertThat(others.of(Mode.DOWNPOUR).stepsPerPull()).isEqualTo(6);
    assertThat(given.of(Mode.DOWNPOUR)).isEqualTo(new Downpour(1, 1));
  }

  @Test
  void modesThatShareAKeyHaveDefaultsOfTheirOwn() {
    assertThat(of(new JsonObject()).of(Mode.GEO).stepsPerPull()).isEqualTo(100);
    assertThat(of(new JsonObject()).of(Mode.LAZY_ASYNC).stepsPerPull()).isEqualTo(4);
  }

  @Test
  void aKeyThatIsRefusedIsNamedAsInTheFile() {
    List.of("geo", "lazy_async", "sync").forEach(mode ->
        assertThatThrownBy(() -> of(new JsonObject().put("mode", mode).put("k_steps", 0)))
            .isInstanceOf(InvalidInput.class).hasMessage("k_steps must be at least 1, not 0"));
    assertThatThrownBy(() -> of(new JsonObject().put("push_steps", 0)))
        .isInstanceOf(InvalidInput.class).hasMessage("push_steps must be at least 1, not 0");
    assertThatThrownBy(() -> of(new JsonObject().put("staleness_bound", -1)))
        .isInstanceOf(InvalidInput.class).hasMessage("staleness_bound must be at least 0, not -1");
  }
}
