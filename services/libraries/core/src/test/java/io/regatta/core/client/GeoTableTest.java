package io.regatta.core.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.init.InitializerSpec;
import io.regatta.core.model.SparseTableSpec;
import io.regatta.core.optim.LearningRate;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.optim.Sgd;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** A local copy of rows against a model of it in plain maps; numbers are dyadic, so that they come out exactly. */
class GeoTableTest {

  private static final int DIM = 3;
  private static final int TRAINERS = 4;

  private static GeoTable table(OptimizerSpec optimizer) {
    return new GeoTable(new SparseTableSpec("emb", DIM, InitializerSpec.zeros(), optimizer));
  }

  private static float[] row(float first) {
    return new float[] {first, 2 * first, -first};
  }

  private static float[] rows(float... firsts) {
    float[] values = new float[firsts.length * DIM];
    for (int i = 0; i < firsts.length; i++) {
      System.arraycopy(row(firsts[i]), 0, values, i * DIM, DIM);
    }
    return values;
  }

  private static float[] copy(GeoTable table, long... ids) {
    float[] out = new float[ids.length * DIM];
    assertThat(table.copy(ids, out)).isEmpty();
    return out;
  }

  @Test
  void copiesRowsToTheirPlacesAndNamesTheOthers() {
    GeoTable table = table(OptimizerSpec.sgd(1));
    table.admit(new long[] {10, -20, 30}, rows(1, 2, 4));
    float[] out = new float[5 * DIM];
    assertThat(table.copy(new long[] {7, 30, -7, -20, 10}, out)).containsExactly(7, -7);
    assertThat(out).containsExactly(0, 0, 0, 4, 8, -4, 0, 0, 0, 2, 4, -2, 1, 2, -1);
  }

  @Test
  void keepsTheLocalRow_whenItIsAdmittedAgain() {
    GeoTable table = table(OptimizerSpec.sgd(0.5));
    table.admit(new long[] {10}, rows(1));
    table.update(new SparseRows("emb", new long[] {10}, rows(1)), 0);
    table.admit(new long[] {10, 11}, rows(64, 32));
    assertThat(copy(table, 10, 11)).containsExactly(rows(0.5f, 32));
  }

  @Test
  void holdsMoreRowsThanItBeganWith() {
    GeoTable table = table(OptimizerSpec.sgd(1));
    int n = 5000;
    for (int id = 0; id < n; id++) {
      table.admit(new long[] {id * 7L}, rows(id));
    }
    for (int id = 0; id < n; id++) {
      assertThat(copy(table, id * 7L)).as("row %s", id).containsExactly(row(id));
    }
  }

  @Test
  void readsTheScheduleAtTheStepGiven() {
    GeoTable table = table(OptimizerSpec.of(new Sgd(), LearningRate.exponential(1, 2, 0.5)));
    table.admit(new long[] {1, 2}, rows(0, 0));
    table.update(new SparseRows("emb", new long[] {1}, rows(1)), 0);
    table.update(new SparseRows("emb", new long[] {2}, rows(1)), 4);
    assertThat(copy(table, 1, 2)).containsExactly(rows(-1, -0.25f));
  }

  @Test
  void refusesAGradient_whenItsRowWasNeverPulled() {
    GeoTable table = table(OptimizerSpec.sgd(1));
    table.admit(new long[] {1}, rows(1));
    assertThatThrownBy(() -> table.update(new SparseRows("emb", new long[] {1, 9}, rows(1, 1)), 0))
        .isInstanceOf(IllegalStateException.class).hasMessageContainingAll("row 9", "table emb");
  }

  @Test
  void forgetsRowsAndWhatTrainingHasTouched_whenCleared() {
    GeoTable table = table(OptimizerSpec.sgd(1));
    table.admit(new long[] {1, 2}, rows(1, 1));
    table.update(new SparseRows("emb", new long[] {1}, rows(1)), 0);
    table.clear();
    assertThat(table.copy(new long[] {1, 2}, new float[2 * DIM])).containsExactly(1, 2);
    table.admit(new long[] {2}, rows(8));
    assertThat(table.takeDelta(TRAINERS).ids()).isEmpty();
    assertThat(copy(table, 2)).containsExactly(row(8));
  }

