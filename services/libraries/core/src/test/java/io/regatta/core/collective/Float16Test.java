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

  /** As Giesen has it, and as it was here before it did without branches. */
  private static short halfByCases(float value) {
    int bits = Float.floatToRawIntBits(value);
    int sign = bits >>> 16 & 0x8000;
    int magnitude = bits & 0x7fff_ffff;
    if (magnitude >= 0x4780_0000) { // 65536 and more, infinity, NaN
      return (short) (sign | (magnitude > 0x7f80_0000 ? 0x7e00 : 0x7c00));
    }
    if (magnitude < 0x3880_0000) { // below 2^-14
      return (short) (sign | Float.floatToRawIntBits(Float.intBitsToFloat(magnitude) + 0.5f) - Float.floatToRawIntBits(0.5f));
    }
    return (short) (sign | (magnitude - (112 << 23) + 0xfff + (magnitude >>> 13 & 1)) >>> 13);
  }

  private static int bitsOfHalfByCases(short half) {
    int magnitude = (half & 0x7fff) << 13;
    int exponent = magnitude & 0x0f80_0000;
    int bits = magnitude + (112 << 23);
    if (exponent == 0x0f80_0000) { // infinity, NaN
      bits += 112 << 23;
    } else if (exponent == 0) { // zero, subnormal
      bits = Float.floatToRawIntBits(Float.intBitsToFloat(bits + (1 << 23)) - Float.intBitsToFloat(113 << 23));
    }
    return bits | (half & 0x8000) << 16;
  }

  /** Each half, the middle between it and the next one, and what is beside that. */
  @Test
  void without_branches_it_is_the_same_bits_as_by_cases() {
    for (int bits = 0; bits < 1 << 16; bits++) {
      float half = Float16.ofHalf((short) bits);
      assertThat(Float.floatToRawIntBits(half)).as("half %x", bits).isEqualTo(bitsOfHalfByCases((short) bits));
      float middle = (half + Float16.ofHalf((short) (bits + 1))) / 2;
      for (float value : new float[] {half, middle, Math.nextUp(middle), Math.nextDown(middle)}) {
        assertThat(Float16.half(value)).as("%s", value).isEqualTo(halfByCases(value));
      }
    }
  }

  @Property(tries = 2000)
  void arrays_are_converted_as_their_elements_are(@ForAll int[] bits) {
    int n = bits.length;
    float[] values = new float[n];
    for (int i = 0; i < n; i++) {
      values[i] = Float.intBitsToFloat(bits[i]);
    }
    short[] narrow = new short[n];
    float[] wide = new float[n];
    Float16.narrow(WireType.FLOAT16, values, narrow, n);
    Float16.widen(WireType.FLOAT16, narrow, wide, n);
    for (int i = 0; i < n; i++) {
      assertThat(narrow[i]).as("%x", bits[i]).isEqualTo(halfByCases(values[i]));
      assertThat(Float.floatToRawIntBits(wide[i])).isEqualTo(bitsOfHalfByCases(narrow[i]));
    }
    Float16.narrow(WireType.BFLOAT16, values, narrow, n);
    Float16.widen(WireType.BFLOAT16, narrow, wide, n);
    for (int i = 0; i < n; i++) {
      assertThat(narrow[i]).isEqualTo(Float16.brain(values[i]));
      assertThat(Float.floatToRawIntBits(wide[i])).isEqualTo(narrow[i] << 16);
    }
  }
}
