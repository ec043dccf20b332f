package io.regatta.load.features;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.load.process.Scale;
import org.junit.jupiter.api.Test;

class FeaturesDriverTest {

  /** With real processes; peers need a virtual environment, which a test does not make. */
  @Test
  void a_short_run_has_a_figure_of_our_kinds() throws Exception {
    FeaturesDriver.Result result = FeaturesDriver.run(new Scale(2, 0.01, 0), 500, null);
    assertThat(result.json().getJsonArray("measured")).hasSize(2);
    assertThat(result.markdown()).contains("| regatta |", "| regatta analyze |");
  }
}
