package io.regatta.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.file.PipeCommand;
import io.regatta.data.format.CsvSource;
import io.regatta.data.format.LibSvmFormat;
import io.regatta.data.format.NamedValue;
import io.regatta.data.testing.Numbers;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.zip.GZIPOutputStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/**
 * Reading that resumes at a cursor has the batches of an unbroken run, on plain and compressed files, CSV, and in
 * memory.
 */
class DataCursorTest {

  private static final int LINES = 120;
  /**
   * Texts that follow a row's id: notes of one line and of several, row ends of different kinds, and empty lines after
   * them.
   */
  private static final String[] NOTES = {",,1\n", ",\"two\nlines\",1\r\n", ",\"\"\"a\r\nb\"\" ä\",1\n\n", ",c,1\r\n", ",\"d\re\",1\n"};
  private static Path dir;
  private static List<Path> lines;
  private static List<Path> rows;

  @BeforeContainer
  static void files() throws IOException {
    dir = Files.createTempDirectory("cursor");
    lines = new ArrayList<>();
    rows = new ArrayList<>();
    int next = 1;
    for (int file = 0; file < 3; file++) {
      StringBuilder text = new StringBuilder(file == 1 ? "\n" : "");
      StringBuilder csv = new StringBuilder("id,note,label\n");
      for (int i = 0; i < LINES / 3; i++, next++) {
        text.append("1 ").append(next).append(":1\n");
        csv.append(next).append(NOTES[next % NOTES.length]);
      }
      lines.add(write(dir.resolve("lines-" + file + (file == 1 ? ".gz" : "")), text.toString()));
      rows.add(write(dir.resolve("rows-" + file + ".csv" + (file == 1 ? ".gz" : "")), csv.toString()));
    }
  }

  @AfterContainer
  static void delete() throws IOException {
    for (Path file : lines) {
      Files.delete(file);
    }
    for (Path file : rows) {
      Files.delete(file);
    }
    Files.delete(dir);
  }

  private static Path write(Path file, String text) throws IOException {
    try (OutputStream out = Files.newOutputStream(file);
        OutputStream packed = file.toString().endsWith(".gz") ? new GZIPOutputStream(out) : out) {
      packed.write(text.getBytes(StandardCharsets.UTF_8));
    }
    return file;
  }

  private static SlotSource<?> source(int kind) {
    BadLines badLines = new BadLines(BadLines.Policy.FAIL);
    return switch (kind) {
      case 0 -> new TextSource(new LibSvmFormat(1), lines, badLines);
      case 1 -> new TextSource(new LibSvmFormat(1), lines, new PipeCommand("cat -"), badLines);
      case 2 -> new CsvSource(Slots.builder().id("id").label("label").build(), rows, badLines);
      default -> new Numbers("numbers", LINES);
    };
  }

  @Property(tries = 150)
  void readingGoesOnWhereItStopped(@ForAll @IntRange(max = 3) int kind, @ForAll @IntRange(min = 1, max = 50) int batch,
      @ForAll @IntRange(min = 1, max = 3) int workers, @ForAll @IntRange(max = 150) int shuffle,
      @ForAll @IntRange(min = 1, max = 3) int readers, @ForAll @IntRange(max = 130) int stop, @ForAll boolean dropLast) {
    LoaderOptions options = LoaderOptions.inOrder(batch).dropLast(dropLast).shuffled(shuffle, 11).readers(readers, 2, true)
        .shard(workers - 1, workers);
    List<DataCursor> cursors = new ArrayList<>();
    List<List<Long>> unbroken = read(source(kind), options, DataCursor.startOf(2), cursors);
    int at = Math.min(stop, unbroken.size());
    DataCursor from = at == 0 ? DataCursor.startOf(2) : cursors.get(at - 1);
    assertThat(from.pass()).isEqualTo(2);
    assertThat(read(source(kind), options, from, new ArrayList<>())).isEqualTo(unbroken.subList(at, unbroken.size()));
  }

  private static List<List<Long>> read(SlotSource<?> source, LoaderOptions options, DataCursor from, List<DataCursor> cursors) {
    List<List<Long>> batches = new ArrayList<>();
    try (SlotLoader loader = SlotLoader.open(source, options, from, Thread::new, Timeline.NONE)) {
      while (loader.hasNext()) {
        SlotBatch batch = loader.next();
        List<Long> ids = new ArrayList<>();
        for (int row = 0; row < batch.rows(); row++) {
          ids.add(batch.ids()[row]);
        }
        batches.add(ids);
        cursors.add(batch.after());
      }
    }
    return batches;
  }

  /** The text before the cursor could not even be read. */
  @Property(tries = 1)
  void ofPlainCsvWhatIsBeforeThePlaceIsNotReadAgain() throws IOException {
    Path file = dir.resolve("long.csv");
    String head = "id,label\n";
    String before = IntStream.rangeClosed(1, 5000).mapToObj(i -> i + ",1\n").collect(Collectors.joining());
    Files.writeString(file, head + before + "7,1\n8,1\n");
    CsvSource source = new CsvSource(Slots.builder().id("id").label("label").build(), List.of(file), new BadLines(BadLines.Policy.FAIL));
    List<DataCursor> cursors = new ArrayList<>();
    read(source, LoaderOptions.inOrder(1), DataCursor.startOf(0), cursors);
    assertThat(cursors.get(4999).offset()).isEqualTo(head.length() + before.length());
    assertThat(cursors.get(4999).records()).as("lines").isEqualTo(5001);
    Files.writeString(file, head + "\"".repeat(before.length()) + "7,1\n8,x\n");
    assertThatThrownBy(() -> read(source, LoaderOptions.inOrder(2), cursors.get(4999), new ArrayList<>()))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("long.csv, line 5003, column 2 (label)");
    Files.writeString(file, head + "\"".repeat(before.length()) + "7,1\n8,1\n");
    assertThat(read(source, LoaderOptions.inOrder(2), cursors.get(4999), new ArrayList<>())).containsExactly(
        List.of(NamedValue.id("id", "7"), NamedValue.id("id", "8")));
    Files.delete(file);
  }

  @Property(tries = 1)
  void anotherListOfFilesIsNoticed() {
    DataCursor second = new DataCursor(0, 1, lines.get(1).toString(), 10, 1, 0, 0);
    TextSource other = new TextSource(new LibSvmFormat(1), List.of(lines.get(0), lines.get(2)), new BadLines(BadLines.Policy.FAIL));
    assertThatThrownBy(() -> other.open(second)).isInstanceOf(InvalidInput.class)
        .hasMessageContainingAll("lines-1.gz", "lines-2", "the same files in the same order");
  }
}
