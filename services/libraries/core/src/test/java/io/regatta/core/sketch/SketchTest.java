package io.regatta.core.sketch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.hash.Mix64;
import java.math.BigDecimal;
import java.math.MathContext;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Oracles: sorted arrays, a hash map, sums of big decimals. */
class SketchTest {

  private static double[] values(String kind, int n) {
    Random random = new Random(1);
    return IntStream.range(0, n).mapToDouble(i -> switch (kind) {
      case "uniform" -> random.nextDouble();
      case "sorted" -> i;
      case "reversed" -> -i;
      case "two" -> random.nextInt(3) == 0 ? 1 : 0;
      default -> Math.exp(3 * random.nextGaussian());
    }).toArray();
  }

  @ParameterizedTest
  @ValueSource(strings = {"uniform", "sorted", "reversed", "two", "lognormal"})
  void quantiles_are_within_the_error(String kind) {
    int k = 1 << 10;
    double[] values = values(kind, 200_000);
    QuantileSketch sketch = new QuantileSketch(k, 5);
    QuantileSketch merged = new QuantileSketch(k, 6);
    for (int chunk = 0; chunk < 20; chunk++) {
      QuantileSketch part = new QuantileSketch(k, chunk);
      for (int i = chunk * 10_000; i < (chunk + 1) * 10_000; i++) {
        sketch.add(values[i]);
        part.add(values[i]);
      }
      merged.merge(part);
    }
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    for (QuantileSketch each : List.of(sketch, merged)) {
      assertThat(each.count()).isEqualTo(values.length);
      assertThat(each.isExact()).isFalse();
      for (int i = 1; i < 100; i++) {
        double found = each.quantile(i / 100.0);
        double below = share(sorted, Math.nextDown(found));
        double upTo = share(sorted, found);
        assertThat(i / 100.0).isBetween(below - 2 * QuantileSketch.error(k), upTo + 2 * QuantileSketch.error(k));
        assertThat(each.rank(found)).isCloseTo(upTo, within(2 * QuantileSketch.error(k)));
      }
    }
  }

