package io.regatta.data.format;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.data.file.Ascii;
import java.nio.charset.StandardCharsets;
import net.jpountz.xxhash.XXHashFactory;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;

/** Numbers, separators and hashes in bytes, against those of the JDK and of the library. */
class AsciiTest {

  @Property(tries = 2000)
  void numbersAreThoseOfParseFloat(@ForAll("decimals") String text) {
    float expected = Float.parseFloat(text);
    assertThat(Float.valueOf(number(text))).as(text)
        .isEqualTo(Float.valueOf(Float.isInfinite(expected) ? Float.NaN : expected));
  }

  @Provide
  Arbitrary<String> decimals() {
    Arbitrary<String> digits = Arbitraries.strings().numeric().ofMinLength(1).ofMaxLength(22);
    Arbitrary<String> exponents = Arbitraries.integers().between(-50, 50).map(e -> "e" + e).injectNull(0.7);
    Arbitrary<String> made = Combinators.combine(Arbitraries.of("", "-", "+"), digits, digits.injectNull(0.3), exponents)
        .as((sign, whole, fraction, exponent) -> sign + whole + (fraction == null ? "" : "." + fraction)
            + (exponent == null ? "" : exponent));
    Arbitrary<String> printed = Arbitraries.floats().map(String::valueOf);
    Arbitrary<String> halfWay = Arbitraries.integers().between(0, 1 << 22)
        .map(i -> String.valueOf((double) Float.intBitsToFloat(0x3F800000 + i) + Math.ulp(1f) / 2)); // rounds to even
    return Arbitraries.oneOf(made, printed, halfWay);
  }

  @Example
  void whatIsNoNumberIsNan() {
    for (String text : new String[] {"", "-", ".", "x", "1x", "1e", "NaN", "Infinity", "0x1p3", "1f", "1d", " 1", "1 ", "1e99",
        "--1", "1.2.3", "١"}) {
      assertThat(number(text)).as(text).isNaN();
    }
  }

  private static float number(String text) {
    byte[] bytes = ("xx" + text + "9").getBytes(StandardCharsets.UTF_8);
    return Ascii.number(bytes, 2, bytes.length - 1);
  }

  @Property(tries = 500)
  void theFirstSeparatorIsFound(@ForAll @Size(max = 40) byte[] bytes, @ForAll byte separator, @ForAll @IntRange(max = 40) int begin) {
    int from = Math.min(begin, bytes.length);
    int expected = from;
    while (expected < bytes.length && bytes[expected] != separator) {
      expected++;
    }
    assertThat(Ascii.find(separator, bytes, from, bytes.length)).isEqualTo(expected);
  }

  @Property(tries = 500)
  void idsAreWholeNumbersOf64BitsWithoutSign(@ForAll long id) {
    byte[] text = Long.toUnsignedString(id).getBytes(StandardCharsets.US_ASCII);
    assertThat(Ascii.isId(text, 0, text.length)).isTrue();
    assertThat(Ascii.id(text, 0, text.length)).isEqualTo(id);
  }

  @Example
  void whatIsNoIdIsRefused() {
    for (String text : new String[] {"", "-1", "1.0", "18446744073709551616", "99999999999999999999", "123456789012345678901"}) {
      byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
      assertThat(Ascii.isId(bytes, 0, bytes.length)).as(text).isFalse();
    }
  }

  @Property(tries = 1000)
  void hashInPlaceIsThatOfTheLibrary(@ForAll @IntRange(min = 10, max = 99) int column, @ForAll @Size(max = 40) byte[] value) {
    byte[] key = new byte[value.length + 2];
    key[0] = (byte) ('0' + column / 10);
    key[1] = (byte) ('0' + column % 10);
    System.arraycopy(value, 0, key, 2, value.length);
    byte[] line = new byte[value.length + 5];
    System.arraycopy(value, 0, line, 3, value.length);
    assertThat(XxHash32.ofNumbered(column, line, 3, value.length))
        .isEqualTo(XXHashFactory.safeInstance().hash32().hash(key, 0, key.length, 0));
  }

  @Property(tries = 2000)
  void remaindersAreExact(@ForAll int value, @ForAll @LongRange(min = 1, max = 1L << 34) long divisor) {
    assertThat(new Remainder32(divisor).of(value)).isEqualTo(Integer.toUnsignedLong(value) % divisor);
  }
}
