package io.regatta.core.text;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Oracle: {@link Double#parseDouble}. */
class DecimalTest {

  private static double parse(String text) {
    byte[] bytes = ("x" + text + "9").getBytes(StandardCharsets.UTF_8);
    return Decimal.parse(bytes, 1, bytes.length - 1);
  }

  private static void isSame(String text) {
    assertThat(Double.doubleToLongBits(parse(text))).as(text).isEqualTo(Double.doubleToLongBits(Double.parseDouble(text)));
  }

  @Test
  void has_the_bits_of_parseDouble_for_random_texts() {
    Random random = new Random(1);
    for (int i = 0; i < 300_000; i++) {
      StringBuilder text = new StringBuilder(random.nextInt(3) == 0 ? "-" : random.nextInt(9) == 0 ? "+" : "");
      int digits = 1 + random.nextInt(random.nextInt(4) == 0 ? 25 : 8);
      int point = random.nextInt(digits + 2);
      for (int d = 0; d < digits; d++) {
        text.append(d == point ? "." : "").append((char) ('0' + random.nextInt(10)));
      }
      if (random.nextInt(3) == 0) {
        text.append(random.nextBoolean() ? 'e' : 'E').append(random.nextInt(60) - 30);
      }
      isSame(text.toString());
    }
  }

  @Test
  void has_the_bits_of_parseDouble_for_all_sizes() {
    Random random = new Random(2);
    for (int i = 0; i < 100_000; i++) {
      double value = Double.longBitsToDouble(random.nextLong());
      if (Double.isFinite(value)) {
        isSame(Double.toString(value));
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"0", "-0", "007", ".5", "5.", "9007199254740992", "9007199254740993", "1e22", "1e23", "123456789012345678",
      "1234567890123456789", "0.000000000000000000000000000001", "4.9e-324", "1e-400", "1e-99999", "1E+5", "0e99999",
      "17976931348623157" + "e292"})
  void has_the_bits_of_parseDouble_at_the_edges(String text) {
    isSame(text);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "-", "+", ".", "-.", "e5", "1e", "1e+", "1 ", " 1", "1f", "1d", "NaN", "Infinity", "0x1p3", "1.2.3",
      "1,5", "--1", "1e5.", "1e999", "-1e99999", "٣"})
  void is_no_number(String text) {
    assertThat(parse(text)).isNaN();
  }
}
