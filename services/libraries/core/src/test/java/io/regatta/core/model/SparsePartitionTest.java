package io.regatta.core.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.function.LongUnaryOperator;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class SparsePartitionTest {

  private static final int IDS = 100_000;

  /** Computed by a separate program from the definition. A change would orphan every row in files and clusters. */
  @Test
  void ownersNeverChange() {
    int[] shards = {1, 2, 3, 5, 8, 1000};
    assertThat(owners(0, shards)).containsExactly(0, 1, 2, 4, 6, 847);
    assertThat(owners(1, shards)).containsExactly(0, 1, 1, 2, 4, 502);
    assertThat(owners(2, shards)).containsExactly(0, 0, 0, 0, 0, 38);
    assertThat(owners(3, shards)).containsExactly(0, 0, 1, 2, 3, 453);
    assertThat(owners(-1, shards)).containsExactly(0, 0, 0, 0, 0, 84);
    assertThat(owners(1L << 40, shards)).containsExactly(0, 0, 0, 0, 0, 101);
    assertThat(owners(123456789, shards)).containsExactly(0, 0, 0, 1, 2, 260);
    assertThat(owners(Long.MAX_VALUE, shards)).containsExactly(0, 1, 1, 2, 4, 572);
    assertThat(owners(Long.MIN_VALUE, shards)).containsExactly(0, 1, 2, 3, 5, 735);
  }

  private static int[] owners(long id, int[] shards) {
    int[] out = new int[shards.length];
    for (int i = 0; i < out.length; i++) {
      out[i] = SparsePartition.shardOf(id, shards[i]);
    }
    return out;
  }

  /** Patterns of real ids: dense, strided by the number of shards or by a power of two, fields in the upper bits. */
  @Test
  void idsOfAnyPatternSpreadEvenly() {
    LongUnaryOperator[] patterns = {i -> i, i -> -i, i -> 10 * i, i -> i << 20, i -> i << 44, i -> (i % 26) << 56 | i / 26};
    for (LongUnaryOperator pattern : patterns) {
      for (int shards : new int[] {2, 3, 5, 8, 10, 64}) {
        int[] count = new int[shards];
        for (int i = 0; i < IDS; i++) {
          count[SparsePartition.shardOf(pattern.applyAsLong(i), shards)]++;
        }
        double expected = IDS / (double) shards;
        double chiSquare = 0;
        for (int n : count) {
          chiSquare += (n - expected) * (n - expected) / expected;
        }
        int freedom = shards - 1;
        assertThat(chiSquare).isLessThan(freedom + 5 * Math.sqrt(2.0 * freedom) + 5);
      }
    }
  }

  @Property
  void theOwnerIsAShard(@ForAll long id, @ForAll @IntRange(min = 1) int shards) {
    assertThat(SparsePartition.shardOf(id, shards)).isBetween(0, shards - 1);
  }

  @Test
  void noShardsAreRefused() {
    assertThatThrownBy(() -> SparsePartition.shardOf(1, 0)).isInstanceOf(InvalidInput.class);
  }
}
