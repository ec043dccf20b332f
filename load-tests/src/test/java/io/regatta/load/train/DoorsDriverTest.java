package io.regatta.load.train;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.load.process.Sample;
import io.regatta.load.process.Scale;
import io.vertx.core.json.JsonObject;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
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

  @Test
  void names_the_shortfall_by_median_if_the_token_costs_more_than_two_percent() {
    assertThat(shortfall(1.0, 1.0, 0.981)).isEmpty();
    assertThat(shortfall(1.0, 0.97, 0.979)).contains("0.979 of the rate without", "quartiles", "0.98 is wanted");
  }

  /** Returns the shortfall of rounds with these rates with a token, and a rate of 1 without. */
  private static String shortfall(double... rates) {
    List<Sample> open = IntStream.range(0, rates.length).mapToObj(i -> new Sample(1, 1, 1, 0)).toList();
    List<Sample> token = Arrays.stream(rates).mapToObj(rate -> new Sample(rate, 1, 1, 0)).toList();
    Map<String, List<Sample>> samples = new LinkedHashMap<>();
    DoorsDriver.KINDS.forEach(kind -> samples.put(kind, kind.equals("token") ? token : open));
    return DoorsDriver.result("10.0.0.7", 1, samples).shortfall();
  }
}
