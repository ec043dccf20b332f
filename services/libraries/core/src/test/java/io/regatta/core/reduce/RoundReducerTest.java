package io.regatta.core.reduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.dense.DenseMemory;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Contributor;
import io.regatta.core.exchange.Push;
import io.regatta.core.exchange.SparseRows;
import io.regatta.core.shard.LocalJob;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.LongStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class RoundReducerTest {

  @Test
  void theMeanIsWeightedAndAMissingRowCountsAsZero() {
    Push merged = RoundReducer.merge(List.of(
        push(1, 3, new float[] {4, 8}, new SparseRows("t", new long[] {5, 6}, new float[] {4, 4, 8, 8})),
        push(0, 1, new float[] {0, -8}, new SparseRows("t", new long[] {6, 7}, new float[] {-4, 0, 4, 4}))));
    assertThat(merged.contributors()).containsExactly(new Contributor(0, 1, 1, 1), new Contributor(1, 1, 1, 3));
    assertThat(merged.dense().toArray()).containsExactly(3, 4);
    assertThat(merged.sparse()).hasSize(1);
    assertThat(merged.sparse().get(0).ids()).containsExactly(6, 7, 5);
    assertThat(merged.sparse().get(0).values()).containsExactly(5, 6, 1, 1, 3, 3);
  }

  @Test
  void countsAreSummedAndNotAveraged() {
    Push merged = RoundReducer.merge(List.of(
        push(0, 3, null, new SparseRows("t", new long[] {5, 6}, new float[] {4, 2, 1, 8, 7, 0}, 2)),
        push(1, 1, null, new SparseRows("t", new long[] {6}, new float[] {-4, 1, 1}, 2))));
    assertThat(merged.sparse().get(0).values()).containsExactly(3, 2, 1, 5, 8, 1);
    assertThat(merged.sparse().get(0).counts()).isEqualTo(2);
    assertThatThrownBy(() -> RoundReducer.merge(List.of(
        push(0, 1, null, new SparseRows("t", new long[] {5}, new float[3], 2)),
        push(1, 1, null, new SparseRows("t", new long[] {5}, new float[3])))))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("table 't'");
  }

  @Test
  void equalWeightsGiveTheSumTimesOneOverN() {
    Push merged = RoundReducer.merge(List.of(push(0, 32, new float[] {1}), push(1, 32, new float[] {2}),
        push(2, 32, null), push(3, 32, new float[] {5})));
    assertThat(merged.dense().toArray()).containsExactly((1 + 2 + 5) / 4f);
  }

  @Test
  void aSinglePushAndASingleOneWithExamplesComeBackBitForBit() {
    float[] g = {-0.0f, Float.MIN_VALUE, 1e-30f};
    Push only = push(2, 7, g, new SparseRows("t", new long[] {1}, new float[] {-0.0f}));
    assertThat(RoundReducer.merge(List.of(only))).isSameAs(only);
    Push merged = RoundReducer.merge(List.of(push(0, 0, new float[3]), only, push(3, 0, null)));
    assertThat(merged.dense()).isSameAs(only.dense());
    assertThat(merged.sparse()).isEqualTo(only.sparse());
    assertThat(merged.contributors()).extracting(Contributor::rank).containsExactly(0, 2, 3);
  }

  @Test
  void noExamplesAtAllGiveAnEmptyPush() {
    Push merged = RoundReducer.merge(List.of(push(0, 0, new float[] {1}), push(1, 0, new float[] {2})));
    assertThat(merged.dense()).isNull();
    assertThat(merged.sparse()).isEmpty();
    assertThat(merged.contributors()).hasSize(2);
    assertThat(RoundReducer.merge(List.of(push(0, 0, new float[] {1}))).dense()).isNull();
  }

  @Test
  void replicasOfOneRankBecomeOneContributor() {
    Push merged = RoundReducer.merge(List.of(push(4, 2, new float[] {1}), push(4, 6, new float[] {5})));
    assertThat(merged.contributors()).containsExactly(new Contributor(4, 1, 1, 8));
    assertThat(merged.dense().toArray()).containsExactly(4);
  }

  @Test
  void theLowestVersionAndTheStepAreKept() {
    Push a = new Push(List.of(new Contributor(0, 1, 1, 1)), 9, 40, DenseMemory.of(new float[] {1}), List.of());
    Push b = new Push(List.of(new Contributor(1, 1, 1, 1)), 9, 38, DenseMemory.of(new float[] {1}), List.of());
    assertThat(RoundReducer.merge(List.of(a, b)).version()).isEqualTo(38);
    assertThat(RoundReducer.merge(List.of(a, b)).step()).isEqualTo(9);
  }

  @Test
  void whatDoesNotFitTogetherIsRefused() {
    assertThatThrownBy(() -> RoundReducer.merge(List.of())).isInstanceOf(InvalidInput.class);
    assertThatThrownBy(() -> RoundReducer.merge(List.of(push(0, 1, new float[1]), push(1, 1, new float[2]))))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("1 and 2 elements");
    Push later = new Push(List.of(new Contributor(1, 1, 1, 1)), 1, 0, null, List.of());
    assertThatThrownBy(() -> RoundReducer.merge(List.of(push(0, 1, null), later)))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("steps 0 and 1");
    Push otherSequence = new Push(List.of(new Contributor(0, 1, 2, 1)), 0, 0, null, List.of());
    assertThatThrownBy(() -> RoundReducer.merge(List.of(push(0, 1, null), otherSequence)))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("trainer 0");
  }

  @Property(tries = 100)
  void orderOfArrivalDoesNotMatter(@ForAll @IntRange(min = 1, max = 6) int ranks, @ForAll long seed) {
    List<Push> pushes = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      LocalJob.Gradient g = LocalJob.gradient(seed, rank, 0);
      pushes.add(push(rank, g.weight(), g.dense(), g.sparse().toArray(SparseRows[]::new)));
    }
    Push ordered = RoundReducer.merge(pushes);
    Collections.shuffle(pushes, new Random(seed));
    Push shuffled = RoundReducer.merge(pushes);
    assertThat(shuffled).usingRecursiveComparison().isEqualTo(ordered);
  }

  private static Push push(int rank, double weight, float[] dense, SparseRows... sparse) {
    return new Push(List.of(new Contributor(rank, 1, 1, weight)), 0, 0, DenseMemory.of(dense), List.of(sparse));
  }

  /** The oracle is a plain sum of all rows, push after push. */
  @Property(tries = 100)
  void rowsThatAreSummedSomeAtATimeAreSummedInTheSameOrder(@ForAll @IntRange(min = 2, max = 5) int pushes,
      @ForAll @IntRange(min = 1, max = 7) int atATime, @ForAll @IntRange(min = 1, max = 3) int dim, @ForAll Random random) {
    List<Push> round = new ArrayList<>();
    Map<Long, float[]> expected = new LinkedHashMap<>();
    for (int r = 0; r < pushes; r++) {
      long[] ids = random.longs(0, 20).distinct().limit(1 + random.nextInt(15)).toArray();
      float[] values = new float[ids.length * dim];
      for (int i = 0; i < values.length; i++) {
        values[i] = random.nextFloat() - 0.5f;
        if (values[i] < -0.4f) {
          values[i] = -0.0f;
        }
      }
      round.add(push(r, 3, null, new SparseRows("t", ids, values)));
      for (int i = 0; i < ids.length; i++) {
        float[] sum = expected.get(ids[i]);
        boolean first = sum == null;
        sum = first ? new float[dim] : sum;
        for (int k = 0; k < dim; k++) {
          float part = (float) (3.0 / (3.0 * pushes)) * values[i * dim + k];
          sum[k] = first ? part : sum[k] + part;
        }
        expected.put(ids[i], sum);
      }
    }
    RowSum sum = RoundReducer.begin(round, table -> new RowRoom()).rows().get(0);
    int turns = 1;
    while (sum.advance(atATime)) {
      turns++;
    }
    int rows = round.stream().mapToInt(p -> p.sparse().get(0).ids().length).sum();
    assertThat(turns).isEqualTo((rows + atATime - 1) / atATime);
    for (SparseRows merged : List.of(sum.rows(), RoundReducer.merge(round).sparse().get(0))) {
      assertThat(merged.ids()).containsExactly(expected.keySet().stream().mapToLong(Long::longValue).toArray());
      for (int i = 0; i < merged.ids().length; i++) {
        assertThat(Arrays.copyOfRange(merged.values(), i * dim, (i + 1) * dim)).containsExactly(expected.get(merged.ids()[i]));
      }
    }
  }

  /** Sums lie in slabs; what is read over their borders is what was asked for, each row once. */
  @Test
  void aSumOfManyRowsIsReadFromAnyRowToAnyOther() {
    int size = 2 * RowRoom.SLAB_ROWS;
    int dim = 2;
    long[] ids = LongStream.range(0, size).map(i -> i * i).toArray();
    float[] values = new float[size * dim];
    for (int i = 0; i < values.length; i++) {
      values[i] = i;
    }
    SparseRows rows = new SparseRows("t", ids, values);
    RowSum sum = RoundReducer.begin(List.of(push(0, 1, null, rows), push(1, 1, null, rows)), table -> new RowRoom()).rows().get(0);
    SparseRows all = sum.rows();
    assertThat(all.ids()).containsExactly(ids);
    assertThat(all.values()).containsExactly(values);
    int slab = RowRoom.SLAB_ROWS;
    for (int[] range : new int[][] {{0, 10}, {5, slab}, {slab - 1, slab + 1}, {10, size - 10}, {slab, size}, {7, 7}, {0, size}}) {
      List<Long> read = new ArrayList<>();
      long cost = sum.read(range[0], range[1], (some, from, to) -> {
        for (int row = from; row < to; row++) {
          read.add(some.ids()[row]);
          assertThat(some.values()[row * dim + 1]).isEqualTo(2 * (float) Math.sqrt(some.ids()[row]) + 1);
        }
        return 10L * (to - from);
      });
      assertThat(read).isEqualTo(Arrays.stream(ids, range[0], range[1]).boxed().toList());
      assertThat(cost).isEqualTo(10L * (range[1] - range[0]));
    }
  }
}
