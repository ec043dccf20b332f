package io.regatta.core.collective;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.collective.BucketPlan.Bucket;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.model.DenseVariable;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class BucketPlanTest {

  private static List<DenseVariable> variables(List<Integer> sizes) {
    List<DenseVariable> variables = new ArrayList<>();
    sizes.forEach(size -> variables.add(new DenseVariable("v" + variables.size(), List.of(size))));
    return variables;
  }

  /** Whole variables, from the end of the flat vector to its beginning; only the last bucket and its neighbour are not full. */
  @Property(tries = 300)
  void bucketsAreTheFlatVectorFromItsEnd(@ForAll @Size(min = 1, max = 40) List<@IntRange(min = 1, max = 50) Integer> sizes,
      @ForAll @IntRange(min = 1, max = 400) int bucketBytes, @ForAll @IntRange(max = 200) int lastBytes) {
    List<Bucket> buckets = BucketPlan.of(variables(sizes), bucketBytes, lastBytes).buckets();
    int[] starts = new int[sizes.size() + 1];
    for (int v = 0; v < sizes.size(); v++) {
      starts[v + 1] = starts[v] + sizes.get(v);
    }
    int to = starts[sizes.size()];
    for (int b = 0; b < buckets.size(); b++) {
      Bucket bucket = buckets.get(b);
      assertThat(bucket.to()).isEqualTo(to);
      assertThat(bucket.from()).isEqualTo(starts[bucket.variable()]).isLessThan(to);
      to = bucket.from();
      if (b < buckets.size() - 2) {
        assertThat(bucket.size() * 4).isGreaterThanOrEqualTo(bucketBytes);
      }
    }
    assertThat(to).isZero();
    Bucket last = buckets.get(buckets.size() - 1);
    if (sizes.get(0) * 4 <= lastBytes) {
      assertThat(last.size() * 4).isLessThanOrEqualTo(lastBytes);
    }
  }

  /** Its 161 gradients: 53 convolutions, each with two of its batch normalisation, and a full layer. */
  @Test
  void resNet50NeedsAtMostSixExchanges() {
    List<Integer> sizes = new ArrayList<>(List.of(64 * 3 * 49, 64, 64));
    int in = 64;
    int[] bottlenecks = {3, 4, 6, 3};
    for (int stage = 0; stage < 4; stage++) {
      int width = 64 << stage;
      for (int i = 0; i < bottlenecks[stage]; i++) {
        sizes.addAll(List.of(width * in, width, width, width * width * 9, width, width, 4 * width * width, 4 * width, 4 * width));
        if (i == 0) {
          sizes.addAll(List.of(4 * width * in, 4 * width, 4 * width));
        }
        in = 4 * width;
      }
    }
    sizes.addAll(List.of(2048 * 1000, 1000));
    assertThat(sizes).hasSize(161);
    assertThat(sizes.stream().mapToInt(Integer::intValue).sum()).isEqualTo(25_557_032);
    BucketPlan plan = BucketPlan.of(variables(sizes), BucketPlan.DEFAULT_BUCKET_BYTES, BucketPlan.DEFAULT_LAST_BYTES);
    assertThat(plan.buckets()).hasSizeBetween(4, 6);
    assertThat(plan.buckets().get(plan.buckets().size() - 1).size() * 4).isLessThanOrEqualTo(1 << 20);
    assertThat(plan.fullWith(0)).isEqualTo(plan.buckets().get(plan.buckets().size() - 1));
    assertThat(plan.fullWith(160)).isNull();
  }

  @Test
  void nothingToTrainIsRefused() {
    assertThatThrownBy(() -> BucketPlan.of(List.of(), 1, 0)).isInstanceOf(InvalidInput.class).hasMessageContaining("variable");
  }
}
