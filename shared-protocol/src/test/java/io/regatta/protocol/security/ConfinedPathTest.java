package io.regatta.protocol.security;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ConfinedPathTest {

  @TempDir
  Path dir;

  @Test
  void names_roots_and_key_when_a_directory_is_elsewhere() throws Exception {
    Path one = Files.createDirectories(dir.resolve("my snapshots"));
    Path two = Files.createDirectories(dir.resolve("two"));
    List<Path> roots = List.of(one, two);
    assertThat(ConfinedPath.within(roots, one.toString(), "key")).isEqualTo(one);
    assertThat(ConfinedPath.within(roots, two.resolve("a/b").toString(), "key")).isEqualTo(two.resolve("a/b"));
    assertThat(ConfinedPath.within(roots, "a", "key")).isEqualTo(one.resolve("a"));
    for (String outside : List.of("/etc", dir.toString(), two + "x", one.getParent() + "/my snapshots2/a")) {
      assertThatThrownBy(() -> ConfinedPath.within(roots, outside, "key")).isInstanceOf(InvalidInput.class)
          .hasMessageContaining(one + " or " + two).hasMessageContaining("(key)");
    }
    Files.createSymbolicLink(two.resolve("way"), dir);
    for (String bad : List.of(two + "/../x", two + "/a/../../x", two + "//a", two + "/way/x", "", "..", "a\0",
        two + "\0", two + "/a\\b")) {
      assertThatThrownBy(() -> ConfinedPath.within(roots, bad, "key")).isInstanceOf(InvalidInput.class);
    }
  }
}
