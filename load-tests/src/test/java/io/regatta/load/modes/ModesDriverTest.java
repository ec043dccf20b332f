package io.regatta.load.modes;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.exchange.Mode;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ModesDriverTest {

  /** Too small to learn from; that every mode is there, served by its saved model, and what is stale where. */
  @Test
  void a_short_run_has_a_row_of_every_mode() throws Exception {
    ModesDriver.Result result = ModesDriver.run(new ModesDriver.Size(4000, 1000, false));
    List<JsonObject> rows = result.json().getJsonArray("measured").stream().map(JsonObject.class::cast).toList();
    assertThat(rows).extracting(r -> r.getString("run")).containsExactlyElementsOf(
        Stream.concat(Stream.of("--local"), Mode.ofServers().stream().map(Mode::id)).toList());
    assertThat(rows).allSatisfy(r -> assertThat(r.getDouble("auc")).isBetween(0.3, 0.9));
    assertThat(rows.get(1).getInteger("staleness_max")).isZero();
    assertThat(result.markdown()).contains("| the data's best |", "≥ -0.005");
  }
}
