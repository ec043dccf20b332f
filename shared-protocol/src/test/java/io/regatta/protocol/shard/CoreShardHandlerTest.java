package io.regatta.protocol.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.shard.ParameterShard;
import io.regatta.core.testing.TestClock;
import io.regatta.protocol.shard.ShardStreamHandler.Origin;
import io.vertx.core.Future;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Core's shard behind a stream, without the stream. */
class CoreShardHandlerTest {
  private final ParameterShard shard = new ParameterShard(0, ShardLimits.defaults(), TestClock.at(0));
  private final JobSpec job = TestJobs.job("waiting", Mode.SYNC, 2, 8);

  private Origin joined(CoreShardHandler handler, int rank) {
    Origin from = new Origin(job.job(), 0, 0, 1, new TrainerId(rank, 1));
    assertThat(handler.register(from, job, 0).succeeded()).isTrue();
    return from;
  }

  private static Pull pull(int rank, long minStep) {
    return new Pull(rank, minStep, true, List.of(), false);
  }

  @Test
  void a_stream_that_is_over_takes_back_its_pulls_and_no_others() {
    CoreShardHandler one = new CoreShardHandler(shard);
    CoreShardHandler other = new CoreShardHandler(shard);
    Origin rank0 = joined(one, 0);
    Origin rank1 = joined(other, 1);
    one.initialize(rank0, DenseMemory.of(new float[8]));
    Future<Pulled> gone = one.pull(rank0, pull(0, 1));
    Future<Pulled> stays = other.pull(rank1, pull(1, 1));
    assertThat(shard.waits()).hasSize(2);
    one.closed(rank0);
    assertThat(shard.waits()).hasSize(1);
    assertThat(gone.isComplete()).isFalse();
    assertThat(stays.isComplete()).isFalse();
    assertThat(one.pull(rank0, pull(0, 0)).succeeded()).isTrue();
  }

  @Test
  void what_the_shard_refuses_is_a_failed_future() {
    CoreShardHandler handler = new CoreShardHandler(shard);
    Origin rank0 = joined(handler, 0);
    assertThat(handler.pull(rank0, pull(1, 0)).cause()).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("a pull of trainer 0 names rank 1");
    assertThat(handler.export(rank0, "no such table").cause()).isInstanceOf(InvalidInput.class);
    assertThat(handler.registerAgain(new Origin(job.job(), 0, 0, 1, new TrainerId(7, 1))).failed()).isTrue();
  }
}
