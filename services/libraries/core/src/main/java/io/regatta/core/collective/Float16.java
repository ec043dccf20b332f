package io.regatta.core.collective;

/**
 * Conversion of IEEE 754 binary16 and bfloat16 from and to float32, rounded to nearest, ties to even; NaN stays NaN.
 * Pure functions. No branch depends on a value's size. Gradients lie on both sides of 2^-14, below which halves are
 * subnormal, in no predictable order. The conversion to a half is that of Dukhan's FP16 library: an addition of floats
 * rounds. Halves of an array are looked up in a table of all, 256 KB, which took a sixth of the time of computing them.
 */
public final class Float16 {
  /** The greatest finite half. */
  static final float MAX = 65_504;
  /** Largest relative difference between a value and its half. */
  static final float UNIT_ROUNDOFF = 0x1p-11f;
  private static final int MAGNITUDE = 0x7fff_ffff;
  private static final int INFINITE = 0x7f80_0000;
  /** Exponent of 2^-14, the least half that is not subnormal. */
  private static final int LEAST_NORMAL = 127 - 14 << 23;
  private static final int HALF_INFINITE = 0x7c00 << 13;

  /** The table of all halves, created with the first half that is read: most processes never read one. */
  private static final class Halves {
    static final float[] VALUES = new float[1 << Short.SIZE];

    static {
      for (int bits = 0; bits < VALUES.length; bits++) {
        VALUES[bits] = ofHalf((short) bits);
      }
    }
  }

  private Float16() {}

  /** Returns the bits of the nearest half. */
  public static short half(float value) {
    int bits = Float.floatToRawIntBits(value);
    int magnitude = bits & MAGNITUDE;
    // Four times the magnitude; infinite from 65536 on, which is beyond the greatest float after the first multiplication.
    float scaled = Math.abs(value) * 0x1p112f * 0x1p-110f;
    // A power of two that leaves the sum as many bits of it as the half has: 2^15 times that of the value, or of 2^-14.
    int power = Math.max(bits & INFINITE, LEAST_NORMAL) + (15 << 23);
    int sum = Float.floatToRawIntBits(Float.intBitsToFloat(power) + scaled);
    int number = (sum >> 13 & 0x7c00) + (sum & 0xfff);
    int nan = INFINITE - magnitude >> 31; // all ones, or none
    return (short) (bits >>> 16 & 0x8000 | number & ~nan | 0x7e00 & nan);
  }

  /**
   * Returns the value of a half; as in Giesen's "float to half" notes, it computes both readings of the bits, of which
   * a mask takes one.
   */
  public static float ofHalf(short half) {
    int magnitude = (half & 0x7fff) << 13;
    int infinite = HALF_INFINITE - 1 - magnitude >> 31; // all ones for infinity and NaN too
    int normal = magnitude + (112 << 23) + (infinite & 112 << 23);
    int subnormal = Float.floatToRawIntBits(Float.intBitsToFloat(magnitude + LEAST_NORMAL) - 0x1p-14f);
    int least = magnitude - (1 << 23) >> 31; // all ones for zero too
    return Float.intBitsToFloat((normal & ~least | subnormal & least) | (half & 0x8000) << 16);
  }

  /** Returns the bits of the nearest bfloat16. */
  public static short brain(float value) {
    int bits = Float.floatToRawIntBits(value);
    return (bits & MAGNITUDE) > INFINITE ? (short) (bits >>> 16 | 0x40) // rare, and so foreseen
        : (short) (bits + 0x7fff + (bits >>> 16 & 1) >>> 16);
  }

  /** Returns the value of a bfloat16. */
  public static float ofBrain(short brain) {
    return Float.intBitsToFloat(brain << 16);
  }

  /** Converts the first n values to the form in which they are sent. */
  static void narrow(WireType wire, float[] values, short[] to, int n) {
    if (wire == WireType.FLOAT16) {
      for (int i = 0; i < n; i++) {
        to[i] = half(values[i]);
      }
    } else {
      for (int i = 0; i < n; i++) {
        to[i] = brain(values[i]);
      }
    }
  }

  /** Converts the first n values received. */
  static void widen(WireType wire, short[] from, float[] values, int n) {
    if (wire == WireType.FLOAT16) {
      float[] halves = Halves.VALUES;
      for (int i = 0; i < n; i++) {
        values[i] = halves[from[i] & 0xffff];
      }
    } else {
      for (int i = 0; i < n; i++) {
        values[i] = ofBrain(from[i]);
      }
    }
  }
}
