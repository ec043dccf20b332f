package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.testing.TestClock;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests of the conditions on which a shard takes a job; nothing is left of one that is refused. */
class JobSpecCheckTest {

  private static final int MOST = 1 << 16;
  private static final ModelSpec MODEL = new ModelSpec(1, List.of(), OptimizerSpec.sgd(1), List.of());

  private static JobSpec job(String name, int trainers, int bound, int shards, int minBlock) {
    return new JobSpec(name, Mode.SSP, trainers, bound, NanPolicy.FAIL, shards, minBlock, MODEL);
  }

  private static ParameterShard shard(int index) {
    return new ParameterShard(index, ShardLimits.defaults(), TestClock.at(1));
  }

  private static void assertRefused(JobSpec job, int index, String text) {
    ParameterShard shard = shard(index);
    assertThatThrownBy(() -> shard.register(job, new TrainerId(0, 1), 0)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining(text);
    assertThat(shard.jobs()).isEmpty();
  }

  private static void assertTaken(JobSpec job, int index) {
    ParameterShard shard = shard(index);
    shard.register(job, new TrainerId(0, 1), 0);
    assertThat(shard.jobs()).containsExactly(job.job());
  }

  @Test
  void refusesWhatMakesNoSense() {
    assertRefused(job(" ", 1, 0, 1, 1), 0, "needs a name");
    assertRefused(job(null, 1, 0, 1, 1), 0, "needs a name");
    assertRefused(job("n".repeat(513), 1, 0, 1, 1), 0, "has 513 characters");
    assertRefused(job("job", 0, 0, 1, 1), 0, "has 0 trainers");
    assertRefused(job("job", MOST + 1, 0, 1, 1), 0, "has 65537 trainers");
    assertRefused(job("job", 1, 0, MOST + 1, 1), 0, "has 65537 shards");
    assertRefused(job("job", 1, 0, 3, 1), 3, "0 to 2; this is shard 3");
    assertRefused(job("job", 1, 0, 1, 0), 0, "smallest dense block of 0");
    assertRefused(job("job", 1, -1, 1, 1), 0, "staleness bound -1");
    assertRefused(new JobSpec("job", null, 1, 0, NanPolicy.FAIL, 1, 1, MODEL), 0, "needs a mode");
    assertRefused(new JobSpec("job", Mode.SYNC, 1, 0, null, 1, 1, MODEL), 0, "a NaN policy");
    assertRefused(new JobSpec("job", Mode.SYNC, 1, 0, NanPolicy.FAIL, 1, 1, null), 0, "a model");
  }

  @Test
  void takesTheBoundsThemselves() {
    assertTaken(job("n".repeat(512), 1, 0, 1, 1), 0);
    assertTaken(job("job", MOST, 0, 1, 1), 0);
    assertTaken(job("job", 1, 0, MOST, 1), MOST - 1);
    assertTaken(job("job", 1, 0, 3, 1), 2);
  }

  @Test
  void stepsCountFromZeroToFarAboveAnyRun() {
    ParameterShard shard = shard(0);
    for (long step : new long[] {-1, (1L << 62) + 1}) {
      assertThatThrownBy(() -> shard.register(job("job", 1, 0, 1, 1), new TrainerId(0, 1), step))
          .isInstanceOf(InvalidInput.class).hasMessageContaining("step " + step);
    }
    assertThat(shard.register(job("job", 1, 0, 1, 1), new TrainerId(0, 1), 1L << 62)).isEqualTo(1L << 62);
  }

  @Test
  void ranksAreThoseOfTheJob() {
    ParameterShard shard = shard(0);
    for (int rank : new int[] {-1, 2}) {
      assertThatThrownBy(() -> shard.register(job("job", 2, 0, 1, 1), new TrainerId(rank, 1), 0))
          .isInstanceOf(InvalidInput.class).hasMessageContaining("ranks 0 to 1");
    }
  }
}
