package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.OptimizerUpdates;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.Pulled;
import io.regatta.core.exchange.ResumePoint;
import io.regatta.core.exchange.Shrunk;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.TrainerId;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.table.TableSnapshot.Scope;
import io.regatta.core.testing.TestClock;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A saved state on its way into a job: what is put where, and when it is too late for it. */
class JobRestoreTest {

  private static final String T = "emb";
  private static final int DIM = 3;
  private static final long[] IDS = {5, -7, 9};
  private static final TrainerId ME = new TrainerId(0, 1);

  /** A job with an optimizer that has one slot, registered by its trainer. */
  private static ParameterShard shard(int index, int shards, long rows) {
    OptimizerSpec adagrad = OptimizerSpec.of("adagrad", 0.1);
    JobSpec job = new JobSpec("job", Mode.ASYNC, 1, 0, NanPolicy.FAIL, shards, 1, new ModelSpec(3,
        List.of(new DenseVariable("w", List.of(2 * shards))), adagrad,
        List.of(new SparseTableSpec(T, DIM, InitializerSpec.zeros(), adagrad))));
    ParameterShard shard = new ParameterShard(index, new ShardLimits(4, 4, 64, rows), TestClock.at(1));
    shard.register(job, ME, 0);
    return shard;
  }

  private static float[] counting(int n) {
    float[] values = new float[n];
    for (int i = 0; i < n; i++) {
      values[i] = i + 1;
    }
    return values;
  }

  private static void finish(JobRestore into, float first) {
    into.finish(new float[][] {{first, 2}}, new float[][][] {{{0, 0}}}, 40, OptimizerUpdates.all(40, List.of(T)), ResumePoint.NONE);
  }

  private static Answer<Pulled> pull(ParameterShard shard) {
    return Answer.to(shard.pull("job", new Pull(0, 0, true, List.of(new SparseIds(T, IDS)), false)));
  }

  @Test
  void tellsWhatItPutsAStateInto() {
    JobRestore into = shard(1, 2, 100).restore("job");
    assertThat(into.spec().job()).isEqualTo("job");
    assertThat(into.shard()).isEqualTo(1);
    assertThat(into.denseSize()).isEqualTo(2);
    assertThat(into.width(T)).as("values and a slot of each").isEqualTo(2 * DIM);
  }

  @Test
  void putsValuesOfRowsInTheirPlaces_andAnswersNobodyBeforeItsEnd() {
    ParameterShard shard = shard(0, 1, 100);
    Answer<Pulled> early = pull(shard);
    JobRestore into = shard.restore("job");
    into.values(T, IDS, counting(IDS.length * DIM), IDS.length);
    assertThat(early.value).isNull();
    finish(into, 8);
    assertThat(early.value.dense().toArray()).containsExactly(8, 2);
    assertThat(early.value.sparse().get(0).values()).containsExactly(counting(IDS.length * DIM));
    assertThat(shard.status("job").version()).isEqualTo(40);
  }

  @Test
  void putsWholeRowsInTheirPlaces() {
    ParameterShard shard = shard(0, 1, 100);
    JobRestore into = shard.restore("job");
    into.rows(T, IDS, counting(IDS.length * 2 * DIM), IDS.length);
    finish(into, 1);
    assertThat(pull(shard).value.sparse().get(0).values()).containsExactly(1, 2, 3, 7, 8, 9, 13, 14, 15);
  }

  @Test
  void refusesWholeRowsBeyondTheLimit() {
    ParameterShard shard = shard(0, 1, 4);
    JobRestore into = shard.restore("job");
    into.rows(T, IDS, new float[IDS.length * 2 * DIM], IDS.length);
    assertThatThrownBy(() -> into.rows(T, new long[] {1, 2}, new float[4 * DIM], 2)).isInstanceOf(Overloaded.class)
        .hasMessageContainingAll("2 new sparse rows on top of 3", T);
    assertThat(shard.status("job").rows()).containsEntry(T, 3L);
  }

  @Test
  void countsShrinksOnFromThoseThatTheRowsHaveBeenThrough() {
    ParameterShard shard = shard(1, 2, 100);
    JobRestore into = shard.restore("job");
    into.shrinks(7);
    finish(into, 1);
    Answer<Shrunk> shrunk = Answer.to(shard.shrink("job", ME, 1, false));
    assertThat(shrunk.value).isNotNull();
    Answer<JobSnapshot> taken = Answer.to(shard.snapshot("job", 0, Scope.ALL, 1 << 20));
    assertThat(taken.value.shrinks()).isEqualTo(8);
    assertThat(taken.value.shard()).isEqualTo(1);
  }

  @Test
  void changesNothing_whenTheJobHasBegun() {
    ParameterShard shard = shard(0, 1, 100);
    JobRestore late = shard.restore("job");
    JobRestore first = shard.restore("job");
    first.values(T, IDS, counting(IDS.length * DIM), IDS.length);
    finish(first, 8);
    long digest = shard.digest("job");
    float[] zeros = new float[IDS.length * 2 * DIM];
    assertThatThrownBy(() -> late.rows(T, IDS, zeros, IDS.length)).isInstanceOf(Conflict.class)
        .hasMessageContainingAll("shard 0 of job job", "has begun", "another name");
    assertThatThrownBy(() -> late.values(T, IDS, zeros, IDS.length)).isInstanceOf(Conflict.class);
    assertThatThrownBy(() -> late.shrinks(1)).isInstanceOf(Conflict.class);
    assertThatThrownBy(() -> finish(late, 9)).isInstanceOf(Conflict.class);
    late.fail(new IOException("too late to matter"));
    assertThat(pull(shard).value).isNotNull();
    assertThat(shard.digest("job")).isEqualTo(digest);
  }

  @Test
  void breaksTheJobAndTellsWhoWaits_whenTheFilesCannotBeRead() {
    ParameterShard shard = shard(0, 1, 100);
    Answer<Pulled> waiting = pull(shard);
    JobRestore into = shard.restore("job");
    into.fail(new IOException("part 3 is not there"));
    assertThat(waiting.error).isInstanceOf(PeerLost.class)
        .hasMessageContainingAll("a snapshot was being read", "part 3 is not there");
    into.fail(new IOException("nor is part 4"));
    assertThat(pull(shard).error).isInstanceOf(PeerLost.class).hasMessageContaining("part 3").hasMessageNotContaining("part 4");
    assertThatThrownBy(() -> into.rows(T, IDS, new float[IDS.length * 2 * DIM], IDS.length)).isInstanceOf(PeerLost.class);
  }
}
