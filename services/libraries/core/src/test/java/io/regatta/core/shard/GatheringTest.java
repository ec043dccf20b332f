package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.dense.BlockPool;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.Pull;
import io.regatta.core.exchange.SparseIds;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.internal.geo.ChangeLog;
import io.regatta.core.shard.internal.job.Completions;
import io.regatta.core.shard.internal.job.TimeSlices;
import io.regatta.core.shard.internal.parameters.CountedPulls;
import io.regatta.core.shard.internal.parameters.JobTables;
import io.regatta.core.testing.TestClock;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** An answer's rows, gathered some at a time. */
class GatheringTest {

  private static final int DIM = 3;
  private static final long[] IDS = LongStream.range(0, 2 * TimeSlices.ROWS + 10).toArray();

  private JobTables tables = tables(DIM);

  private static JobTables tables(int dim) {
    OptimizerSpec sgd = OptimizerSpec.sgd(1);
    ModelSpec model = new ModelSpec(7, List.of(), sgd,
        List.of(new SparseTableSpec("t", dim, InitializerSpec.zeros(), sgd)));
    return new JobState(new JobSpec("job", Mode.GEO, 1, 0, NanPolicy.FAIL, 1, 64, model), 0, ShardLimits.defaults(),
        new BlockPool(), TestClock.at(1), null, new Completions()).tables;
  }

  private Gathering of(long births, ChangeLog.Reading changes, SparseIds... wish) {
    return new Gathering(tables, new Pull(0, 0, false, List.of(wish), changes != null), births, new CountedPulls(), changes);
  }

  @Test
  void copiesASliceOfRowsForAnyBudget_andNoneWithoutOne() {
    Gathering gathering = of(IDS.length, null, new SparseIds("t", IDS));
    assertThat(gathering.advance(0)).isEqualTo(-1);
    assertThat(gathering.rows()).as("room is made when they are copied").isEmpty();
    assertThat(gathering.advance(1)).isEqualTo(-1);
    assertThat(tables.rows()).isEqualTo(TimeSlices.ROWS);
    assertThat(gathering.advance(1)).isEqualTo(-1);
    assertThat(gathering.advance(1_000_000)).isEqualTo(1_000_000 - TimeSlices.rowsCost(10, DIM));
    assertThat(gathering.rows()).extracting(SparseRows::ids).containsExactly(IDS);
  }

  @Test
  void stillCreatesAsManyRowsAsItHasNotCreated_whateverRowsThereWere() {
    tables.pull(tables.table("t"), LongStream.range(-40, 0).toArray(), 0, 40, new float[40 * DIM], null);
    Gathering gathering = of(IDS.length, null, new SparseIds("t", IDS));
    gathering.advance(1);
    assertThat(gathering.births()).isEqualTo(IDS.length - TimeSlices.ROWS);
    gathering.advance(TimeSlices.FLOATS);
    assertThat(gathering.births()).isZero();
  }

  @Test
  void isNotOver_beforeAllChangesHaveBeenCollected() {
    ChangeLog log = new ChangeLog();
    long[] many = LongStream.range(0, 100_000).toArray();
    log.add("t", many, 0, many.length);
    Gathering gathering = of(0, log.after(0), new SparseIds("t", new long[] {-1}));
    assertThat(gathering.advance(TimeSlices.FLOATS)).as("more than a turn's").isEqualTo(-1);
    while (gathering.advance(TimeSlices.FLOATS) < 0) { }
    assertThat(gathering.waitsForRoom()).isTrue();
    assertThat(gathering.rows()).as("there is no room for them yet").isEmpty();
    gathering.hasRoom();
    while (gathering.advance(TimeSlices.FLOATS) < 0) { }
    assertThat(gathering.rows()).hasSize(2);
    assertThat(gathering.rows().get(0).ids()).containsExactly(-1);
    assertThat(LongStream.of(gathering.rows().get(1).ids()).sorted().toArray()).isEqualTo(many);
    assertThat(gathering.changesUpTo()).isEqualTo(1);
  }

  @Test
  void knowsWhatTheChangedRowsTake_beforeAnyIsCopied() {
    ChangeLog log = new ChangeLog();
    log.add("t", IDS, 0, 20);
    Gathering gathering = of(0, log.after(0), new SparseIds("t", new long[] {-1}));
    assertThat(gathering.waitsForRoom()).isFalse();
    assertThat(gathering.advance(TimeSlices.FLOATS)).isNotNegative();
    assertThat(gathering.waitsForRoom()).isTrue();
    assertThat(gathering.changedBytes()).isEqualTo(20 * (8 + 4 * DIM));
    assertThat(gathering.tooLong()).isFalse();
    gathering.hasRoom();
    assertThat(gathering.waitsForRoom()).isFalse();
  }

  @Test
  void goesOnAtOnce_whenNothingHasChanged() {
    Gathering gathering = of(1, new ChangeLog().after(0), new SparseIds("t", new long[] {-1}));
    assertThat(gathering.advance(TimeSlices.FLOATS)).isEqualTo(TimeSlices.FLOATS - JobTables.CREATED_FLOATS - TimeSlices.rowsCost(1, DIM));
    assertThat(gathering.rows()).hasSize(1);
  }

  /** Rows of 65,536 floats, of which an array of 2³¹ - 9 holds 32,767. */
  @Test
  void isTooLong_whenNoArrayHoldsTheChangedRowsOfATable() {
    tables = tables(1 << 16);
    for (int rows : new int[] {32_767, 32_768}) {
      ChangeLog log = new ChangeLog();
      log.add("t", LongStream.range(0, rows).toArray(), 0, rows);
      Gathering gathering = of(0, log.after(0));
      while (gathering.advance(TimeSlices.FLOATS) < 0) { }
      assertThat(gathering.tooLong()).isEqualTo(rows > 32_767);
      assertThat(gathering.changedBytes()).isEqualTo(rows * (8L + (4 << 16)));
    }
  }
}
