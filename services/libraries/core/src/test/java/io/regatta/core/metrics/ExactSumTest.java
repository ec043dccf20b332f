package io.regatta.core.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.math.BigDecimal;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** Sums against decimals, which are exact and rounded once. */
class ExactSumTest {

  private static ExactSum of(double... values) {
    ExactSum sum = new ExactSum();
    for (double value : values) {
      sum.add(value);
    }
    return sum;
  }

  @Property(tries = 200)
  void isTheDecimalSum_howeverItIsGrouped(@ForAll long seed) {
    Random random = new Random(seed);
    ExactSum sum = new ExactSum();
    ExactSum other = new ExactSum();
    BigDecimal expected = BigDecimal.ZERO;
    for (int i = 0; i < 100; i++) {
      double value = Math.abs(Double.longBitsToDouble(random.nextLong()));
      if (Double.isFinite(value)) {
        (random.nextBoolean() ? sum : other).add(value);
        expected = expected.add(new BigDecimal(value));
      }
    }
    double[] written = new double[ExactSum.PARTS + 1];
    double[] others = new double[ExactSum.PARTS + 1];
    sum.write(written, 1);
    other.write(others, 1);
    for (int i = 0; i < written.length; i++) {
      written[i] += others[i];
    }
    ExactSum read = of(7);
    read.read(written, 1);
    sum.add(other);
    assertThat(sum.value()).isEqualTo(expected.doubleValue());
    assertThat(read.value()).isEqualTo(expected.doubleValue());
  }

  @Test
  void holdsTheSmallestAndTheGreatestDoubleExactly() {
    assertThat(of(Double.MIN_VALUE).value()).isEqualTo(Double.MIN_VALUE);
    assertThat(of(Double.MIN_NORMAL, Double.MIN_VALUE).value()).isEqualTo(Double.MIN_NORMAL + Double.MIN_VALUE);
    assertThat(of(Double.MAX_VALUE, Double.MIN_VALUE).value()).isEqualTo(Double.MAX_VALUE);
    ExactSum small = of(Double.MAX_VALUE, Double.MIN_VALUE);
    double[] limbs = new double[ExactSum.PARTS];
    small.write(limbs, 0);
    assertThat(limbs[0]).as("its lowest bit").isEqualTo(1);
  }

  /** 2^-1021 - 2^-1074 has 53 bits set: doubled again and again they pass through every limb. */
  @Test
  void addedToItselfItIsDoubled() {
    double value = Math.nextDown(0x1p-1021);
    ExactSum sum = of(value);
    for (int exponent = 1; exponent < 2040; exponent++) {
      sum.add(sum);
      assertThat(sum.value()).isEqualTo(Math.scalb(value, exponent));
    }
  }

  @Test
  void refusesWhatIsNoSum() {
    assertThatThrownBy(() -> of(Double.POSITIVE_INFINITY)).isInstanceOf(IllegalArgumentException.class);
    assertThatThrownBy(() -> of(Double.NaN)).isInstanceOf(IllegalArgumentException.class);
    for (double limb : new double[] {0.5, -1, Double.NaN}) {
      double[] limbs = new double[ExactSum.PARTS];
      limbs[3] = limb;
      assertThatThrownBy(() -> of().read(limbs, 0)).isInstanceOf(InvalidInput.class).hasMessageContaining("exact sum");
    }
    double[] tooLarge = new double[ExactSum.PARTS];
    tooLarge[ExactSum.PARTS - 1] = 0x1p32;
    assertThatThrownBy(() -> of().read(tooLarge, 0)).isInstanceOf(InvalidInput.class).hasMessageContaining("larger");
  }

  @Test
  void readingReplacesWhatItHeld() {
    double[] five = new double[ExactSum.PARTS];
    of(5).write(five, 0);
    ExactSum sum = of(7);
    sum.read(five, 0);
    assertThat(sum.value()).isEqualTo(5);
  }
}
