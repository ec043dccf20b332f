package io.regatta.data.format;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.reduce.DistinctIds;
import io.regatta.data.BadLines;
import io.regatta.data.LineFormat;
import io.regatta.data.LoaderOptions;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotLoader;
import io.regatta.data.SlotSource;
import io.regatta.data.Slots;
import io.regatta.data.TextSource;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Golden lines of each text format, and what is said of lines that do not fit. */
class FormatsTest {

  private static final long NONE = DistinctIds.PADDING;
  private static final Slots SLOTS = Slots.builder().dense("d", 2).id("1").ids("2", 3).label("click").build();
  private static final Slots BINARY = Slots.builder().id("1").binaryLabel("click").build();

  @TempDir
  Path dir;

  @Test
  void libSvm() throws Exception {
    LibSvmFormat format = new LibSvmFormat(3);
    SlotBatch batch = read(new TextSource(format, List.of(file("a.svm", "+1 3:1 7:-0.5\n-1 qid:4 0:2 5:1e-1 9:3 # why\n0\n")), fail()));
    assertThat(batch.labels()).containsExactly(1, 0, 0);
    assertThat(batch.ids()).containsExactly(3, 7, NONE, 0, 5, 9, NONE, NONE, NONE);
    assertThat(batch.values()).containsExactly(1f, -0.5f, 0f, 2f, 0.1f, 3f, 0f, 0f, 0f);
    assertThat(batch.distinct().ids()).containsExactly(3, 7, 0, 5, 9);

    SlotBatch commented = read(new TextSource(format, List.of(file("b.svm", "# a comment alone\n+1 3:1\n  # another\n-1 5:1\n")), fail()));
    assertThat(commented.rows()).isEqualTo(2);
    assertThat(commented.labels()).startsWith(1, 0);
    assertThat(commented.ids()).startsWith(3, NONE, NONE, 5);

    assertBad(format, "2 1:1", "line 1, character 1: expected a label, 1 or -1 (or 0), found '2'");
    assertBad(format, "1 1:1 2", "character 7: expected index:value, found '2'");
    assertBad(format, "1 -1:1", "expected index:value, found '-1:1'");
    assertBad(format, "1 1:x", "expected index:value, found '1:x'");
    assertBad(format, "1 1:1 2:1 3:1 4:1", "character 15: expected at most 3 features, found more");
  }

  @Test
  void multiSlot() throws Exception {
    MultiSlotFormat format = new MultiSlotFormat(SLOTS);
    SlotBatch batch = read(new TextSource(format,
        List.of(file("a.txt", "2 0.5 -1 1 42 3 18446744073709551614 0 8 1 1\r\n2 0 0  1 0 1 7 1 0 \n")), fail()));
    assertThat(batch.labels()).containsExactly(1, 0);
    assertThat(batch.dense()).containsExactly(0.5f, -1f, 0f, 0f);
    assertThat(batch.ids()).as("0 is no id").containsExactly(42, -2, 8, NONE, NONE, 7, NONE, NONE);

    assertBad(format, "2 1 1 1 5 0 1 1", "line 1, character 11 (slot 2): it has no values, expected at least 1: pad it");
    assertBad(format, "3 1 1 1 1 5 1 6 1 1", "(slot d): expected 2 values, found 3");
    assertBad(format, "2 1 1 1 5 4 6 7 8 9 1 1", "(slot 2): expected at most 3 ids, found 4: give the slot more room");
    assertBad(format, "2 1 1 1 5 2 6", "(slot 2): the line ends after 1 of 2 values");
    assertBad(format, "2 1 1 1 5", "(slot 2): the line ends here, expected the number of its values");
    assertBad(format, "2 1 1 1 5 x 6 1 1", "(slot 2): expected the number of its values, found 'x'");
    assertBad(format, "2 1 1 1 -5 1 6 1 1", "(slot 1): expected an id from 0 to 18446744073709551614, found '-5'");
    assertBad(format, "2 1 x 1 5 1 6 1 1", "character 5 (slot d): expected a number, found 'x'");
    assertBad(new MultiSlotFormat(BINARY), "1 5 1 2", "character 7 (slot click): expected label 0 or 1, found '2'");
    assertBad(format, "2 1 1 1 5 1 6 1 1 9", "character 19: expected the end of the line after its 4 slots, found '9'");
  }

  @Test
  void slotText() throws Exception {
    SlotTextFormat format = new SlotTextFormat(SLOTS);
    SlotBatch batch = read(new TextSource(format,
        List.of(file("a.txt", "click:0 d:0.05 d:0.6 1:737395 2:210498 2:9 99:1\n2:7 click:1 1:0\n")), fail()));
    assertThat(batch.labels()).containsExactly(0, 1);
    assertThat(batch.dense()).containsExactly(0.05f, 0.6f, 0f, 0f);
    assertThat(batch.ids()).containsExactly(737395, 210498, 9, NONE, NONE, 7, NONE, NONE);

    assertBad(format, "click:1 d:1", "line 1, slot d: expected 2 values, found 1");
    assertBad(format, "1:5", "slot click: expected 1 value, found 0");
    assertBad(format, "click:1 1:5 1:6", "character 13 (slot 1): expected at most 1 value, found more");
    assertBad(format, "click:1 1", "character 9: expected name:value, found '1'");
    assertBad(format, "click:1 1:x", "(slot 1): expected an id from 0");
    assertBad(new SlotTextFormat(BINARY), "1:5 click:-1", "character 5 (slot click): expected label 0 or 1, found '-1'");
    assertBad(format, "click:x", "(slot click): expected a number, found 'x'");
  }

