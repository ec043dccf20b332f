package io.regatta.core.init;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.model.SparsePartition;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class InitializerSpecTest {

  private static final int ROWS = 20_000;
  private static final int DIM = 10;

  private static float[] row(InitializerSpec spec, long seed, String table, long id, int dim) {
    float[] out = new float[dim];
    spec.fill(seed, table, id, out, 0, dim);
    return out;
  }

  /** Rows of consecutive ids, as a table is filled: the hardest case for independence. */
  private static float[] rows(InitializerSpec spec) {
    float[] out = new float[ROWS * DIM];
    for (int id = 0; id < ROWS; id++) {
      spec.fill(42, "emb", id, out, id * DIM, DIM);
    }
    return out;
  }

  /** Values that another program computed from the formulas, as a client of another make would. */
  @Test
  void givesTheValuesOfAnotherProgram() {
    assertThat(row(InitializerSpec.uniform(-1, 1), 1, "emb", 77, 4))
        .containsExactly(-0.52929777f, -0.82202983f, 0.52109331f, 0.0057011368f);
    assertThat(row(InitializerSpec.normal(0, 1), 1, "emb", 77, 3)).containsExactly(new float[] {0.62103039f, 0.38858497f, -1.6905255f},
        within(1e-7f));
    assertThat(SparsePartition.shardOf(77, 3)).isEqualTo(2);
    assertThat(SparsePartition.shardOf(0, 2)).isEqualTo(1);
    assertThat(IntStream.range(0, 8).map(id -> SparsePartition.shardOf(id, 4))).containsExactly(3, 2, 0, 1, 1, 3, 0, 3);
  }

  private static double moment(float[] x, double centre, int power) {
    double sum = 0;
    for (float v : x) {
      sum += Math.pow(v - centre, power);
    }
    return sum / x.length;
  }

  private static double correlation(float[] x, int lag) {
    double mean = moment(x, 0, 1);
    double sum = 0;
    for (int i = lag; i < x.length; i++) {
      sum += (x[i] - mean) * (x[i - lag] - mean);
    }
    return sum / (x.length - lag) / moment(x, mean, 2);
  }

  /** Computed by a separate program from the definition. A change would silently alter every resumed or compared run. */
  @Test
  void valuesNeverChange() {
    InitializerSpec uniform = InitializerSpec.uniform(-0.5f, 0.5f);
    assertThat(row(uniform, 42, "wide", 7, 3)).containsExactly(-0x1.330beap-3f, 0x1.f2034ep-2f, -0x1.5effacp-6f);
    assertThat(row(uniform, 42, "wide", -7, 3)).containsExactly(0x1.9a8a94p-3f, -0x1.7d016ap-3f, 0x1.ec9496p-3f);
    InitializerSpec normal = InitializerSpec.normal(1, 0.5f);
    assertThat(row(normal, 42, "wide", 7, 3)).containsExactly(0x1.76638ep+0f, 0x1.eba0fap-1f, 0x1.7fe938p+0f);
    assertThat(row(normal, 0, "deep", 0, 3)).containsExactly(0x1.71769ap+0f, 0x1.8656fep-1f, 0x1.a577a8p+0f);
  }

  @Test
  void uniformHasTheMomentsOfTheUniformDistributionAndStaysInBounds() {
    float[] x = rows(InitializerSpec.uniform(-2, 4));
    assertThat(moment(x, 0, 1)).isCloseTo(1, within(0.02));
    assertThat(moment(x, 1, 2)).isCloseTo(3, within(0.03));
    assertThat(moment(x, 1, 4)).isCloseTo(81 / 5.0, within(0.2));
    int[] cells = new int[60];
    for (float v : x) {
      assertThat(v).isBetween(-2f, 4f);
      cells[Math.min(59, (int) ((v + 2) * 10))]++;
    }
    double expected = x.length / 60.0;
    double chiSquare = 0;
    for (int n : cells) {
      chiSquare += (n - expected) * (n - expected) / expected;
    }
    assertThat(chiSquare).isLessThan(100); // 59 degrees of freedom: probability of more is 7·10^-4
  }

  @Test
  void normalHasTheMomentsOfTheNormalDistribution() {
    float[] x = rows(InitializerSpec.normal(3, 2));
    assertThat(moment(x, 0, 1)).isCloseTo(3, within(0.02));
    assertThat(moment(x, 3, 2)).isCloseTo(4, within(0.06));
    assertThat(moment(x, 3, 3)).isCloseTo(0, within(0.3));
    assertThat(moment(x, 3, 4)).isCloseTo(48, within(2.0));
    int within1 = 0;
    for (float v : x) {
      within1 += Math.abs(v - 3) < 2 ? 1 : 0;
    }
    assertThat(within1 / (double) x.length).isCloseTo(0.6827, within(0.004));
  }

  @Test
  void neighboursWithinARowAndFromRowToRowAreUncorrelated() {
    for (InitializerSpec spec : new InitializerSpec[] {InitializerSpec.uniform(-1, 1), InitializerSpec.normal(0, 1)}) {
      float[] x = rows(spec);
      for (int lag : new int[] {1, 2, DIM - 1, DIM, 2 * DIM}) {
        assertThat(correlation(x, lag)).as("lag %d", lag).isCloseTo(0, within(0.01));
      }
    }
  }

  @Property(tries = 200)
  void aRowDependsOnNothingButSeedTableIdAndPosition(@ForAll long seed, @ForAll long id,
      @ForAll InitializerSpec.Kind kind, @ForAll @IntRange(min = 1, max = 20) int dim,
      @ForAll @IntRange(max = 9) int off) {
    InitializerSpec spec = new InitializerSpec(kind, 0.25f, 0.75f);
    float[] once = row(spec, seed, "emb", id, dim);
    row(spec, seed, "other", id + 1, 7); // others in between
    float[] buffer = new float[off + dim + 1];
    spec.fill(seed, "emb", id, buffer, off, dim);
    for (int i = 0; i < dim; i++) {
      assertThat(buffer[off + i]).isEqualTo(once[i]);
    }
    assertThat(buffer[off + dim]).isZero();
    float[] longer = row(spec, seed, "emb", id, dim + 3);
    assertThat(longer).startsWith(once);
    if (kind != InitializerSpec.Kind.CONSTANT) {
      assertThat(row(spec, seed + 1, "emb", id, dim)).isNotEqualTo(once);
      assertThat(row(spec, seed, "emc", id, dim)).isNotEqualTo(once);
      assertThat(row(spec, seed, "emb", id + 1, dim)).isNotEqualTo(once);
    }
  }

  @Test
  void constantsAndNoSpreadAtAll() {
    assertThat(row(InitializerSpec.zeros(), 1, "emb", 1, 2)).containsExactly(0, 0);
    assertThat(row(InitializerSpec.uniform(0.5f, 0.5f), 1, "emb", 1, 2)).containsExactly(0.5f, 0.5f);
    assertThat(row(InitializerSpec.normal(-1, 0), 1, "emb", 1, 3)).containsExactly(-1, -1, -1);
  }

  @Test
  void wrongBoundsAreRefused() {
    assertThatThrownBy(() -> InitializerSpec.uniform(1, 0)).isInstanceOf(InvalidInput.class).hasMessageContaining("swap");
    assertThatThrownBy(() -> InitializerSpec.normal(0, -1)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("deviation -1.0");
    assertThatThrownBy(() -> InitializerSpec.normal(Float.NaN, 1)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("finite");
  }
}
