package io.regatta.training.exchange.push;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.exchange.SparseRows;
import io.regatta.training.replica.Gradients;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class AccruedGradientsTest {

  private static Gradients gradients(double examples, float dense, SparseRows... rows) {
    return new Gradients(examples, DenseMemory.of(new float[] {dense, 2 * dense}), List.of(rows));
  }

  private static SparseRows rows(String table, long[] ids, float... values) {
    return new SparseRows(table, ids, values, 1);
  }

  @Test
  void a_single_step_is_passed_on_as_it_is() {
    AccruedGradients accrued = new AccruedGradients(1);
    Gradients one = gradients(4, 1, rows("t", new long[] {7}, 1, 2));
    long[] versions = {3};
    accrued.add(one, versions);
    assertThat(accrued.isDue()).isTrue();
    AccruedGradients.Due due = accrued.take();
    assertThat(due.gradients()).isSameAs(one);
    assertThat(due.versions()).isSameAs(versions);
    assertThat(accrued.isPending()).isFalse();
  }

  @Test
  void steps_are_added_up_by_element_and_by_id() {
    AccruedGradients accrued = new AccruedGradients(3);
    accrued.add(gradients(4, 1, rows("t", new long[] {7, 5}, 1, 10, 2, 20)), new long[] {3, 9});
    assertThat(accrued.isDue()).isFalse();
    accrued.add(gradients(4, 10, rows("u", new long[] {1}, 8, 80), rows("t", new long[] {})), new long[] {4, 8});
    accrued.add(gradients(2, 100, rows("t", new long[] {-1, 7, 6}, 3, 30, 4, 40, 5, 50)), new long[] {5, 11});
    assertThat(accrued.isDue()).isTrue();
    AccruedGradients.Due due = accrued.take();
    assertThat(due.versions()).as("the oldest").containsExactly(3, 8);
    assertThat(due.gradients().examples()).isEqualTo(10);
    assertThat(due.gradients().dense().toArray()).containsExactly(111, 222);
    assertThat(due.gradients().sparse()).hasSize(2);
    SparseRows t = due.gradients().sparse().get(0);
    assertThat(t.table()).isEqualTo("t");
    assertThat(t.ids()).containsExactly(7, 5, -1, 6);
    assertThat(t.values()).as("with counts").containsExactly(5, 50, 2, 20, 3, 30, 5, 50);
    assertThat(t.counts()).isEqualTo(1);
    assertThat(due.gradients().sparse().get(1).ids()).containsExactly(1);
  }

  @Test
  void a_push_begins_with_nothing_of_the_one_before() {
    AccruedGradients accrued = new AccruedGradients(2);
    accrued.add(gradients(4, 1, rows("t", new long[] {7}, 1, 1)), new long[] {3});
    assertThat(accrued.isPending()).isTrue();
    accrued.take();
    assertThat(accrued.isPending()).isFalse();
    accrued.add(gradients(1, 5), new long[] {6});
    assertThat(accrued.isDue()).as("after one step").isFalse();
    AccruedGradients.Due due = accrued.take();
    assertThat(due.versions()).containsExactly(6);
    assertThat(due.gradients().examples()).isEqualTo(1);
    assertThat(due.gradients().dense().toArray()).containsExactly(5, 10);
    assertThat(due.gradients().sparse()).isEmpty();
  }

  @Test
  void the_engines_memory_may_change_once_a_step_has_been_added() {
    int size = 2 * DenseMemory.BLOCK + 3;
    ByteBuffer memory = ByteBuffer.allocateDirect(size * Float.BYTES);
    AccruedGradients accrued = new AccruedGradients(3);
    float[] expected = new float[size];
    Map<Long, Float> expectedRows = new TreeMap<>();
    Random random = new Random(5);
    for (int step = 0; step < 3; step++) {
      float[] g = new float[size];
      for (int i = 0; i < size; i++) {
        g[i] = random.nextFloat();
        expected[i] = step == 0 ? g[i] : expected[i] + g[i];
      }
      long[] ids = random.longs(200, 0, 300).distinct().toArray();
      float[] values = new float[ids.length];
      for (int i = 0; i < ids.length; i++) {
        values[i] = random.nextFloat();
        expectedRows.merge(ids[i], values[i], Float::sum);
      }
      DenseMemory dense = DenseMemory.of(memory);
      dense.set(g);
      accrued.add(new Gradients(1, dense, List.of(new SparseRows("t", ids, values))), new long[] {0});
      dense.set(new float[size]);
    }
    Gradients sum = accrued.take().gradients();
    assertThat(sum.dense().toArray()).isEqualTo(expected);
    Map<Long, Float> rows = new TreeMap<>();
    for (int i = 0; i < sum.sparse().get(0).ids().length; i++) {
      rows.put(sum.sparse().get(0).ids()[i], sum.sparse().get(0).values()[i]);
    }
    assertThat(rows).isEqualTo(expectedRows);
  }
}
