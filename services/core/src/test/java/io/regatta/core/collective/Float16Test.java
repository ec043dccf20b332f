package io.regatta.core.collective;

import static org.assertj.core.api.Assertions.assertThat;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

/** Against the formats' definitions. */
class Float16Test {

  private static double defined(int bits, int exponentBits, int fractionBits) {
    int bias = (1 << exponentBits - 1) - 1;
    int exponent = bits >> fractionBits & (1 << exponentBits) - 1;
    double fraction = bits & (1 << fractionBits) - 1;
    double sign = bits >> exponentBits + fractionBits == 0 ? 1 : -1;
    if (exponent == (1 << exponentBits) - 1) {
      return fraction == 0 ? sign * Double.POSITIVE_INFINITY : Double.NaN;
    }
    return exponent == 0 ? sign * fraction * Math.pow(2, 1 - bias - fractionBits)
        : sign * (1 + fraction / (1 << fractionBits)) * Math.pow(2, exponent - bias);
  }

  @Test
  void every_value_is_what_the_format_says_and_comes_back() {
    for (int bits = 0; bits < 1 << 16; bits++) {
      float half = Float16.ofHalf((short) bits);
      float brain = Float16.ofBrain((short) bits);
      assertThat(Double.valueOf(half)).isEqualTo(Double.valueOf(defined(bits, 5, 10)));
      assertThat(Double.valueOf(brain)).isEqualTo(Double.valueOf(defined(bits, 8, 7)));
      assertThat(Float.isNaN(half) || Float16.half(half) == (short) bits).as("half %x", bits).isTrue();
      assertThat(Float.isNaN(brain) || Float16.brain(brain) == (short) bits).as("brain %x", bits).isTrue();
    }
    assertThat(Float16.ofHalf(Float16.half(Float.NaN))).isNaN();
    assertThat(Float16.ofBrain(Float16.brain(Float.intBitsToFloat(0x7f800001)))).isNaN();
  }

  @Property(tries = 2000)
  void a_value_goes_to_the_nearest_one_and_a_tie_to_the_even_one(@ForAll int bits) {
    float value = Float.intBitsToFloat(bits);
    if (!Float.isNaN(value)) {
      nearest(value, Float16.half(value), 5, 10, 65520);
      nearest(value, Float16.brain(value), 8, 7, defined(0x7f7f, 8, 7) + Math.pow(2, 119));
    }
  }

  private static void nearest(float value, short got, int exponentBits, int fractionBits, double overflow) {
    int magnitude = got & 0x7fff;
    double exact = Math.abs((double) value);
    double here = defined(magnitude, exponentBits, fractionBits);
    if (Double.isInfinite(here)) {
      assertThat(exact).isGreaterThanOrEqualTo(overflow);
      return;
    }
    double error = Math.abs(here - exact);
    double above = defined(magnitude + 1, exponentBits, fractionBits);
    double below = magnitude == 0 ? here : defined(magnitude - 1, exponentBits, fractionBits);
    for (double other : new double[] {above, below}) {
      if (other != here && !Double.isInfinite(other)) {
        double theirs = Math.abs(other - exact);
        assertThat(error < theirs || error == theirs && (magnitude & 1) == 0).as("%s as %x", value, got).isTrue();
      }
    }
  }
}