  /** Returns the share of the values up to this one, by binary search. */
  private static double share(double[] sorted, double value) {
    int low = 0;
    for (int high = sorted.length; low < high; ) {
      int middle = low + high >>> 1;
      if (sorted[middle] <= value) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return (double) low / sorted.length;
  }

  @Test
  void few_values_are_exact_also_after_merges() {
    double[] values = values("lognormal", 1000);
    QuantileSketch sketch = new QuantileSketch(1000, 1);
    for (int part = 0; part < 10; part++) {
      QuantileSketch of = new QuantileSketch(1000, part);
      Arrays.stream(values, part * 100, (part + 1) * 100).forEach(of::add);
      sketch.merge(of);
    }
    double[] sorted = values.clone();
    Arrays.sort(sorted);
    assertThat(sketch.isExact()).isTrue();
    for (int i = 1; i <= 1000; i++) {
      assertThat(sketch.quantile(i / 1000.0)).isEqualTo(sorted[i - 1]);
    }
    assertThat(sketch.rank(sorted[499])).isEqualTo(0.5);
    sketch.add(1);
    assertThat(sketch.isExact()).isFalse();
  }

  @Test
  void bounds_increase_and_exclude_the_least_value() {
    QuantileSketch sketch = new QuantileSketch(100, 1);
    assertThat(sketch.bounds(4)).isEmpty();
    assertThat(sketch.quantile(0.5)).isNaN();
    for (double value : new double[] {0, 0, 0, 0, 0, 1, 1, 2, 3, 4}) {
      sketch.add(value);
    }
    assertThat(sketch.bounds(10)).containsExactly(1.0, 2.0, 3.0); // at 0.6 (and 0.7), 0.8 and 0.9
    assertThat(sketch.bounds(2)).isEmpty();
    assertThatThrownBy(() -> new QuantileSketch(1, 0)).isInstanceOf(InvalidInput.class);
    assertThatThrownBy(() -> sketch.merge(new QuantileSketch(50, 0))).isInstanceOf(InvalidInput.class);
  }

  @Test
  void the_stated_error_is_that_of_the_paper_in_practice() {
    assertThat(QuantileSketch.error(1 << 14)).isLessThan(2e-4);
  }

  @Test
  void moments_equal_exact_sums() {
    double[] values = Arrays.stream(values("lognormal", 3000)).map(value -> value + 1e6).toArray();
    Moments merged = new Moments();
    for (int part = 0; part < 4; part++) {
      Moments of = new Moments();
      Arrays.stream(values, part * 700, Math.min(3000, (part + 1) * 700 + (part == 3 ? 200 : 0))).forEach(of::add);
      merged.merge(of);
    }
    merged.merge(new Moments());
    BigDecimal sum = BigDecimal.ZERO;
    for (double value : values) {
      sum = sum.add(new BigDecimal(value));
    }
    BigDecimal mean = sum.divide(BigDecimal.valueOf(3000), MathContext.DECIMAL128);
    BigDecimal squares = BigDecimal.ZERO;
    for (double value : values) {
      squares = squares.add(new BigDecimal(value).subtract(mean).pow(2), MathContext.DECIMAL128);
    }
    double deviation = Math.sqrt(squares.doubleValue() / 3000);
    assertThat(merged.count()).isEqualTo(3000);
    assertThat(merged.mean()).isCloseTo(mean.doubleValue(), within(1e-12 * mean.doubleValue()));
    assertThat(merged.deviation()).isCloseTo(deviation, within(1e-10 * deviation));
    assertThat(merged.min()).isEqualTo(Arrays.stream(values).min().orElseThrow());
    assertThat(merged.max()).isEqualTo(Arrays.stream(values).max().orElseThrow());
    assertThat(new Moments().deviation()).isZero();
  }

  @Test
  void counts_equal_those_of_a_map() {
    Random random = new Random(2);
    Map<String, Long> oracle = new HashMap<>();
    ValueCounts merged = new ValueCounts(1000);
    for (int part = 0; part < 5; part++) {
      ValueCounts counts = new ValueCounts(1000);
      for (int i = 0; i < 2000; i++) {
        String text = "v" + (int) Math.abs(random.nextGaussian() * 100);
        oracle.merge(text, 1L, Long::sum);
        add(counts, text);
      }
      merged.merge(counts);
    }
    assertThat(merged.isExact()).isTrue();
    assertThat(merged.distinct()).isEqualTo(oracle.size());
    List<ValueCounts.Counted> frequent = merged.atLeast(30);
    assertThat(frequent).hasSize((int) oracle.values().stream().filter(count -> count >= 30).count());
    assertThat(frequent).allSatisfy(each ->
        assertThat(each.count()).isEqualTo(oracle.get(new String(each.text(), StandardCharsets.UTF_8))));
    assertThat(frequent).extracting(ValueCounts.Counted::count).isSortedAccordingTo((a, b) -> Long.compare(b, a));
  }

  @Test
  void too_many_values_have_no_counts() {
    ValueCounts few = new ValueCounts(2);
    ValueCounts more = new ValueCounts(2);
    add(few, "a");
    add(few, "b");
    add(more, "c");
    assertThat(few.isExact()).isTrue();
    more.merge(few);
    assertThat(more.isExact()).isFalse();
    assertThat(more.atLeast(1)).isEmpty();
    few.merge(more);
    assertThat(few.isExact()).isFalse();
    add(few, "a");
    assertThat(few.distinct()).isZero();
  }

  private static void add(ValueCounts counts, String text) {
    byte[] bytes = ("-" + text).getBytes(StandardCharsets.UTF_8);
    counts.add(bytes, 1, bytes.length, Mix64.text(text));
  }

  @Test
  void distinct_values_are_exact_up_to_a_limit_and_then_within_four_standard_errors() {
    for (int n : new int[] {0, 1, DistinctCount.EXACT_MAX, DistinctCount.EXACT_MAX + 1, 5000, 12_000, 20_000, 300_000, 2_000_000}) {
      DistinctCount all = new DistinctCount();
      DistinctCount merged = new DistinctCount();
      for (int part = 0; part < 4; part++) {
        DistinctCount of = new DistinctCount();
        for (int i = part * n / 4; i < n; i++) { // parts overlap
          of.add(Mix64.mix(i + 1));
        }
        merged.merge(of);
      }
      for (int i = 0; i < n; i++) {
        all.add(Mix64.mix(i + 1));
      }
      assertThat(all.isExact()).isEqualTo(n <= DistinctCount.EXACT_MAX);
      assertThat((double) all.count()).as("%d", n).isCloseTo(n, within(all.isExact() ? 0 : 4 * DistinctCount.ERROR * n));
      assertThat(merged.count()).isEqualTo(all.count());
    }
  }

  @Test
  void the_share_of_greater_pairs_is_the_auc() {
    Random random = new Random(3);
    QuantileSketch positive = new QuantileSketch(1 << 10, 1);
    QuantileSketch negative = new QuantileSketch(1 << 10, 2);
    assertThat(positive.greater(negative)).isNaN();
    double pairs = 0;
    double[] xs = new double[900];
    double[] ys = new double[700];
    for (int i = 0; i < xs.length; i++) {
      xs[i] = random.nextInt(20) + 2;
      positive.add(xs[i]);
    }
    for (int i = 0; i < ys.length; i++) {
      ys[i] = random.nextInt(20);
      negative.add(ys[i]);
    }
    for (double x : xs) {
      for (double y : ys) {
        pairs += x > y ? 1 : x == y ? 0.5 : 0;
      }
    }
    assertThat(positive.greater(negative)).isCloseTo(pairs / (xs.length * ys.length), within(1e-12));
    assertThat(negative.greater(positive)).isCloseTo(1 - pairs / (xs.length * ys.length), within(1e-12));
  }
}
