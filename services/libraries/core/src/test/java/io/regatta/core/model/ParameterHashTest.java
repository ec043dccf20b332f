package io.regatta.core.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.model.DensePartition.Part;
import java.util.List;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class ParameterHashTest {

  /** Computed by a separate program from the definition: results of runs are compared across releases. */
  @Test
  void hashesNeverChange() {
    assertThat(ParameterHash.dense("fc.weight", 10, new float[] {1, -2.5f, 0}, 0, 3)).isEqualTo(0xed76231e7d879683L);
    assertThat(ParameterHash.row("emb", -3, new float[] {0.5f, -0.0f}, 0, 2)).isEqualTo(0x223d4d1510c60474L);
  }

  @Property(tries = 100)
  void theSumOverPartsDoesNotDependOnTheShards(@ForAll @IntRange(min = 1, max = 9) int shards,
      @ForAll @IntRange(min = 1, max = 60) int minBlock, @ForAll long seed) {
    List<DenseVariable> model = List.of(new DenseVariable("a", List.of(7, 5)), new DenseVariable("b", List.of(64)),
        new DenseVariable("c", List.of()));
    float[] flat = new float[100];
    Random random = new Random(seed);
    for (int i = 0; i < flat.length; i++) {
      flat[i] = random.nextFloat();
    }
    long expected = ParameterHash.dense("a", 0, flat, 0, 35) + ParameterHash.dense("b", 0, flat, 35, 64)
        + ParameterHash.dense("c", 0, flat, 99, 1);
    DensePartition p = DensePartition.of(model, shards, minBlock);
    long sum = 0;
    for (int s = 0; s < shards; s++) {
      float[] vector = p.slice(flat, s);
      for (Part b : p.partsOf(s)) {
        sum += ParameterHash.dense(b.variable(), b.variableOffset(), vector, b.shardOffset(), b.size());
      }
    }
    assertThat(sum).isEqualTo(expected);
  }

  @Test
  void everyPartOfAnElementCounts() {
    float[] v = {1, 2};
    long dense = ParameterHash.dense("a", 0, v, 0, 2);
    assertThat(dense).isNotEqualTo(ParameterHash.dense("b", 0, v, 0, 2));
    assertThat(dense).isNotEqualTo(ParameterHash.dense("a", 1, v, 0, 2));
    assertThat(dense).isNotEqualTo(ParameterHash.dense("a", 0, new float[] {2, 1}, 0, 2));
    assertThat(dense).isNotEqualTo(ParameterHash.dense("a", 0, new float[] {1, Math.nextUp(2f)}, 0, 2));
    assertThat(dense).isNotEqualTo(ParameterHash.row("a", 0, v, 0, 2));
    long row = ParameterHash.row("a", 5, v, 0, 2);
    assertThat(row).isNotEqualTo(ParameterHash.row("a", 6, v, 0, 2));
    assertThat(row).isNotEqualTo(ParameterHash.row("b", 5, v, 0, 2));
    assertThat(ParameterHash.row("a", 5, new float[] {0}, 0, 1))
        .isNotEqualTo(ParameterHash.row("a", 5, new float[] {-0.0f}, 0, 1));
  }

  /** Two rows that swap values, or rows that move to other ids, must not cancel out in the sum. */
  @Test
  void valuesMovedToOtherRowsAreSeen() {
    float[] x = {1, 2, 3};
    float[] y = {4, 5, 6};
    long there = ParameterHash.row("t", 1, x, 0, 3) + ParameterHash.row("t", 2, y, 0, 3);
    long swapped = ParameterHash.row("t", 1, y, 0, 3) + ParameterHash.row("t", 2, x, 0, 3);
    assertThat(there).isNotEqualTo(swapped);
  }
}