  @Test
  void csvWithHeader() throws Exception {
    Slots slots = Slots.builder().dense("age", 1).id("job").label("bought").build();
    CsvSource source = new CsvSource(slots, List.of(file("a.csv", "bought,other,age,job\n1,x,30,\"clerk, senior\"\n0,y,,\n"),
        file("b.csv.gz", "job,age,bought\n\"clerk, senior\",4.5,1\n")), fail());
    SlotBatch batch = read(source);
    assertThat(batch.labels()).containsExactly(1, 0, 1);
    assertThat(batch.dense()).containsExactly(30f, 0f, 4.5f);
    assertThat(batch.ids()[0]).isEqualTo(batch.ids()[2]).isNotEqualTo(batch.ids()[1]);

    assertThatThrownBy(() -> read(new CsvSource(slots, List.of(file("c.csv", "age,job\n1,2\n")), fail())))
        .isInstanceOf(InvalidInput.class).hasMessageContainingAll("c.csv", "expected a column named bought, found [age, job]");
    assertThatThrownBy(() -> read(new CsvSource(slots, List.of(file("d.csv", "age,job,bought\n1,2,1\n1,2,maybe\n")), fail())))
        .isInstanceOf(InvalidInput.class)
        .hasMessageContainingAll("d.csv, line 3, column 3 (bought): expected a number, found 'maybe'");
    BadLines skip = new BadLines(BadLines.Policy.SKIP);
    assertThat(read(new CsvSource(slots, List.of(file("e.csv", "age,job,bought\n1,2\n1,2,1\n")), skip)).rows()).isEqualTo(1);
    assertThat(skip.skipped()).isEqualTo(1);
    String open = "age,job,bought\n1,2,1\n1,\"2,1\n1,2,1\n";
    assertThatThrownBy(() -> read(new CsvSource(slots, List.of(file("f.csv", open)), skip)))
        .as("the next row is not known").isInstanceOf(InvalidInput.class)
        .hasMessageContainingAll("f.csv, line 3", "the quotes of a value are not closed");
    assertThatThrownBy(() -> read(new CsvSource(slots, List.of(file("g.csv", "age,job,bought\n1,\"2\" x,1\n")), fail())))
        .hasMessageContaining("g.csv, line 2, column 2: expected a separator after the closing quote, found ' x'");
  }

  @Test
  void aBinaryLabelIsZeroOrOneAndOthersAreBadLines() throws Exception {
    BadLines skip = new BadLines(BadLines.Policy.SKIP);
    SlotBatch batch = read(new CsvSource(BINARY, List.of(file("a.csv", "1,click\nx,1\nx,2\nx,0\n")), skip));
    assertThat(batch.rows()).isEqualTo(2);
    assertThat(skip.skipped()).isEqualTo(1);
    assertThatThrownBy(() -> read(new CsvSource(BINARY, List.of(file("b.csv", "1,click\nx,0.5\n")), fail())))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("b.csv, line 2, column 2 (click): expected label 0 or 1, found '0.5'");
  }

  @Test
  void aByteOrderMarkIsNoPartOfTheFirstColumn() throws Exception {
    assertThat(read(new CsvSource(BINARY, List.of(file("a.csv", "\uFEFFclick,1\n1,x\n"),
        file("b.csv", "\uFEFF\"click\",1\n0,x\n")), fail())).labels()).startsWith(1, 0);
  }

  @Test
  void packedFilesAreReadLikePlainOnes() throws Exception {
    String text = "1 1:1\n-1 2:2\n".repeat(50_000);
    LibSvmFormat format = new LibSvmFormat(1);
    SlotBatch plain = read(new TextSource(format, List.of(file("a", text)), fail()), 100_000);
    SlotBatch packed = read(new TextSource(format, List.of(file("a.gz", text)), fail()), 100_000);
    assertThat(packed.rows()).isEqualTo(plain.rows()).isEqualTo(100_000);
    assertThat(packed.ids()).isEqualTo(plain.ids());
    Path damaged = Files.write(dir.resolve("bad.gz"), Arrays.copyOf(Files.readAllBytes(dir.resolve("a.gz")), 300));
    assertThatThrownBy(() -> read(new TextSource(format, List.of(damaged), fail()), 100_000))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("bad.gz cannot be read");
  }

  private void assertBad(LineFormat format, String line, String message) {
    assertThatThrownBy(() -> read(new TextSource(format, List.of(file("bad.txt", line + "\n")), fail())))
        .isInstanceOf(InvalidInput.class).hasMessageContainingAll("bad.txt", message);
  }

  private static BadLines fail() {
    return new BadLines(BadLines.Policy.FAIL);
  }

  private static SlotBatch read(SlotSource<?> source) {
    return read(source, 10);
  }

  /** All rows, cut to their number. */
  private static SlotBatch read(SlotSource<?> source, int most) {
    try (SlotLoader loader = SlotLoader.open(source, LoaderOptions.inOrder(most), 0)) {
      return loader.next();
    }
  }

  /** Packed if the name says so. */
  private Path file(String name, String text) throws IOException {
    Path file = dir.resolve(name);
    try (OutputStream out = Files.newOutputStream(file);
        OutputStream packed = name.endsWith(".gz") ? new GZIPOutputStream(out) : out) {
      packed.write(text.getBytes(StandardCharsets.UTF_8));
    }
    return file;
  }
}
