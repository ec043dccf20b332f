package io.regatta.load.train;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.load.run.Scale;
import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;

class DoorsDriverTest {

  /** With real processes: every kind trains all examples in every round. */
  @Test
  void a_short_run_has_a_figure_of_every_kind_and_round() throws Exception {
    DoorsDriver.Result result = DoorsDriver.run(new Scale(1, 0.01, 0), 2000);
    assertThat(result.json().getJsonArray("measured")).hasSize(3).allSatisfy(kind ->
        assertThat(((JsonObject) kind).getJsonArray("samples")).hasSize(1).allSatisfy(sample ->
            assertThat(((JsonObject) sample).getDouble("units")).isEqualTo(0.002)));
    assertThat(result.markdown()).contains("| token |", "| token and mutual TLS |", "≥ 0.98");
  }
}
