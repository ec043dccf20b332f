package io.regatta.core.shard;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.dense.BlockPool;
import io.regatta.core.dense.DenseMemory;
import io.regatta.core.exchange.JobSpec;
import io.regatta.core.exchange.Mode;
import io.regatta.core.exchange.NanPolicy;
import io.regatta.core.hash.Mix64;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.memory.ShardLimits;
import io.regatta.core.model.DenseVariable;
import io.regatta.core.model.ModelSpec;
import io.regatta.core.model.ParameterHash;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.shard.internal.job.Completions;
import io.regatta.core.shard.internal.parameters.JobTables;
import io.regatta.core.table.SparseTable;
import io.regatta.core.testing.TestClock;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** The digest in slices: the same in slices of any size, and each of them as large as it was asked to be. */
class DigestCursorTest {

  private static final int DIM = 3;
  /** Ids whose rows lie in the first segment of a table. */
  private static final long[] TOGETHER = LongStream.range(0, 10_000).filter(id -> Mix64.mix(id) >>> 56 == 0).limit(5).toArray();

  private static JobTables tables(List<DenseVariable> dense, String... tables) {
    OptimizerSpec sgd = OptimizerSpec.sgd(1);
    ModelSpec model = new ModelSpec(7, dense, sgd,
        List.of(tables).stream().map(t -> new SparseTableSpec(t, DIM, InitializerSpec.uniform(-1, 1), sgd)).toList());
    JobTables made = new JobState(new JobSpec("job", Mode.ASYNC, 1, 0, NanPolicy.FAIL, 1, 64, model), 0,
        ShardLimits.defaults(), new BlockPool(), TestClock.at(1), null, new Completions()).tables;
    float[] values = new float[made.denseSize()];
    for (int i = 0; i < values.length; i++) {
      values[i] = i;
    }
    if (values.length > 0) {
      made.initialize(DenseMemory.of(values));
    }
    return made;
  }

  /** How often there was more to do. */
  private static int slices(DigestCursor cursor, long values) {
    int n = 0;
    while (cursor.advance(values)) {
      n++;
    }
    return n;
  }

  @Test
  void isTheSameInSlicesOfAnySize() {
    JobTables tables = tables(List.of(new DenseVariable("w", List.of(10)), new DenseVariable("b", List.of(7))), "one", "two");
    long[] ids = LongStream.range(0, 400).map(i -> i * i).toArray();
    float[] one = tables.table("one").pull(ids);
    float[] two = tables.table("two").pull(TOGETHER);
    long expected = 0;
    for (int i = 0; i < ids.length; i++) {
      expected += ParameterHash.row("one", ids[i], one, i * DIM, DIM);
    }
    for (int i = 0; i < TOGETHER.length; i++) {
      expected += ParameterHash.row("two", TOGETHER[i], two, i * DIM, DIM);
    }
    DigestCursor dense = new DigestCursor(tables(List.of(new DenseVariable("w", List.of(10)),
        new DenseVariable("b", List.of(7)))), () -> false);
    slices(dense, 1_000);
    assertThat(dense.value()).isNotZero();
    for (long values : new long[] {1, 2, 3, 4, 7, 11, 100, 1_000, Long.MAX_VALUE / 2}) {
      DigestCursor cursor = new DigestCursor(tables, () -> false);
      slices(cursor, values);
      assertThat(cursor.value()).as("slices of %d", values).isEqualTo(expected + dense.value());
    }
  }

  @Test
  void hashesAsManyElementsAsItIsAskedFor() {
    JobTables tables = tables(List.of(new DenseVariable("w", List.of(10)), new DenseVariable("b", List.of(7))));
    assertThat(slices(new DigestCursor(tables, () -> false), 5)).as("three of five elements, and one of two").isEqualTo(3);
    assertThat(slices(new DigestCursor(tables, () -> false), 1)).isEqualTo(17);
    assertThat(slices(new DigestCursor(tables, () -> false), 18)).isZero();
  }

  @Test
  void hashesNoRowMoreThanItIsAskedFor_andStepsOverEmptySegmentsForOneValueEach() {
    JobTables none = tables(List.of(), "empty");
    assertThat(slices(new DigestCursor(none, () -> false), 1)).as("a table that has not been created").isZero();
    none.table("empty");
    assertThat(slices(new DigestCursor(none, () -> false), 1)).isEqualTo(SparseTable.SEGMENTS);
    JobTables tables = tables(List.of(), "five");
    tables.table("five").pull(TOGETHER);
    int empty = SparseTable.SEGMENTS - 1;
    assertThat(slices(new DigestCursor(tables, () -> false), DIM)).isEqualTo(TOGETHER.length + empty / DIM);
    assertThat(slices(new DigestCursor(tables, () -> false), 1)).as("a row that is begun is ended").isEqualTo(TOGETHER.length + empty);
  }
}
