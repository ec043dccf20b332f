package io.regatta.load.dense;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.load.process.Sample;
import io.regatta.load.process.Scale;
import io.vertx.core.json.JsonObject;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A short run with real processes gives plausible figures of all that was asked for, and leaves no process behind. */
class DenseDriverTest {
  private static final int CHUNK = 256 << 10;

  @Test
  void a_short_run_has_a_figure_of_every_round_and_no_process_stays() throws Exception {
    List<ProcessHandle> before = ProcessHandle.current().children().toList();
    DenseResult result = DenseDriver.run(new Scale(2, 0.01, 0.01), 500_000, List.of(CHUNK),
        List.of(Peers.REGATTA, Peers.HANDOVER, Peers.NETTY, Peers.MEMCPY));
    for (String kind : List.of(Peers.REGATTA, Peers.HANDOVER, Peers.NETTY, Peers.MEMCPY)) {
      for (String operation : Contestant.OPERATIONS) {
        List<Sample> samples = result.samples(kind, CHUNK, operation);
        assertThat(samples).hasSize(2).allSatisfy(s -> {
          assertThat(s.rate()).isBetween(0.0005, 500.0);
          assertThat(s.units()).isGreaterThanOrEqualTo(0.002);
        });
      }
    }
    assertThat(result.markdown()).contains("| regatta | 262144 B |")
        .contains("| regatta-handover | regatta | CPU s/GB | 262144 B |");
    JsonObject json = result.json();
    assertThat(json.getJsonArray("measured").getJsonObject(0).getJsonArray("samples")).hasSize(2);
    assertThat(ProcessHandle.current().children().toList()).isSubsetOf(before);
  }
}
