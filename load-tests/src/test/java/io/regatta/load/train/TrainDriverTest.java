package io.regatta.load.train;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.load.process.Scale;
import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;

class TrainDriverTest {

  /** With real processes: every kind trains all examples in every round, and learns. */
  @Test
  void a_short_run_has_a_figure_of_every_kind_and_round() throws Exception {
    TrainDriver.Result result = TrainDriver.run(new Scale(2, 0.01, 0), 4000);
    assertThat(result.json().getJsonArray("measured")).hasSize(3).allSatisfy(kind ->
        assertThat(((JsonObject) kind).getJsonArray("samples")).hasSize(2).allSatisfy(sample -> {
          assertThat(((JsonObject) sample).getDouble("units")).isEqualTo(0.004);
          assertThat(((JsonObject) sample).getDouble("seconds")).isPositive();
        }));
    assertThat(result.json().getDouble("local_to_bare")).isBetween(0.01, 100.0);
    assertThat(result.markdown()).contains("| --local |", "forward ");
  }
}
