package io.regatta.core.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.Random;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** Sums against whole numbers of any size. */
class FixedPointSumTest {

  private static final int UNIT_BITS = 30;
  private static final double LARGEST_LOSS = 16.118_095_650_958_32;

  private static FixedPointSum of(double value) {
    FixedPointSum sum = new FixedPointSum();
    sum.add(value);
    return sum;
  }

  /** Doubled until it stands for the losses of 2^34 examples, each the largest that there is. */
  @Test
  void holdsTheLossesOfManyBillionExamples() {
    FixedPointSum sum = of(LARGEST_LOSS);
    double one = sum.value();
    for (int doubling = 1; doubling <= 34; doubling++) {
      FixedPointSum half = new FixedPointSum();
      half.add(sum);
      sum.add(half);
      assertThat(sum.value()).isEqualTo(one * (1L << doubling));
    }
  }

  @Property(tries = 200)
  void isTheExactSumOfTheRoundedNumbers(@ForAll long seed) {
    Random random = new Random(seed);
    FixedPointSum sum = new FixedPointSum();
    FixedPointSum rest = new FixedPointSum();
    BigInteger units = BigInteger.ZERO;
    for (int i = 0; i < 50; i++) {
      double value = Math.scalb(random.nextDouble(), random.nextInt(33));
      (random.nextBoolean() ? sum : rest).add(value);
      units = units.add(BigInteger.valueOf(Math.round(value * (1L << UNIT_BITS))));
    }
    double[] written = new double[2 * FixedPointSum.PARTS];
    sum.write(written, 1);
    double[] others = new double[FixedPointSum.PARTS];
    rest.write(others, 0);
    FixedPointSum read = of(5);
    read.read((long) (written[1] + others[0]), (long) (written[2] + others[1]));
    sum.add(rest);
    double expected = new BigDecimal(units).doubleValue() / (1L << UNIT_BITS);
    assertThat(sum.value()).isCloseTo(expected, org.assertj.core.data.Offset.offset(Math.ulp(expected)));
    assertThat(read.value()).isEqualTo(sum.value());
    sum.reset();
    assertThat(sum.value()).isZero();
  }

  @Test
  void refusesWhatItCannotHold() {
    FixedPointSum sum = of(1);
    assertThatThrownBy(() -> sum.read(1L << 54, 0)).isInstanceOf(ArithmeticException.class)
        .hasMessageContaining("sum of metrics");
  }
}