  /** Local SGD with exchanges, by the definition: delta = (local - old) / n; old += delta; local += server - old. */
  @Test
  void equalsTheDefinition_overManyStepsAndExchanges() {
    Random random = new Random(5);
    GeoTable table = table(OptimizerSpec.sgd(0.5));
    Map<Long, float[]> local = new HashMap<>();
    Map<Long, float[]> old = new HashMap<>();
    Map<Long, Boolean> touched = new HashMap<>();
    for (int turn = 0; turn < 300; turn++) {
      long[] ids = random.longs(0, 40).distinct().limit(1 + random.nextInt(6)).toArray();
      float[] values = new float[ids.length * DIM];
      for (int i = 0; i < values.length; i++) {
        values[i] = random.nextInt(-8, 8);
      }
      switch (turn % 3) {
        case 0 -> {
          table.admit(ids, values);
          for (int i = 0; i < ids.length; i++) {
            float[] row = Arrays.copyOfRange(values, i * DIM, (i + 1) * DIM);
            local.putIfAbsent(ids[i], row.clone());
            old.putIfAbsent(ids[i], row.clone());
          }
        }
        case 1 -> {
          long[] here = Arrays.stream(ids).filter(local::containsKey).toArray();
          float[] gradients = Arrays.copyOf(values, here.length * DIM);
          table.update(new SparseRows("emb", here, gradients), turn);
          for (int i = 0; i < here.length; i++) {
            touched.put(here[i], true);
            for (int k = 0; k < DIM; k++) {
              local.get(here[i])[k] -= 0.5f * gradients[i * DIM + k];
            }
          }
        }
        default -> {
          SparseRows delta = table.takeDelta(TRAINERS);
          assertThat(delta.ids()).doesNotHaveDuplicates().hasSize(touched.size());
          touched.clear();
          for (int i = 0; i < delta.ids().length; i++) {
            for (int k = 0; k < DIM; k++) {
              float[] agreed = old.get(delta.ids()[i]);
              float expected = (local.get(delta.ids()[i])[k] - agreed[k]) / TRAINERS;
              assertThat(delta.values()[i * DIM + k]).isEqualTo(expected);
              agreed[k] += expected;
            }
          }
          table.merge(ids, values);
          for (int i = 0; i < ids.length; i++) {
            for (int k = 0; local.containsKey(ids[i]) && k < DIM; k++) {
              local.get(ids[i])[k] += values[i * DIM + k] - old.get(ids[i])[k];
              old.get(ids[i])[k] = values[i * DIM + k];
            }
          }
        }
      }
      local.forEach((id, row) -> assertThat(copy(table, id)).as("row %s", id).containsExactly(row));
    }
    assertThat(local).hasSizeGreaterThan(30);
  }

  @Test
  void keepsMoreRowsThanASlabHolds() {
    GeoTable table = table(OptimizerSpec.sgd(0.5));
    int n = 50_000;
    long[] ids = LongStream.range(0, n).map(i -> 7 * i).toArray();
    float[] values = new float[n * DIM];
    for (int i = 0; i < values.length; i++) {
      values[i] = i;
    }
    table.admit(ids, values);
    assertThat(copy(table, ids)).containsExactly(values);
    table.update(new SparseRows("emb", new long[] {ids[n - 1]}, rows(8)), 0);
    assertThat(table.takeDelta(TRAINERS)).satisfies(d -> assertThat(d.ids()).containsExactly(ids[n - 1]))
        .satisfies(d -> assertThat(d.values()).containsExactly(rows(-1)));
  }

  /** The number of a row times its values passes 2^31 long before the rows do. */
  @Test
  void placesOfRowsStayWithinTheirSlabs_howeverManyRowsThereAre() {
    RowSlabs slabs = new RowSlabs(DIM);
    slabs.put(0, rows(1), 0);
    int length = slabs.slab(0).length;
    for (int row : new int[] {0, 1, Integer.MAX_VALUE / DIM + 1, Integer.MAX_VALUE}) {
      assertThat(slabs.offset(row)).isBetween(0, length - DIM);
    }
    assertThat(new RowSlabs(1 << 20).offset(1 << 20)).isZero();
  }

  @Test
  void refusesAnExchangeThatNoArrayHolds() {
    GeoTable table = table(OptimizerSpec.sgd(1));
    assertThat(table.deltaLength(700_000_000)).isEqualTo(2_100_000_000);
    assertThatThrownBy(() -> table.deltaLength(716_000_000)).isInstanceOf(Overloaded.class)
        .hasMessageContaining("'emb'").hasMessageContaining("k_steps");
  }
}
