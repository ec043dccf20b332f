package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.exchange.Mode;
import io.regatta.core.progress.Progress;
import io.regatta.fleet.local.Faults;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.training.result.RunResult;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * The quality that a mode costs: the Census job in all modes with servers, on two servers, by two trainers of which one
 * is slower. Half of its passes show that; with {@code -Dregatta.census.epochs=6} it is the whole job, and prints the table that
 * docs/results.md shows.
 */
class CensusModesTest {
  private static final int STALENESS_BOUND = 4;
  private static final int EPOCHS = Integer.getInteger("regatta.census.epochs", 3);
  /** How many steps each trainer makes in a pass. */
  private static final int STEPS = 254;
  private static final double MODE_TOLERANCE = 0.003;

  @Test
  @Timeout(value = 8, unit = TimeUnit.MINUTES)
  void every_mode_reaches_the_quality_of_sync() {
    Path data = Jobs.data("adult_census");
    Map<Mode, RunResult> results = new EnumMap<>(Mode.class);
    for (Mode mode : Mode.ofServers()) {
      RunResult r = LocalCluster.run(LocalCluster.Options.of(Jobs.config("census", "data.dir=" + data,
          "mode=" + mode.id(), "staleness_bound=" + STALENESS_BOUND,
          "epochs=" + EPOCHS, "optimizer.schedule.decay_steps=" + EPOCHS * STEPS,
          "sparse_optimizer.schedule.decay_steps=" + EPOCHS * STEPS, "output=")).withoutHazelcast()
          .withProgress(Progress.none()).withFaults(Faults.slow(Map.of(1, 2L)))).get(0);
      results.put(mode, r);
      System.out.printf(Locale.ROOT, "| %s | %.4f | %.4f | %.4f | %.0f | %d | %d |%n", mode, r.auc(), r.accuracy(),
          r.logloss(), r.examplesPerSecond(), r.stalenessMax(), r.clockLeadMax());
    }
    RunResult sync = results.get(Mode.SYNC);
    assertThat(sync.auc()).isGreaterThanOrEqualTo(0.912);
    assertThat(sync.stalenessMax()).isZero();
    results.values().forEach(r -> assertThat(r.auc()).as(r.mode()).isCloseTo(sync.auc(), within(MODE_TOLERANCE)));
    assertThat(results.get(Mode.ASYNC).stalenessMax()).isPositive();
    assertThat(results.get(Mode.SSP).clockLeadMax()).as("the bound is reached and kept").isEqualTo(STALENESS_BOUND);
  }
}
