package io.regatta.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.file.DataFiles;
import io.regatta.data.file.FileQueue;
import java.io.IOException;
import java.io.OutputStream;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class LineCursorTest {

  @TempDir
  Path dir;

  @Test
  void numbersLinesPerFileAndPassesOverEmptyOnes() throws Exception {
    Path first = write("a", "one\r\n\n\r\nfour");
    Path second = write("b", "");
    Path third = write("c", "x".repeat(600_000) + "\nlast\n");

    List<String> read = new ArrayList<>();
    try (LineCursor cursor = new LineCursor(List.of(first, second, third))) {
      for (Line line = cursor.next(); line != null; line = cursor.next()) {
        String text = line.text();
        read.add(Path.of(line.file()).getFileName() + ":" + line.number() + ":" + (text.length() > 9 ? text.length() : text));
      }
    }

    assertThat(read).containsExactly("a:1:one", "a:4:four", "c:1:600000", "c:2:last");
    assertThat(LineCursor.count(List.of(first, second, third))).isEqualTo(4);
  }

  @Test
  void missingFileAndBinaryFileAreNamed() throws Exception {
    Path missing = dir.resolve("nowhere.tsv");
    assertThatThrownBy(() -> new LineCursor(List.of(missing)).next()).isInstanceOf(InvalidInput.class)
        .hasMessageContaining(missing.toString());
    Path binary = Files.write(dir.resolve("binary"), new byte[3 << 20]);
    assertThatThrownBy(() -> new LineCursor(List.of(binary)).next()).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("has a line of more than 1048576 bytes from byte 0 on").hasMessageContaining(binary.toString());
  }

  /** Reading what is before it would take minutes; of the file's bytes on disk there is one block. */
  @Test
  @Timeout(20)
  void whatIsBeforeAPlaceInAPlainFileIsNotRead() throws Exception {
    Path file = dir.resolve("large");
    long offset = 1L << 37;
    try (RandomAccessFile large = new RandomAccessFile(file.toFile(), "rw")) {
      large.seek(offset);
      large.write("first\nsecond\n".getBytes(StandardCharsets.US_ASCII));
    }
    DataCursor place = new DataCursor(0, 0, DataFiles.name(file), offset, 7, 0, 0);
    try (LineCursor cursor = new LineCursor(new FileQueue(List.of(file), 0), null, place)) {
      Line first = cursor.next();
      assertThat(first.text()).isEqualTo("first");
      assertThat(first.number()).isEqualTo(8);
      assertThat(cursor.place()).isEqualTo(new DataCursor(0, 0, DataFiles.name(file), offset + 6, 8, 0, 0));
      assertThat(cursor.next().text()).isEqualTo("second");
      assertThat(cursor.next()).isNull();
      assertThat(cursor.bytesBehind()).isEqualTo(offset + 13);
    }
  }

  @Test
  void whatCannotBeReadUpToAPlaceIsClosed() throws Exception {
    Path packed = dir.resolve("cut.gz");
    try (OutputStream out = new GZIPOutputStream(Files.newOutputStream(packed))) {
      out.write(new byte[1 << 20]);
    }
    byte[] whole = Files.readAllBytes(packed);
    Files.write(packed, Arrays.copyOf(whole, whole.length / 2));
    DataCursor place = new DataCursor(0, 0, DataFiles.name(packed), 1 << 20, 7, 0, 0);
    assertThatThrownBy(() -> new LineCursor(new FileQueue(List.of(packed), 0), null, place)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining(packed.toString());
    Path descriptors = Path.of("/proc/self/fd");
    Assumptions.assumeTrue(Files.isDirectory(descriptors), "only Linux tells which files are open");
    try (Stream<Path> open = Files.list(descriptors)) {
      assertThat(open.filter(Files::exists).map(LineCursorTest::target)).doesNotContain(packed.toString());
    }
  }

  private static String target(Path link) {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (IOException closedMeanwhile) {
      return "";
    }
  }

  private Path write(String name, String text) throws Exception {
    return Files.writeString(dir.resolve(name), text);
  }
}
