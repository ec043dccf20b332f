package io.regatta.load.dense;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.load.process.Scale;
import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;

class SweepDriverTest {

  /** With real processes; a setting that the streams refuse, or that loses bytes, would fail it. */
  @Test
  void every_setting_has_figures_and_the_defaults_are_marked() throws Exception {
    SweepDriver.Result result = SweepDriver.run(new Scale(1, 0.01, 0.01), 1_500_000);
    assertThat(result.json().getJsonArray("measured")).hasSize(2 * 12).allSatisfy(one ->
        assertThat(((JsonObject) one).getJsonArray("samples")).hasSize(1).allSatisfy(sample ->
            assertThat(((JsonObject) sample).getDouble("seconds")).isPositive()));
    assertThat(result.markdown().split("\\(default\\)", -1)).hasSize(1 + 3);
    assertThat(result.markdown()).contains("| stream.chunk_bytes | 4 MiB |", "| stream.initial_window_bytes | 1 MiB |",
        "| stream.max_frame_bytes | 256 KiB |");
  }
}
