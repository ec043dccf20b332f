package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.dense.BlockPool;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.internal.job.Completions;
import io.regatta.core.shard.internal.job.TimeSlices;
import io.regatta.core.shard.internal.parameters.IdSet;
import io.regatta.core.shard.internal.push.PushCheck;
import io.regatta.core.shard.internal.push.RowCheck;
import io.regatta.core.testing.TestClock;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The check of a push's rows: what it costs, and the set of ids that checks share. */
class RowCheckTest {

  private static final int DIM = 3;

  private final JobState async = job(Mode.ASYNC);
  private final JobState sync = job(Mode.SYNC);

  private static JobState job(Mode mode) {
    OptimizerSpec sgd = OptimizerSpec.sgd(1);
    ModelSpec model = new ModelSpec(7, List.of(), sgd, List.of(new SparseTableSpec("t", DIM, InitializerSpec.zeros(), sgd)));
    return new JobState(new JobSpec("job", mode, 1, 0, NanPolicy.FAIL, 1, 64, model), 0, ShardLimits.defaults(),
        new BlockPool(), TestClock.at(1), null, new Completions());
  }

  private static RowCheck check(JobState job, SparseRows rows) {
    Push push = new Push(List.of(), 0, 0, null, List.of(rows));
    return new RowCheck(job.tables, job.check, job.rowLimit, push, push.sparse(), "push of step 0 of trainer 0");
  }

  private static SparseRows rows(long... ids) {
    return new SparseRows("t", ids, new float[ids.length * DIM]);
  }

  @Test
  void costsWhatItLooksAt() {
    SparseRows ten = rows(LongStream.range(0, 10).toArray());
    assertThat(check(async, ten).advance(100_000)).isEqualTo(100_000 - (1 + 10 * (RowCheck.ID_FLOATS + DIM)));
    assertThat(check(sync, ten).advance(100_000)).as("rows of a round are counted")
        .isEqualTo(100_000 - (1 + 10 * (RowCheck.ID_FLOATS + DIM + TimeSlices.ROW_FLOATS)));
    assertThat(check(async, rows()).advance(5)).isEqualTo(4);
  }

  @Test
  void looksAtASliceOfRowsForAnyBudget_andAtNoneWithoutOne() {
    RowCheck check = check(async, rows(LongStream.range(0, 2 * TimeSlices.ROWS + 1).toArray()));
    assertThat(check.advance(0)).isEqualTo(-1);
    assertThat(check.births()).isZero();
    assertThat(check.advance(1)).isEqualTo(-1);
    assertThat(check.births()).isEqualTo(TimeSlices.ROWS);
    assertThat(check.advance(1)).isEqualTo(-1);
    assertThat(check.advance(1)).as("it needed more than that, and is done").isZero();
    assertThat(check.births()).isEqualTo(2 * TimeSlices.ROWS + 1);
  }

  @Test
  void needsNoSetOfIds_whenTheyAscend() {
    IdSet shared = async.check.takeIdSet(1);
    async.check.giveIdSet(shared, 1);
    RowCheck ascending = check(async, rows(LongStream.range(0, 2 * TimeSlices.ROWS).toArray()));
    assertThat(ascending.advance(1)).isEqualTo(-1);
    assertThat(async.check.takeIdSet(1)).as("nobody has it").isSameAs(shared);
    async.check.giveIdSet(shared, 1);
    RowCheck descending = check(async, rows(LongStream.range(0, 2 * TimeSlices.ROWS).map(i -> -i).toArray()));
    assertThat(descending.advance(1)).isEqualTo(-1);
    assertThat(async.check.takeIdSet(1)).as("the check has it").isNotSameAs(shared);
    assertThat(descending.advance(1)).isZero();
    assertThat(async.check.takeIdSet(1)).as("the check has given it back").isSameAs(shared);
  }

  @Test
  void setsOfManyIdsAreNotKept() {
    PushCheck check = async.check;
    IdSet few = check.takeIdSet(PushCheck.FEW_IDS);
    few.add(5);
    check.giveIdSet(few, PushCheck.FEW_IDS);
    check.giveIdSet(null, 1);
    IdSet many = check.takeIdSet(PushCheck.FEW_IDS + 1);
    assertThat(many).isNotSameAs(few);
    check.giveIdSet(many, PushCheck.FEW_IDS + 1);
    assertThat(check.takeIdSet(1)).isSameAs(few);
    assertThat(few.add(5)).as("it is empty").isTrue();
    assertThat(check.takeIdSet(1)).as("for a check beside").isNotSameAs(few).isNotSameAs(many);
  }
}
