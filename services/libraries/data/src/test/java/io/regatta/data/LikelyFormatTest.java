package io.regatta.data;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class LikelyFormatTest {

  @ParameterizedTest
  @CsvSource(delimiter = '|', textBlock = """
      click:0 dense_feature:0.05 1:737395            | slots
      1 3:1 11:0.5                                   | libsvm
      -1 3:1                                         | libsvm
      2 0.5 -1 1 42 3 18446744073709551614 0 8 1 1   | multislot
      2 0.5 -1 1 42 3 8 1                            | ''
      label,I1,I2                                    | csv
      0,1,5,05db9164                                 | csv
      PAR1                                           | parquet
      It was a bright cold day in April              | ''
      7                                              | ''
      """)
  void linesOfEachFormatAreKnown(String line, String format) {
    assertThat(LikelyFormat.of(line)).isEqualTo(format);
  }

  @ParameterizedTest
  @CsvSource({"0, criteo", "1, ''"})
  void soAreColumnsAndWhatIsPacked(int less, String format) {
    assertThat(LikelyFormat.of("1" + "\t5".repeat(39 - less))).isEqualTo(format);
    assertThat(LikelyFormat.of("\u001f\ufffd\b\u0000")).contains(".gz");
    assertThat(LikelyFormat.of("")).isEmpty();
  }
}
