package io.regatta.trainer.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
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

  private Path write(String name, String text) throws Exception {
    return Files.writeString(dir.resolve(name), text);
  }
}
