package io.regatta.load.collective;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.collective.schedule.Choices;
import io.regatta.load.process.Scale;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A short run with real processes gives a figure of all that was asked for, and leaves no process behind. */
class AllReduceDriverTest {

  @Test
  void a_short_run_has_a_figure_of_every_round_and_no_process_stays() throws Exception {
    List<ProcessHandle> before = ProcessHandle.current().children().toList();
    AllReduceResult result = AllReduceDriver.run(new Scale(2, 0.01, 0.01), List.of(4096, 300_000), List.of(2));
    for (String kind : List.of(RegattaGroup.PROCESSES, RegattaGroup.SHARED, RegattaGroup.HANDOVER)) {
      assertThat(result.samples(kind, 2, 300_000)).hasSize(2).allSatisfy(calls -> {
        assertThat(calls.micros()).isBetween(1.0, 10e6);
        assertThat(calls.gigabytes()).isPositive();
      });
    }
    assertThat(result.markdown()).contains("| regatta | 2 |").contains("| regatta | openmpi-tcp | 2 | 4 KB |");
    assertThat(result.json().getJsonArray("measured").getJsonObject(0).getJsonArray("rounds")).hasSize(2);
    assertThat(ProcessHandle.current().children().toList()).isSubsetOf(before);
  }

  @Test
  void a_refit_is_a_table_that_can_be_read() throws Exception {
    String told = AllReduceDriver.refit(new Scale(1, 0.01, 0.001), List.of(4096), List.of(2));
    String rows = told.substring(told.indexOf("\n\n") + 2);
    assertThat(Choices.parse(rows).text()).isEqualTo(rows)
        .contains("all-reduce process * *").contains("all-reduce machine * *").contains("all-reduce network * *");
  }
}
