package io.regatta.core.reduce;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.nio.DoubleBuffer;
import java.util.List;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class ElementwiseTest {

  @Property(tries = 300)
  void everyElementIsFoldedInTheOrderOfTheList(
      @ForAll @Size(min = 1, max = 9) List<@Size(value = 5) List<Double>> given, @ForAll Elementwise how) {
    double[] reduced = how.reduce(given.stream().map(ElementwiseTest::buffer).toList());
    for (int i = 0; i < 5; i++) {
      double expected = given.get(0).get(i);
      for (List<Double> more : given.subList(1, given.size())) {
        double b = more.get(i);
        expected = switch (how) {
          case SUM -> expected + b;
          case MAX -> Math.max(expected, b);
          case MIN -> Math.min(expected, b);
        };
      }
      assertThat(Double.doubleToRawLongBits(reduced[i])).isEqualTo(Double.doubleToRawLongBits(expected));
    }
  }

  private static DoubleBuffer buffer(List<Double> values) {
    return DoubleBuffer.wrap(values.stream().mapToDouble(v -> v).toArray());
  }

  @Example
  void nanAndZerosGoAsJavaOrdersThem() {
    List<DoubleBuffer> given = List.of(DoubleBuffer.wrap(new double[] {0.0, 1, Double.NaN}),
        DoubleBuffer.wrap(new double[] {-0.0, Double.NaN, 2}));
    assertThat(Elementwise.MIN.reduce(given)).containsExactly(-0.0, Double.NaN, Double.NaN);
    assertThat(Elementwise.MAX.reduce(given)).containsExactly(0.0, Double.NaN, Double.NaN);
  }

  @Example
  void refusesOtherLengthsAndWords() {
    assertThatThrownBy(() -> Elementwise.SUM.reduce(List.of(DoubleBuffer.allocate(2), DoubleBuffer.allocate(3))))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("3 values, another 2");
    assertThatThrownBy(() -> Elementwise.ofWord("mean")).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("sum, max, min");
    assertThat(Elementwise.ofWord("max")).isEqualTo(Elementwise.MAX);
  }

  @Property(tries = 50)
  void slicesPutTogetherAreTheWhole(@ForAll @IntRange(max = 3 * SlicedReduce.SLICE + 1) int length) {
    double[] values = new double[length];
    for (int i = 0; i < length; i++) {
      values[i] = i + 0.5;
    }
    SlicedReduce reduce = new SlicedReduce("k", values);
    assertThat(reduce.key()).isEqualTo("k");
    int slices = 0;
    for (; !reduce.isDone(); slices++) {
      assertThat(reduce.slice().length).isLessThanOrEqualTo(SlicedReduce.SLICE);
      reduce.answered(reduce.slice(), List.of(0));
    }
    assertThat(slices).isEqualTo(Math.max(1, (length + SlicedReduce.SLICE - 1) / SlicedReduce.SLICE));
    assertThat(reduce.result()).containsExactly(values);
  }
}
