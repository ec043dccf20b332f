package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.dense.BlockPool;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.exchange.OptimizerUpdates;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.internal.job.Completions;
import io.regatta.core.shard.internal.job.TimeSlices;
import io.regatta.core.shard.internal.parameters.JobTables;
import io.regatta.core.testing.TestClock;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** The parameters of a job on a shard: from where its optimizers count, what updates change, and what they cost. */
class JobTablesTest {

  private static final long[] IDS = {3, 5, 8, 13};
  private static final float[] ROWS = {1, 2, 3, 4, 5, 6, 7, 8};

  private static JobTables tables() {
    OptimizerSpec adam = OptimizerSpec.of("adam", 0.1);
    ModelSpec model = new ModelSpec(7, List.of(new DenseVariable("w", List.of(3))), adam,
        List.of(new SparseTableSpec("a", 2, InitializerSpec.zeros(), adam),
            new SparseTableSpec("b", 2, InitializerSpec.zeros(), adam)));
    JobTables tables = new JobState(new JobSpec("job", Mode.ASYNC, 1, 0, NanPolicy.FAIL, 1, 64, model), 0,
        ShardLimits.defaults(), new BlockPool(), TestClock.at(1), null, new Completions()).tables;
    tables.initialize(DenseMemory.of(new float[3]));
    return tables;
  }

  private static float[] read(JobTables tables, String table) {
    float[] values = new float[ROWS.length];
    tables.table(table).read(IDS, 0, IDS.length, values);
    return values;
  }

  @Test
  void eachOptimizerCountsItsOwnUpdates_onFromWhereItWas() {
    JobTables tables = tables();
    assertThat(tables.where()).isEqualTo("shard 0 of job job");
    assertThat(tables.updates(4).get()).isEqualTo(new OptimizerUpdates(4, Map.of("a", 4L, "b", 4L)));
    tables.restore(10, new OptimizerUpdates(4, Map.of("a", 7L, "b", 0L)));
    assertThat(tables.updates(12).get()).isEqualTo(new OptimizerUpdates(6, Map.of("a", 9L, "b", 2L)));
  }

  /** Adam's bias correction depends on the number of the update. */
  @Test
  void freshSlotsAreUpdatedAsThoseOfANewJob_whateverTheVersion() {
    JobTables fresh = tables();
    JobTables resumed = tables();
    resumed.restore(100, new OptimizerUpdates(0, Map.of("a", 0L, "b", 50L)));
    for (int update = 1; update <= 3; update++) {
      for (String table : List.of("a", "b")) {
        SparseRows rows = new SparseRows(table, IDS, ROWS);
        fresh.update(rows, 0, IDS.length, update - 1, update);
        resumed.update(rows, 0, IDS.length, update - 1, 100 + update);
      }
      fresh.denseUpdate(update - 1, update).apply(0, 0, new float[] {1, -2, 3});
      resumed.denseUpdate(update - 1, 100 + update).apply(0, 0, new float[] {1, -2, 3});
    }
    assertThat(read(resumed, "a")).isEqualTo(read(fresh, "a"));
    assertThat(read(resumed, "b")).as("goes on at update 51").isNotEqualTo(read(fresh, "b"));
    assertThat(resumed.denseSnapshot().toArray()).isEqualTo(fresh.denseSnapshot().toArray());
  }

  @Test
  void updatesAndAdditionsTakeRowsFromSoManyOn_andCostWhatThoseCost() {
    JobTables tables = tables();
    SparseRows rows = new SparseRows("a", IDS, ROWS);
    assertThat(tables.add(rows, 1, 3)).as("with the table's creation")
        .isEqualTo(JobTables.CREATED_FLOATS + TimeSlices.rowsCost(2, 2));
    assertThat(read(tables, "a")).containsExactly(0, 0, 3, 4, 5, 6, 0, 0);
    assertThat(tables.update(rows, 1, 4, 0, 1)).isEqualTo(TimeSlices.rowsCost(3, 2));
    assertThat(tables.pull(tables.table("a"), IDS, 1, 3, new float[ROWS.length], null)).isEqualTo(TimeSlices.rowsCost(2, 2));
  }

  @Test
  void assignedValuesReplaceThoseOfTheDenseVector() {
    JobTables tables = tables();
    tables.assign(DenseMemory.of(new float[] {1, 2, 3}));
    assertThat(tables.denseSnapshot().toArray()).containsExactly(1, 2, 3);
    tables.add(0, new float[] {1, 1, 1});
    assertThat(tables.denseSnapshot().toArray()).containsExactly(2, 3, 4);
  }
}
