package io.regatta.core.collective;

/**
 * IEEE 754 binary16 and bfloat16 from and to float32, rounded to nearest, ties to even; NaN stays NaN. Binary16 as in
 * Giesen's "float to half" notes: subnormal results by an addition that shifts them into place. Pure functions.
 */
final class Float16 {
  /** The greatest finite half. */
  static final float MAX = 65_504;
  /** By so much of a value, at most, a half differs from it. */
  static final float UNIT_ROUNDOFF = 0x1p-11f;
  /** One half: added to a magnitude below 2^-14, its last bits are those of the subnormal half. */
  private static final float SUBNORMAL = Float.intBitsToFloat((127 - 15 + 23 - 10 + 1) << 23);
  private static final int SUBNORMAL_BITS = Float.floatToRawIntBits(SUBNORMAL);

  private Float16() {}

  /** The bits of the nearest half. */
  static short half(float value) {
    int bits = Float.floatToRawIntBits(value);
    int sign = bits >>> 16 & 0x8000;
    int magnitude = bits & 0x7fff_ffff;
    if (magnitude >= 0x4780_0000) { // 65536 and more, infinity, NaN
      return (short) (sign | (magnitude > 0x7f80_0000 ? 0x7e00 : 0x7c00));
    }
    if (magnitude < 0x3880_0000) { // below 2^-14
      return (short) (sign | Float.floatToRawIntBits(Float.intBitsToFloat(magnitude) + SUBNORMAL) - SUBNORMAL_BITS);
    }
    return (short) (sign | (magnitude - (112 << 23) + 0xfff + (magnitude >>> 13 & 1)) >>> 13);
  }

  /** The value of a half. */
  static float ofHalf(short half) {
    int magnitude = (half & 0x7fff) << 13;
    int exponent = magnitude & 0x0f80_0000;
    int bits = magnitude + (112 << 23);
    if (exponent == 0x0f80_0000) { // infinity, NaN
      bits += 112 << 23;
    } else if (exponent == 0) { // zero, subnormal
      bits = Float.floatToRawIntBits(Float.intBitsToFloat(bits + (1 << 23)) - Float.intBitsToFloat(113 << 23));
    }
    return Float.intBitsToFloat(bits | (half & 0x8000) << 16);
  }

  /** The bits of the nearest bfloat16. */
  static short brain(float value) {
    int bits = Float.floatToRawIntBits(value);
    return (bits & 0x7fff_ffff) > 0x7f80_0000 ? (short) (bits >>> 16 | 0x40)
        : (short) (bits + 0x7fff + (bits >>> 16 & 1) >>> 16);
  }

  /** The value of a bfloat16. */
  static float ofBrain(short brain) {
    return Float.intBitsToFloat(brain << 16);
  }
}
