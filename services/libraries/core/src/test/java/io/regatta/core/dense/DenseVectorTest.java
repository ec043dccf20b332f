package io.regatta.core.dense;

import static io.regatta.core.dense.DenseValues.BLOCK;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.model.ParameterHash;
import io.regatta.core.optim.OptimizerSpec;
import io.regatta.core.optim.TestRule;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

/** A vector in blocks is one whole array, and a snapshot is a copy of it. */
class DenseVectorTest {

  private static final float LR = 0.05f;

  private final BlockPool pool = new BlockPool();

  {
    pool.limit(1000);
  }

  private static float[] gaussian(Random random, int n) {
    float[] out = new float[n];
    for (int i = 0; i < n; i++) {
      out[i] = (float) random.nextGaussian();
    }
    return out;
  }

  private DenseVector vector(float[] initial, OptimizerSpec spec) {
    return new DenseVector(DenseMemory.of(initial), spec, List.of(), pool);
  }

  private static void update(DenseVector vector, float[] gradient, long updates) {
    DenseValues g = DenseMemory.of(gradient);
    DenseUpdate update = vector.update(LR, updates);
    for (int b = 0; b < g.blocks(); b++) {
      update.apply(0, b, g.block(b));
    }
  }

  @Provide
  Arbitrary<String> rules() {
    return Arbitraries.of(TestRule.names());
  }

  @Property(tries = 60)
  void updatesInBlocksAreThoseOfAWholeArrayBitForBit(@ForAll("rules") String rule, @ForAll @IntRange(max = 3 * BLOCK) int n,
      @ForAll long seed) {
    TestRule o = TestRule.of(rule, Map.of(), 0.01f, 1);
    Random random = new Random(seed);
    float[] w = gaussian(random, n);
    DenseVector vector = vector(w, o.spec());
    float[][] slots = o.slots(n);
    for (int t = 1; t <= 3; t++) {
      float[] g = gaussian(random, n);
      o.applyWhole(w, slots, g, LR, t);
      update(vector, g, t);
    }
    assertThat(vector.snapshot().toArray()).isEqualTo(w);
    assertThat(vector.digest("v", 0, 0, n)).isEqualTo(ParameterHash.dense("v", 0, w, 0, n));
  }

  /** Snapshots are taken, read in part and released while the vector changes; each stays what the vector was. */
  @Property(tries = 100)
  void aSnapshotStaysAsItWasUntilItIsReleased(@ForAll long seed, @ForAll @IntRange(max = 3 * BLOCK) int n) {
    Random random = new Random(seed);
    float[] now = gaussian(random, n);
    DenseVector vector = vector(now, OptimizerSpec.sgd(LR));
    List<DenseValues> open = new ArrayList<>();
    List<float[]> expected = new ArrayList<>();
    List<Integer> released = new ArrayList<>();
    for (int i = 0; i < 30; i++) {
      int s = open.isEmpty() ? -1 : random.nextInt(open.size());
      switch (random.nextInt(4)) {
        case 0 -> {
          open.add(vector.snapshot());
          expected.add(now.clone());
          released.add(0);
        }
        case 1 -> {
          float[] g = gaussian(random, n);
          update(vector, g, i + 1);
          TestRule.of(OptimizerSpec.sgd(LR)).applyWhole(now, new float[0][], g, LR, i + 1);
        }
        case 2 -> {
          if (s >= 0) {
            released.set(s, Math.max(released.get(s), random.nextInt(n + 1)));
            open.get(s).releaseUntil(released.get(s));
          }
        }
        default -> {
          if (s >= 0) {
            open.get(s).release();
            open.get(s).release();
            open.remove(s);
            expected.remove(s);
            released.remove(s);
          }
        }
      }
      for (int k = 0; k < open.size(); k++) {
        for (int b = (released.get(k) + BLOCK - 1) / BLOCK; b < open.get(k).blocks(); b++) {
          assertThat(Arrays.copyOf(open.get(k).block(b), open.get(k).length(b)))
              .isEqualTo(Arrays.copyOfRange(expected.get(k), b * BLOCK, b * BLOCK + open.get(k).length(b)));
        }
      }
    }
    assertThat(vector.snapshot().toArray()).isEqualTo(now);
  }

  @Test
  void onlyABlockThatASnapshotNeedsIsCopiedAndItsMemoryIsUsedAgain() {
    int blocks = 4;
    float[] g = new float[blocks * BLOCK];
    DenseVector vector = vector(new float[blocks * BLOCK], OptimizerSpec.sgd(1));
    DenseValues half = vector.snapshot();
    float[] first = half.block(0);
    float[] last = half.block(3);
    half.releaseUntil(2 * BLOCK);
    update(vector, g, 1);
    assertThat(vector.snapshot().block(0)).as("read, so written where it lies").isSameAs(first);
    assertThat(vector.snapshot().block(3)).isNotSameAs(last);
    half.release();
    assertThat(pool.size()).as("the two blocks that were needed").isEqualTo(2);
  }
}
