package io.regatta.load.sparse;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.load.process.Scale;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;

class SparseDriverTest {

  /** With real processes. */
  @Test
  void a_short_run_has_figures_of_every_kind_and_ratios_to_the_peers() throws Exception {
    SparseResult result = SparseDriver.run(new Scale(2, 0.01, 0.01), List.of(30_000));
    assertThat(result.json().getJsonArray("measured")).hasSize(5).allSatisfy(one ->
        assertThat(((JsonObject) one).getJsonArray("samples")).hasSize(2).allSatisfy(sample ->
            assertThat(((JsonObject) sample).getDouble("units")).isPositive()));
    assertThat(result.markdown()).contains("| regatta | 30000 |", "| grpc-java | 30000 |", "| gather | 30000 | – | – | pull |",
        "| regatta | gather | M rows/s | 30000 |");
  }
}
