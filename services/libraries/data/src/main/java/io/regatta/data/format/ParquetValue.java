package io.regatta.data.format;

import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteOrder;
import java.time.LocalDate;
import org.apache.parquet.column.ColumnReader;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DateLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DecimalLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.EnumLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.Float16LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.IntLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.StringLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeUnit;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimestampLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.UUIDLogicalTypeAnnotation;
import org.apache.parquet.schema.PrimitiveType;

/**
 * The conversion of a Parquet value by its column's logical type: to a {@code Boolean}, a whole number ({@code Long}),
 * a number ({@code Float}, {@code Double}, {@code BigDecimal}) or text. A decimal of scale 0 is a whole number. A
 * timestamp becomes seconds since 1970, a time seconds since midnight, whatever the unit in the file; a date is days
 * since 1970. Stateless; any thread may use it.
 */
final class ParquetValue {

  private static final long JULIAN_DAY_OF_1970 = 2_440_588;
  private static final long SECONDS_PER_DAY = 86_400;
  private static final double NANOS = 1e9;
  /** Layout of a half: 1 bit of sign, 5 of exponent, 10 of mantissa. */
  private static final int HALF_MANTISSA_BITS = 10;
  private static final int HALF_EXPONENT_MAX = 31;

  private ParquetValue() {}

  /** Returns the current value of a column's reader. */
  static Object of(PrimitiveType type, ColumnReader column) {
    LogicalTypeAnnotation logical = type.getLogicalTypeAnnotation();
    return switch (type.getPrimitiveTypeName()) {
      case BOOLEAN -> column.getBoolean();
      case FLOAT -> column.getFloat();
      case DOUBLE -> column.getDouble();
      case INT32 -> whole(logical, column.getInteger(),
          logical instanceof IntLogicalTypeAnnotation number && !number.isSigned());
      case INT64 -> whole(logical, column.getLong(), false);
      case INT96 -> int96(column.getBinary());
      case BINARY, FIXED_LEN_BYTE_ARRAY -> binary(type, logical, column.getBinary());
    };
  }

  /** Returns the current value of a column's reader: text as UTF-8, a date as text in ISO 8601. */
  static Object ofRow(PrimitiveType type, ColumnReader column) {
    LogicalTypeAnnotation logical = type.getLogicalTypeAnnotation();
    if (type.getPrimitiveTypeName() == PrimitiveType.PrimitiveTypeName.BINARY
        && (logical == null || logical instanceof StringLogicalTypeAnnotation || logical instanceof EnumLogicalTypeAnnotation)) {
      return column.getBinary().getBytes();
    }
    return logical instanceof DateLogicalTypeAnnotation ? LocalDate.ofEpochDay(column.getInteger()).toString() : of(type, column);
  }

  private static Object whole(LogicalTypeAnnotation logical, long value, boolean unsigned) {
    if (logical instanceof DecimalLogicalTypeAnnotation decimal) {
      return decimal(BigInteger.valueOf(value), decimal.getScale());
    }
    if (logical instanceof TimestampLogicalTypeAnnotation timestamp) {
      return value / perSecond(timestamp.getUnit());
    }
    if (logical instanceof TimeLogicalTypeAnnotation time) {
      return value / perSecond(time.getUnit());
    }
    return unsigned && !(logical instanceof DateLogicalTypeAnnotation) ? Integer.toUnsignedLong((int) value) : value;
  }

  private static double perSecond(TimeUnit unit) {
    return switch (unit) {
      case MILLIS -> 1e3;
      case MICROS -> 1e6;
      case NANOS -> NANOS;
    };
  }

  private static Object decimal(BigInteger unscaled, int scale) {
    return scale == 0 && unscaled.bitLength() < Long.SIZE ? (Object) unscaled.longValue() : new BigDecimal(unscaled, scale);
  }

  /** Converts nanoseconds of the day followed by the Julian day: the timestamps of Impala and old Spark versions. */
  private static Double int96(Binary value) {
    var bytes = value.toByteBuffer().duplicate().order(ByteOrder.LITTLE_ENDIAN);
    long nanos = bytes.getLong();
    long day = bytes.getInt();
    return (day - JULIAN_DAY_OF_1970) * (double) SECONDS_PER_DAY + nanos / NANOS;
  }

  private static Object binary(PrimitiveType type, LogicalTypeAnnotation logical, Binary value) {
    if (logical instanceof DecimalLogicalTypeAnnotation decimal) {
      return decimal(new BigInteger(value.getBytes()), decimal.getScale());
    }
    if (logical instanceof Float16LogicalTypeAnnotation) {
      byte[] bytes = value.getBytes();
      return half(bytes[0] & 0xff | bytes[1] << 8);
    }
    boolean text = type.getPrimitiveTypeName() == PrimitiveType.PrimitiveTypeName.BINARY
        && !(logical instanceof UUIDLogicalTypeAnnotation);
    return text ? value.toStringUsingUTF8() : type.stringifier().stringify(value);
  }

  /** Returns the number that 16 bits of IEEE 754 represent. */
  static float half(int bits) {
    int exponent = bits >> HALF_MANTISSA_BITS & HALF_EXPONENT_MAX;
    int mantissa = bits & (1 << HALF_MANTISSA_BITS) - 1;
    float size = exponent == 0 ? mantissa * 0x1p-24f
        : exponent == HALF_EXPONENT_MAX ? mantissa == 0 ? Float.POSITIVE_INFINITY : Float.NaN
        : (mantissa + 1024) * (float) Math.scalb(1d, exponent - 25);
    return (bits & 0x8000) == 0 ? size : -size;
  }
}
