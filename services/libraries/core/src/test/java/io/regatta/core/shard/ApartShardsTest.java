package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.PushAck;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.model.Sharding;
import io.regatta.core.optim.OptimizerSpec;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Shards of which some hold dense parts only, and the others rows only. */
class ApartShardsTest {

  private static final Sharding APART = new Sharding(6, 3, 2);
  private static final int STEPS = 5;

  private static LocalJob job(Mode mode, int trainers, Sharding sharding) {
    LocalJob job = new LocalJob(spec(mode, trainers, sharding));
    job.start();
    return job;
  }

  private static JobSpec spec(Mode mode, int trainers, Sharding sharding) {
    return new JobSpec("job", mode, trainers, 4, NanPolicy.FAIL, sharding, 4,
        LocalJob.model(OptimizerSpec.of("adagrad", 0.1)));
  }

  @ParameterizedTest
  @EnumSource(value = Mode.class, names = {"SYNC", "ASYNC", "SSP", "GEO"})
  void everyModeGivesTheBitsOfCommonShardsAndEachHoldsItsOwn(Mode mode) {
    LocalJob common = job(mode, 2, Sharding.common(2));
    LocalJob apart = job(mode, 2, APART);
    for (LocalJob job : List.of(common, apart)) {
      for (long step = 0; step < STEPS; step++) {
        for (int rank = 0; rank < 2; rank++) {
          LocalJob.Gradient g = LocalJob.gradient(3, rank, step);
          job.clients.get(rank).push(step, g.weight(), null, DenseMemory.of(g.dense()), g.sparse());
        }
      }
    }
    assertThat(apart.digest()).isEqualTo(common.digest());
    List<SparseIds> wish = List.of(new SparseIds(LocalJob.DEEP, new long[] {1, 2, 3, 4, 5, 6, 7}));
    ParameterClient.Values values = apart.clients.get(0).pull(STEPS, true, wish, mode == Mode.GEO).join();
    ParameterClient.Values wanted = common.clients.get(0).pull(STEPS, true, wish, mode == Mode.GEO).join();
    assertThat(values.dense()).containsExactly(wanted.dense());
    assertThat(values.sparse().get(0).values()).containsExactly(wanted.sparse().get(0).values());
    assertThat(values.versions()).as("every shard has a clock").hasSize(6).containsOnly(wanted.versions()[0]);
    for (int s = 0; s < 6; s++) {
      ParameterShard.JobStatus status = apart.shards.get(s).status("job");
      long rows = status.rows().values().stream().mapToLong(Long::longValue).sum();
      assertThat(status.denseSize() > 0).as("dense parts on shard %d", s).isEqualTo(s % 3 == 0);
      assertThat(rows > 0).as("rows on shard %d", s).isEqualTo(s % 3 != 0);
    }
  }

  @Test
  void whatAShardMustNotHoldIsRefused() {
    LocalJob job = job(Mode.SYNC, 1, APART);
    Contributor me = new Contributor(0, 1, 1, 8);
    SparseRows rows = new SparseRows(LocalJob.WIDE, new long[] {5}, new float[] {1});
    assertThat(refusal(job.shards.get(0), new Push(List.of(me), 0, 0, null, List.of(rows))))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("holds id 5 of table 'wide' at shard 0 of job job, "
            + "which holds dense parameters only, but that id belongs to shard ");
    assertThat(refusal(job.shards.get(1), new Push(List.of(me), 0, 0, DenseMemory.of(new float[3]), List.of())))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("has 3 dense elements; the dense vector at shard 1 of "
            + "job job has 0: this shard holds sparse tables only");
    SparseIds deep = new SparseIds(LocalJob.DEEP, new long[] {5});
    Answer<Pulled> pulled = Answer.to(job.shards.get(3).pull("job", new Pull(0, 0, false, List.of(deep), false)));
    assertThat(pulled.error).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("shard 3 of job job, which holds dense parameters only");
    assertThatThrownBy(() -> job.shards.get(2).initialize("job", new TrainerId(0, 1), DenseMemory.of(new float[2])))
        .hasMessageContaining("this shard holds sparse tables only");
  }

  private static Throwable refusal(ParameterShard shard, Push push) {
    Answer<PushAck> answer = Answer.to(shard.push("job", push));
    return answer.error;
  }

  @Test
  void aTrainerWhoseTablesAreCutOtherwiseIsToldHow() {
    LocalJob job = job(Mode.SYNC, 2, APART);
    TrainerId other = new TrainerId(1, 2);
    assertThatThrownBy(() -> job.shards.get(0).register(spec(Mode.SYNC, 2, Sharding.common(6)), other, 0))
        .isInstanceOf(Conflict.class).hasMessageContaining("sparse_shards is 2 on the shard and 0 in trainer 1");
    assertThatThrownBy(() -> job.shards.get(0).register(spec(Mode.SYNC, 2, new Sharding(6, 6, 2)), other, 0))
        .isInstanceOf(Conflict.class)
        .hasMessageContaining("number of shards of a server is 3 on the shard and 6 in trainer 1");
  }
}
