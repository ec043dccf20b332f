package io.regatta.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.regatta.training.replica.RankSteps;
import io.regatta.training.snapshot.SnapshotCounts;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Trainers of one process share its registry. */
class RankMetersTest {

  private static final String STEPS = "regatta.trainer.steps";

  private final SimpleMeterRegistry registry = new SimpleMeterRegistry();

  private RankMeters rank(int rank, long step) {
    return new RankMeters(registry, "census", rank, () -> step, new RankSteps(), () -> 0, new SnapshotCounts(),
        List.of());
  }

  private double steps(int rank) {
    FunctionCounter counter = registry.find(STEPS).tag("rank", Integer.toString(rank)).functionCounter();
    return counter == null ? -1 : counter.count();
  }

  @Test
  void whoeverIsToldFirstOfANewRankHasItsFigures() {
    RankMeters lost = rank(0, 10);
    RankMeters one = rank(1, 11);
    RankMeters two = rank(2, 12);
    two.placed(1); // before the one that has it leaves it
    one.placed(0); // before the one that is lost knows
    lost.remove();
    assertThat(steps(0)).isEqualTo(11);
    assertThat(steps(1)).isEqualTo(12);
    assertThat(steps(2)).isEqualTo(-1);
    one.remove();
    two.remove();
    assertThat(registry.getMeters()).isEmpty();
  }

  @Test
  void whoKeepsItsRankKeepsItsFigures() {
    RankMeters one = rank(1, 11);
    one.placed(1);
    assertThat(steps(1)).isEqualTo(11);
    one.remove();
    assertThat(registry.getMeters()).isEmpty();
  }
}
