package io.regatta.load.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.HashSet;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ZipfBatchesTest {

  @Test
  void ids_of_a_batch_are_distinct_of_the_table_and_the_frequent_ones_are_always_there() {
    Set<Long> table = new HashSet<>();
    for (long rank = 0; rank < 100_000; rank++) {
      table.add(ZipfBatches.id(rank));
    }
    assertThat(table).hasSize(100_000);
    for (long[] batch : ZipfBatches.distinct(20, 100_000, 1)) {
      assertThat(Arrays.stream(batch).distinct().count()).isEqualTo(batch.length);
      assertThat(Arrays.stream(batch).boxed()).allMatch(table::contains).contains(ZipfBatches.id(0), ZipfBatches.id(9));
      // Expected: the sum over all ranks of 1 - (1 - p)^26000 with p = 1 / (rank ln 100000)
      assertThat(batch.length).isBetween(9000, 10_500);
    }
  }
}
