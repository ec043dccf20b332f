package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.Overloaded;
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
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.model.TableLife;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.testing.TestClock;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** Tests of the limit of rows while they are created over several time slices. */
class RowLimitTest {

  private static final String ROWS = "rows";

  private final LaterTurns turns = new LaterTurns();

  private ParameterShard shard(Mode mode, long rows) {
    OptimizerSpec sgd = OptimizerSpec.sgd(1);
    ModelSpec model = new ModelSpec(7, List.of(), sgd,
        List.of(new SparseTableSpec(ROWS, 1, InitializerSpec.zeros(), sgd)));
    ParameterShard shard = new ParameterShard(0, new ShardLimits(4, 4, 64, rows), TestClock.at(1), turns);
    shard.register(new JobSpec("job", mode, 1, 0, NanPolicy.FAIL, 1, 64, model), new TrainerId(0, 1), 0);
    return shard;
  }

  private static long[] ids(int from, int n) {
    return LongStream.range(from, from + n).toArray();
  }

  private static Answer<Pulled> pull(ParameterShard shard, int from, int n) {
    return Answer.to(shard.pull("job", new Pull(0, 0, false, List.of(new SparseIds(ROWS, ids(from, n))), false)));
  }

  private static Answer<PushAck> push(ParameterShard shard, long step, int from, int n) {
    return Answer.to(shard.push("job", new Push(List.of(new Contributor(0, 1, step + 1, 1)), step, 0, null,
        List.of(new SparseRows(ROWS, ids(from, n), new float[n])))));
  }

  private static long rows(ParameterShard shard) {
    return shard.status("job").rows().get(ROWS);
  }

  /** If rows are evicted for new ones, those of a snapshot would push one another out. */
  @Test
  void aSnapshotWithMoreRowsThanTheLimitIsRefused() {
    OptimizerSpec sgd = OptimizerSpec.sgd(1);
    ModelSpec model = new ModelSpec(7, List.of(), sgd, List.of(new SparseTableSpec(ROWS, 1, InitializerSpec.zeros(), sgd,
        TableLife.NONE.withShrinkUnseenDays(1))));
    ParameterShard shard = new ParameterShard(0, new ShardLimits(4, 4, 64, 10, 0, true), TestClock.at(1));
    shard.register(new JobSpec("job", Mode.ASYNC, 1, 0, NanPolicy.FAIL, 1, 64, model), new TrainerId(0, 1), 0);
    JobRestore into = shard.restore("job");
    into.values(ROWS, ids(0, 8), new float[8], 8);
    assertThatThrownBy(() -> into.values(ROWS, ids(8, 3), new float[3], 3)).isInstanceOf(Overloaded.class)
        .hasMessageContaining("restored rows");
    into.values(ROWS, ids(8, 2), new float[2], 2);
    assertThat(rows(shard)).isEqualTo(10);
  }

  @Test
  void whatPullsInTurnsWillBearCounts() {
    ParameterShard shard = shard(Mode.ASYNC, 100_000);
    List<Answer<Pulled>> answers = new ArrayList<>();
    for (int i = 0; i < 8; i++) {
      answers.add(pull(shard, i * 60_000, 60_000));
    }
    Answer<PushAck> tooMany = push(shard, 0, 1_000_000, 40_001);
    Answer<PushAck> fits = push(shard, 0, 1_000_000, 40_000);
    turns.runAll();
    assertThat(tooMany.error).isInstanceOf(Overloaded.class);
    assertThat(fits.value).isNotNull();
    assertThat(answers.get(0).value).isNotNull();
    assertThat(answers.subList(1, 8)).allSatisfy(a -> assertThat(a.error).isInstanceOf(Overloaded.class));
    assertThat(rows(shard)).isEqualTo(100_000);
  }

  @Test
  void whatAPullThatIsTakenBackWouldHaveBornDoesNot() {
    ParameterShard shard = shard(Mode.ASYNC, 100_000);
    Answer<Pulled> first = pull(shard, 0, 90_000);
    shard.withdraw("job", first.request);
    long born = rows(shard);
    Answer<Pulled> second = pull(shard, 100_000, 100_000 - (int) born);
    turns.runAll();
    assertThat(second.value).isNotNull();
    assertThat(rows(shard)).isEqualTo(100_000);
  }

  @Test
  void rowsOfARoundThatIsClosingCountOnce() {
    ParameterShard shard = shard(Mode.SYNC, 210_000);
    Answer<PushAck> first = push(shard, 0, 0, 200_000);
    while (rows(shard) < 50_000) {
      turns.poll().run();
    }
    assertThat(first.value).isNull();
    assertThat(rows(shard)).isBetween(50_000L, 199_999L);
    Answer<PushAck> tooMany = push(shard, 1, 200_000, 10_001);
    Answer<PushAck> second = push(shard, 1, 200_000, 10_000);
    turns.runAll();
    assertThat(tooMany.error).isInstanceOf(Overloaded.class);
    assertThat(first.value).isNotNull();
    assertThat(second.value).isNotNull();
    assertThat(rows(shard)).isEqualTo(210_000);
  }
}
