package io.regatta.load.ingest;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.load.process.Scale;
import io.vertx.core.json.JsonObject;
import org.junit.jupiter.api.Test;

class IngestDriverTest {

  /** With real processes: all kinds read all rows, and (the driver checks it) the same ids. */
  @Test
  void a_short_run_has_a_figure_of_every_kind_and_round() throws Exception {
    IngestDriver.Result result = IngestDriver.run(new Scale(2, 0.01, 0), 1500);
    assertThat(result.json().getJsonArray("measured")).hasSize(3).allSatisfy(kind ->
        assertThat(((JsonObject) kind).getJsonArray("samples")).hasSize(2));
    assertThat(result.markdown()).contains("| regatta |", "| split |");
  }
}
