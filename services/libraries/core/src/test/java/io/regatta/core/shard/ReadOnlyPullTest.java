package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.client.ParameterClient;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.testing.TestClock;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** Reading for evaluation: the values that training would see, and nothing changed by it. */
class ReadOnlyPullTest {

  @Property(tries = 40)
  void readingGivesTheValuesOfBirthAndChangesNothing(@ForAll Mode mode, @ForAll @IntRange(min = 1, max = 5) int shards,
      @ForAll long seed) {
    LocalJob job = new LocalJob(mode, 1, shards, OptimizerSpec.sgd(0.5));
    ParameterClient client = job.clients.get(0);
    LocalJob.Gradient g = LocalJob.gradient(seed, 0, 0);
    client.push(0, 1, null, DenseMemory.of(g.dense()), g.sparse()).join();
    List<SparseIds> wish = List.of(new SparseIds(LocalJob.DEEP, LongStream.range(-30, 30).map(i -> i * 0x1234_5678_9L)
        .toArray()), new SparseIds(LocalJob.WIDE, new long[] {seed, ~seed, 5}));
    long digest = client.digest().join();
    List<Map<String, Long>> rows = rows(job);

    var read = client.read(true, wish).join();
    assertThat(client.digest().join()).isEqualTo(digest);
    assertThat(rows(job)).isEqualTo(rows);
    var pulled = client.pull(1, true, wish, false).join();
    assertThat(read.versions()).containsExactly(pulled.versions());
    assertThat(read.dense()).containsExactly(pulled.dense());
    for (int i = 0; i < wish.size(); i++) {
      assertThat(read.sparse().get(i).ids()).containsExactly(wish.get(i).ids());
      assertThat(read.sparse().get(i).values()).containsExactly(pulled.sparse().get(i).values());
    }
    assertThat(rows(job)).as("a training pull does bear rows").isNotEqualTo(rows);
  }

  private static List<Map<String, Long>> rows(LocalJob job) {
    return job.shards.stream().map(s -> s.status("job").rows()).toList();
  }

  @Test
  void readingIsNotLimitedByTheRowsThatAShardMayHold() {
    ParameterShard shard = new ParameterShard(0, new ShardLimits(1, 4, 1, 2), TestClock.at(0));
    shard.register(LocalJob.spec(Mode.ASYNC, 1, 1, OptimizerSpec.sgd(1), 0, NanPolicy.FAIL), new TrainerId(0, 1), 0);
    shard.initialize("job", new TrainerId(0, 1), DenseMemory.of(LocalJob.initial()));
    List<SparseIds> three = List.of(new SparseIds(LocalJob.DEEP, new long[] {1, 2, 3}));
    Answer<Pulled> read = Answer.to(shard.pull("job", new Pull(0, 0, false, three, false, true)));
    assertThat(read.value.sparse().get(0).values()).hasSize(9);
    assertThat(shard.status("job").rows()).containsEntry(LocalJob.DEEP, 0L);
    Answer<Pulled> pulled = Answer.to(shard.pull("job", new Pull(0, 0, false, three, false)));
    assertThat(pulled.error).isInstanceOf(Overloaded.class);
  }

  @Test
  void readingWaitsForNobody() {
    for (Mode mode : Mode.ofServers()) {
      LocalJob job = new LocalJob(LocalJob.spec(mode, 2, 1, OptimizerSpec.sgd(1), 0, NanPolicy.FAIL));
      job.start();
      job.clients.get(0).push(0, 1, null, null, List.of());
      assertThat(job.clients.get(0).read(true, List.of())).as("%s", mode).isCompleted();
    }
  }

  @Test
  void changedRowsAreNotForgottenByReading() {
    LocalJob job = new LocalJob(Mode.GEO, 1, 1, OptimizerSpec.sgd(1));
    Answer<Pulled> answer = Answer.to(job.shards.get(0).pull("job", new Pull(0, 0, false, List.of(), true, true)));
    assertThat(answer.error).isInstanceOf(InvalidInput.class).hasMessageContaining("read-only for changed rows");
  }
}
