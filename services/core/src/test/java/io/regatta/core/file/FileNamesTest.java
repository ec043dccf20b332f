package io.regatta.core.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class FileNamesTest {

  @TempDir
  Path dir;

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = {"", ".", "..", "../payload", "../../payload", "/etc/passwd", "a/b", "a//b", "a/../b", "a\\b", "C:payload",
      "..\\payload", "a\u0000b", "a\nb", "caf\u00e9", "~root", "$HOME", "a b", "file:payload"})
  void a_path_or_a_name_that_no_file_of_ours_has_is_refused(String name) {
    assertThatThrownBy(() -> FileNames.check(name)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("is not the name of a file within the directory").satisfies(e ->
            assertThat(e.getMessage()).matches("[ -~]*"));
    assertThatThrownBy(() -> FileNames.in(dir, name)).isInstanceOf(InvalidInput.class);
  }

  @Test
  void a_refused_name_is_shown_in_part() {
    assertThatThrownBy(() -> FileNames.check("x".repeat(10_000))).isInstanceOf(InvalidInput.class)
        .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(400));
  }

  @ParameterizedTest
  @ValueSource(strings = {"dense.safetensors", "table-emb%2Fa.safetensors", "shard-00001-of-00002.safetensors", "a", "...", "..a", "-"})
  void a_plain_name_is_one_of_the_directory(String name) throws IOException {
    assertThat(FileNames.in(dir, name)).isEqualTo(Path.of(dir.toString(), name));
  }

  @Test
  void a_link_is_followed_within_the_directory_only() throws IOException {
    Path inside = Files.createDirectory(dir.resolve("inside"));
    Path outside = Files.writeString(dir.resolve("secret"), "secret");
    Files.writeString(inside.resolve("data"), "data");
    Files.createSymbolicLink(inside.resolve("near"), Path.of("data"));
    Files.createSymbolicLink(inside.resolve("far"), outside);
    Files.createSymbolicLink(inside.resolve("up"), Path.of("..", "secret"));
    Files.createSymbolicLink(dir.resolve("alias"), inside);
    assertThat(FileNames.in(inside, "near")).hasContent("data");
    assertThat(FileNames.in(dir.resolve("alias"), "near")).as("the directory itself may be reached by a link").hasContent("data");
    for (String name : new String[] {"far", "up"}) {
      assertThatThrownBy(() -> FileNames.in(inside, name)).isInstanceOf(InvalidInput.class)
          .hasMessageContaining(inside.resolve(name) + " is a link to a file outside of its directory");
    }
  }
}
