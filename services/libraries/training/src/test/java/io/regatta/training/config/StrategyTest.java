package io.regatta.training.config;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;

class StrategyTest {
  private static JobConfig job(String mode) {
    return JobConfig.of(new JsonObject().put("job", "census").put("mode", mode));
  }

  @Test
  void aStrategyInCodeNeedsTheProcessesThatTheJobHas() {
    assertThatCode(() -> Strategy.collective().check(job("collective"))).doesNotThrowAnyException();
    assertThatCode(() -> Strategy.async().check(job("sync"))).doesNotThrowAnyException();
    assertThatThrownBy(() -> Strategy.collective().check(job("sync"))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("job census").hasMessageContaining("mode is sync, with 1 servers")
        .hasMessageContaining("set mode: collective").hasMessageNotContaining("\n");
    assertThatThrownBy(() -> Strategy.sync().check(job("collective"))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("sync, which needs servers").hasMessageContaining("collective, without any");
  }
}
