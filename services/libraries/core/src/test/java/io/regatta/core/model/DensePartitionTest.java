package io.regatta.core.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.model.DensePartition.Part;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class DensePartitionTest {

  private static List<DenseVariable> variables(int[]... shapes) {
    List<DenseVariable> out = new ArrayList<>();
    for (int[] shape : shapes) {
      out.add(new DenseVariable("v" + out.size(), Arrays.stream(shape).boxed().toList()));
    }
    return out;
  }

  private static List<Integer> sizes(List<DenseVariable> variables, int shards, int minBlock) {
    return DensePartition.of(variables, shards, minBlock).parts().stream().map(Part::size).toList();
  }

  /** Shapes and sizes of Paddle's own test of slice_variable, 10 servers. */
  @Test
  void cutsAsPaddlesTranspilerDoesWithBlocksOf1024() {
    List<DenseVariable> v = variables(new int[] {3, 5}, new int[] {1024}, new int[] {28, 784}, new int[] {8, 1020},
        new int[] {800, 10});
    assertThat(sizes(v, 10, 1024)).containsExactly(15, 1024,
        2352, 2352, 2352, 2352, 2352, 2352, 2352, 2352, 2352, 784,
        2040, 2040, 2040, 2040,
        1150, 1150, 1150, 1150, 1150, 1150, 1100);
  }

  /** The same, with Paddle's default block. */
  @Test
  void cutsAsPaddlesTranspilerDoesWithBlocksOf8192() {
    List<DenseVariable> v = variables(new int[] {3, 5}, new int[] {1024}, new int[] {28, 784}, new int[] {8, 1020},
        new int[] {800, 10}, new int[] {6, 33, 33, 33});
    assertThat(sizes(v, 10, DensePartition.DEFAULT_MIN_BLOCK)).containsExactly(15, 1024, 10976, 10976, 8160, 8000,
        35937, 35937, 35937, 35937, 35937, 35937);
  }

  @Test
  void dealsRoundRobinAcrossVariablesAndSaysWhatLiesWhere() {
    DensePartition p = DensePartition.of(variables(new int[] {5}, new int[] {4, 3}, new int[] {}), 2, 3);
    assertThat(p.describe()).containsExactly(
        "v0:block0:5 @ shard 0 [0..5)",
        "v1:block0:6 @ shard 1 [0..6)",
        "v1:block1:6 @ shard 0 [5..11)",
        "v2:block0:1 @ shard 1 [6..7)");
    assertThat(p.parts().get(2)).isEqualTo(new Part("v1", 1, 6, 11, 6, 0, 5));
    assertThat(p.sizeOf(0)).isEqualTo(11);
    assertThat(p.sizeOf(1)).isEqualTo(7);
    assertThat(p.numel()).isEqualTo(18);
  }

  @Test
  void shardsWithoutPartsAndModelsWithoutVariablesAreOrdinary() {
    DensePartition p = DensePartition.of(variables(new int[] {2}), 3, 8192);
    assertThat(p.sizeOf(2)).isZero();
    assertThat(p.slice(new float[] {1, 2}, 2)).isEmpty();
    assertThat(DensePartition.of(List.of(), 2, 8192).parts()).isEmpty();
  }

  @Test
  void theLargestVariableDoesNotOverflow() {
    DensePartition p = DensePartition.of(variables(new int[] {Integer.MAX_VALUE}), 7, 1);
    assertThat(p.parts()).hasSize(7);
    assertThat(p.parts().stream().mapToLong(Part::size).sum()).isEqualTo(Integer.MAX_VALUE);
  }

  @Test
  void wrongInputIsRefused() {
    assertThatThrownBy(() -> DensePartition.of(List.of(), 0, 1)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("shards is 0");
    assertThatThrownBy(() -> DensePartition.of(List.of(), 1, 0)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("min_block is 0");
    DensePartition p = DensePartition.of(variables(new int[] {4}), 1, 1);
    assertThatThrownBy(() -> p.slice(new float[3], 0)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("flat dense vector has 3 elements").hasMessageContaining("4");
    assertThatThrownBy(() -> p.merge(new float[5], 0, new float[4])).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("vector of shard 0 has 5 elements");
  }

  @Provide
  Arbitrary<List<DenseVariable>> models() {
    Arbitrary<int[]> shape = Arbitraries.integers().between(1, 9).array(int[].class).ofMinSize(0).ofMaxSize(4);
    return shape.list().ofMaxSize(8).map(shapes -> variables(shapes.toArray(int[][]::new)));
  }

  @Property(tries = 500)
  void everyElementLiesInExactlyOnePlace(@ForAll("models") List<DenseVariable> model,
      @ForAll @IntRange(min = 1, max = 9) int shards, @ForAll @IntRange(min = 1, max = 300) int minBlock) {
    DensePartition p = DensePartition.of(model, shards, minBlock);
    int flat = 0;
    int next = 0;
    int[] filled = new int[shards];
    for (DenseVariable v : model) {
      int offset = 0;
      int parts = 0;
      while (offset < v.numel()) {
        Part b = p.parts().get(next);
        assertThat(b).isEqualTo(new Part(v.name(), parts, offset, flat + offset, b.size(), next % shards,
            filled[next % shards]));
        filled[next % shards] += b.size();
        offset += b.size();
        next++;
        parts++;
      }
      assertThat(offset).isEqualTo(v.numel());
      assertThat(parts).isLessThanOrEqualTo(shards);
      flat += offset;
    }
    assertThat(p.parts()).hasSize(next);
    for (int s = 0; s < shards; s++) {
      int shard = s;
      assertThat(p.sizeOf(s)).isEqualTo(filled[s]);
      assertThat(p.partsOf(s)).isEqualTo(p.parts().stream().filter(b -> b.shard() == shard).toList());
    }
  }

  /** No shard exceeds the mean by more than the largest variable. */
  @Property(tries = 500)
  void wholeVariablesAreNotCutAndLieBalanced(@ForAll("models") List<DenseVariable> model,
      @ForAll @IntRange(min = 1, max = 9) int shards, @ForAll boolean apart) {
    Sharding sharding = apart ? new Sharding(2 * shards, 2, 1) : Sharding.common(shards);
    DensePartition p = DensePartition.whole(model, sharding);
    assertThat(p.parts()).extracting(Part::variable).containsExactlyElementsOf(model.stream().map(DenseVariable::name).toList());
    assertThat(p.parts()).extracting(Part::size).containsExactlyElementsOf(model.stream().map(DenseVariable::numel).toList());
    int[] filled = new int[sharding.shards()];
    int flat = 0;
    for (Part part : p.parts()) {
      assertThat(part).isEqualTo(new Part(part.variable(), 0, 0, flat, part.size(), part.shard(), filled[part.shard()]));
      assertThat(sharding.holdsDense(part.shard())).isTrue();
      filled[part.shard()] += part.size();
      flat += part.size();
    }
    int largest = model.stream().mapToInt(DenseVariable::numel).max().orElse(0);
    for (int s = 0; s < filled.length; s++) {
      assertThat(p.sizeOf(s)).isEqualTo(filled[s]);
      assertThat((double) filled[s]).isLessThanOrEqualTo(flat / (double) shards + largest);
    }
  }

  @Test
  void wholeVariablesGoFromTheLargestToTheEmptiestShard() {
    DensePartition p = DensePartition.whole(variables(new int[] {3, 5}, new int[] {4}, new int[] {4, 4}, new int[] {}), Sharding.common(2));
    assertThat(p.describe()).containsExactly(
        "v0:block0:15 @ shard 1 [0..15)",
        "v1:block0:4 @ shard 1 [15..19)",
        "v2:block0:16 @ shard 0 [0..16)",
        "v3:block0:1 @ shard 0 [16..17)");
    float[] flat = new float[p.numel()];
    for (int i = 0; i < flat.length; i++) {
      flat[i] = i + 1;
    }
    float[] back = new float[flat.length];
    p.merge(p.slice(flat, 1), 1, back);
    p.merge(p.slice(flat, 0), 0, back);
    assertThat(back).isEqualTo(flat);
  }

  @Property(tries = 500)
  void partsAreWholeRowsAndNoSmallerThanTheMinimumUnlessLast(@ForAll("models") List<DenseVariable> model,
      @ForAll @IntRange(min = 1, max = 9) int shards, @ForAll @IntRange(min = 1, max = 300) int minBlock) {
    List<Part> parts = DensePartition.of(model, shards, minBlock).parts();
    for (DenseVariable v : model) {
      int row = v.shape().size() < 2 ? 1 : v.numel() / v.shape().get(0);
      for (Part b : parts) {
        boolean last = b.variableOffset() + b.size() == v.numel();
        if (b.variable().equals(v.name())) {
          assertThat(b.size() % row).isZero();
          assertThat(b.size() >= minBlock || last).isTrue();
        }
      }
    }
  }

  @Property(tries = 500)
  void mergingTheSlicesGivesTheVectorBack(@ForAll("models") List<DenseVariable> model,
      @ForAll @IntRange(min = 1, max = 9) int shards, @ForAll @IntRange(min = 1, max = 300) int minBlock) {
    DensePartition p = DensePartition.of(model, shards, minBlock);
    float[] flat = new float[p.numel()];
    for (int i = 0; i < flat.length; i++) {
      flat[i] = i + 1;
    }
    float[] back = new float[flat.length];
    for (int s = shards - 1; s >= 0; s--) {
      p.merge(p.slice(flat, s), s, back);
    }
    assertThat(back).isEqualTo(flat);
  }
}
