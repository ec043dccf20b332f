package io.regatta.data.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.BadLines;
import io.regatta.data.LoaderOptions;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotLoader;
import io.regatta.data.TextSource;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CriteoFormatTest {

  private static final long DIMENSION = 1_000_001;

  @TempDir
  Path dir;

  @Test
  void normalizesDenseAndHashesSparse() throws Exception {
    SlotBatch batch = readOne(line("1", "10", "-3", "", "2000"), BadLines.Policy.FAIL);

    assertThat(batch.labels()[0]).isEqualTo(1f);
    assertThat(Arrays.copyOf(batch.dense(), 5)).containsExactly(0.5f, 0f, 0f, 40f, 0f);
    // xxh32("14") and xxh32("15") with seed 0: empty values are hashed with their column's number
    assertThat(batch.ids()[0]).isEqualTo(Integer.toUnsignedLong(XX_14) % DIMENSION);
    assertThat(batch.ids()[1]).isEqualTo(Integer.toUnsignedLong(XX_15ABC) % DIMENSION);
  }

  /** Computed with python-xxhash: {@code xxhash.xxh32(b"14").intdigest()}, {@code xxh32(b"15abc")}. */
  private static final int XX_14 = 0x8ad2555;
  private static final int XX_15ABC = 0x744416d4;

  @Test
  void badLinesNameFileLineAndColumn() throws Exception {
    assertBad(line("2", "1", "1", "1", "1"), "line 1, column 1 (label): expected label 0 or 1, found '2'");
    assertBad(line("0", "1", "x1", "1", "1"), "column 3 (I2): expected a number or nothing, found 'x1'");
    assertBad(line("0", "1", "NaN", "1", "1"), "column 3 (I2)");
    assertBad("0\t1\t2", "column 3 (I2): the line ends here, expected 40 tab-separated columns");
    assertBad(line("0", "1", "1", "1", "1") + "\tmore", "column 40 (C26): expected the line to end after 40 tab-separated columns");
  }

  @Test
  void skipPolicyLeavesOutAndCounts() throws Exception {
    Path file = Files.writeString(dir.resolve("f.tsv"),
        line("0", "1", "1", "1", "1") + "\nrubbish\n" + line("1", "2", "2", "2", "2") + "\n");
    BadLines badLines = new BadLines(BadLines.Policy.SKIP);
    List<Float> labels = new ArrayList<>();
    try (SlotLoader loader = SlotLoader.open(new TextSource(new CriteoFormat(DIMENSION), List.of(file), badLines),
        LoaderOptions.inOrder(10), 0)) {
      while (loader.hasNext()) {
        SlotBatch batch = loader.next();
        for (int r = 0; r < batch.rows(); r++) {
          labels.add(batch.labels()[r]);
        }
      }
    }
    assertThat(labels).containsExactly(0f, 1f);
    assertThat(badLines.skipped()).isEqualTo(1);
  }

  @Test
  void missingFileIsRefusedAtOnce() {
    Path missing = dir.resolve("none.tsv");
    assertThatThrownBy(() -> new TextSource(new CriteoFormat(DIMENSION), List.of(missing), new BadLines(BadLines.Policy.FAIL)))
        .isInstanceOf(InvalidInput.class).hasMessageContaining(missing.toString()).hasMessageContaining("does not exist");
  }

  private void assertBad(String line, String message) throws Exception {
    assertThatThrownBy(() -> readOne(line, BadLines.Policy.FAIL)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("f.tsv").hasMessageContaining(message);
  }

  private SlotBatch readOne(String line, BadLines.Policy policy) throws Exception {
    Path file = Files.writeString(dir.resolve("f.tsv"), line + "\n");
    try (SlotLoader loader = SlotLoader.open(new TextSource(new CriteoFormat(DIMENSION), List.of(file), new BadLines(policy)),
        LoaderOptions.inOrder(1), 0)) {
      return loader.next();
    }
  }

  /** A line with the given label and I1–I4, I5–I13 empty, C1 empty, C2 {@code abc}, the others empty. */
  private static String line(String label, String... dense) {
    String[] columns = new String[40];
    Arrays.fill(columns, "");
    columns[0] = label;
    System.arraycopy(dense, 0, columns, 1, dense.length);
    columns[15] = "abc";
    return String.join("\t", columns);
  }
}
