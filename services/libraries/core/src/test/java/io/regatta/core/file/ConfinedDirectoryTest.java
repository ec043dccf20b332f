package io.regatta.core.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.NullSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConfinedDirectoryTest {

  @TempDir
  Path dir;

  private static String read(ConfinedDirectory in, String name) throws IOException {
    try (FileChannel file = in.open(name)) {
      return new String(Channels.newInputStream(file).readAllBytes());
    }
  }

  private static void write(ConfinedDirectory in, String name) throws IOException {
    try (FileChannel file = in.create(name)) {
      file.write(ByteBuffer.wrap("new".getBytes()));
    }
  }

  private static String mode(Path path) throws IOException {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  private void refused(ConfinedDirectory in, String name, Path link) {
    for (ThrowingCallable use : List.<ThrowingCallable>of(() -> in.open(name), () -> in.create(name),
        () -> in.update(name))) {
      assertThatThrownBy(use).isInstanceOf(InvalidInput.class).hasMessageContaining(link + " is a symbolic link");
    }
  }

  @ParameterizedTest
  @NullSource
  @ValueSource(strings = {"", ".", "..", "../payload", "../../payload", "/etc/passwd", "a/b", "a//b", "a/../b", "a\\b",
      "C:payload",
      "..\\payload", "a\u0000b", "a\nb", "caf\u00e9", "~root", "$HOME", "a b", "file:payload"})
  void a_path_or_a_name_that_no_file_of_ours_has_is_refused(String name) {
    assertThatThrownBy(() -> ConfinedDirectory.checkName(name)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("is not the name of a file within the directory").satisfies(e ->
            assertThat(e.getMessage()).matches("[ -~\u00e9]*"));
    assertThatThrownBy(() -> ConfinedDirectory.of(dir).beside(name)).isInstanceOf(InvalidInput.class);
  }

  @ParameterizedTest
  @ValueSource(strings = {"", ".", "..", "../payload", "/etc/passwd", "a/b", "a\\b", "a\u0000b"})
  void no_name_of_a_file_that_is_opened_has_parts(String name) {
    ConfinedDirectory in = ConfinedDirectory.of(dir);
    for (ThrowingCallable use : List.<ThrowingCallable>of(() -> in.open(name), () -> in.create(name),
        () -> in.delete(name), () -> in.attributes(name), () -> in.pathOf(name), () -> in.in(name))) {
      assertThatThrownBy(use).isInstanceOf(InvalidInput.class);
    }
  }

  @Test
  void a_refused_name_is_shown_in_part() {
    assertThatThrownBy(() -> ConfinedDirectory.checkName("x".repeat(10_000))).isInstanceOf(InvalidInput.class)
        .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(400));
  }

  @ParameterizedTest
  @ValueSource(strings = {"dense.safetensors", "table-emb%2Fa.safetensors", "shard-00001-of-00002.safetensors", "a",
      "...", "..a", "-"})
  void a_plain_name_is_one_of_the_directory(String name) throws IOException {
    Files.writeString(dir.resolve(name), "old");
    ConfinedDirectory in = ConfinedDirectory.of(dir);
    assertThat(read(in, ConfinedDirectory.checkName(name))).isEqualTo("old");
    write(in, name);
    assertThat(dir.resolve(name)).hasContent("new");
    assertThat(in.names()).containsExactly(name);
    in.delete(name);
    assertThat(dir).isEmptyDirectory();
    assertThat(in.attributes(name)).isNull();
    in.delete(name);
  }

  @Test
  void a_link_is_followed_to_the_trusted_directory_and_within_it_for_reading_only() throws IOException {
    Path inside = Files.createDirectory(dir.resolve("inside"));
    Path outside = Files.writeString(dir.resolve("secret"), "secret");
    Files.writeString(inside.resolve("data"), "data");
    Files.createSymbolicLink(dir.resolve("alias"), inside);
    assertThat(read(ConfinedDirectory.of(dir.resolve("alias")), "data")).isEqualTo("data");
    for (Path target : List.of(outside, Path.of("..", "secret"), Path.of("nowhere"), Path.of("link"), dir)) {
      Path link = Files.createSymbolicLink(inside.resolve("link"), target);
      for (ThrowingCallable use : List.<ThrowingCallable>of(() -> ConfinedDirectory.of(inside).open("link"),
          () -> ConfinedDirectory.of(inside).update("link"),
          () -> ConfinedDirectory.of(inside).in("link").open("secret"),
          () -> ConfinedDirectory.of(inside).in("link").exists(),
          () -> ConfinedDirectory.of(inside).in("link").names())) {
        assertThatThrownBy(use).as("%s", target).isInstanceOf(InvalidInput.class)
            .hasMessageContaining(link + " is a symbolic link");
      }
      write(ConfinedDirectory.of(inside), "link"); // takes the link away
      assertThat(link).isRegularFile().hasContent("new");
      Files.delete(link);
    }
    assertThat(outside).hasContent("secret");
    for (ConfinedDirectory aliased : List.of(ConfinedDirectory.of(dir).in("alias"),
        ConfinedDirectory.of(inside).beside("alias"))) {
      assertThat(read(aliased, "data")).isEqualTo("data");
      assertThat(aliased.exists()).isTrue();
      assertThat(aliased.names()).containsExactly("data");
      for (ThrowingCallable use : List.<ThrowingCallable>of(() -> aliased.create("x"), () -> aliased.update("data"),
          () -> aliased.delete("data"), aliased::existsWithoutLinks)) {
        assertThatThrownBy(use).isInstanceOf(InvalidInput.class)
            .hasMessageContaining(dir.resolve("alias") + " is a symbolic link");
      }
    }
    assertThat(inside.resolve("data")).hasContent("data");
  }

  /** The kubelet makes a directory of each state, a link to the last one, and a link through that for each entry. */
  @Test
  void a_volume_of_kubernetes_is_read() throws IOException {
    Path volume = Files.createDirectory(dir.resolve("volume"));
    Path state = Files.createDirectories(volume.resolve("..2026_01_01_00_00_00.1/tables")).getParent();
    Files.writeString(state.resolve("manifest.json"), "manifest");
    Files.writeString(state.resolve("tables/emb"), "rows");
    Files.createSymbolicLink(volume.resolve("..data"), state.getFileName());
    Files.createSymbolicLink(volume.resolve("manifest.json"), Path.of("..data/manifest.json"));
    Files.createSymbolicLink(volume.resolve("tables"), Path.of("..data/tables"));
    ConfinedDirectory in = ConfinedDirectory.of(volume);
    assertThat(read(in, "manifest.json")).isEqualTo("manifest");
    assertThat(read(in.in("tables"), "emb")).isEqualTo("rows");
    assertThat(in.in("tables").names()).containsExactly("emb");
    assertThat(in.attributes("tables").isDirectory()).isTrue();
    assertThat(in.attributes("manifest.json").size()).isEqualTo("manifest".length());
    ConfinedDirectory below = ConfinedDirectory.within(List.of(dir), "volume", "key");
    assertThat(read(below, "manifest.json")).isEqualTo("manifest");
    Files.createSymbolicLink(state.resolve("passwd"), Path.of("/etc/passwd"));
    Files.createSymbolicLink(volume.resolve("passwd"), Path.of("..data/passwd"));
    assertThatThrownBy(() -> in.open("passwd")).isInstanceOf(InvalidInput.class)
        .hasMessageContaining(volume.resolve("passwd") + " is a symbolic link")
        .hasMessageContaining("out of " + volume);
  }

  @Test
  void a_root_is_known_by_each_of_its_names() throws IOException {
    Path real = Files.createDirectories(dir.resolve("nfs/u/work")).getParent();
    Path alias = Files.createSymbolicLink(dir.resolve("home"), real);
    assertThat(ConfinedDirectory.within(List.of(real), alias.resolve("new/s").toString(), "key").path())
        .as("asked by a link, not there yet").isEqualTo(real.resolve("new/s"));
    Path work = alias.resolve("work");
    assertThat(ConfinedDirectory.within(List.of(work), real.resolve("work/s").toString(), "key").path())
        .as("a root by a link").isEqualTo(work.resolve("s"));
    assertThat(ConfinedDirectory.within(List.of(alias), real.toString(), "key").path()).isEqualTo(alias);
    for (String outside : List.of(alias + "/../nfs/u", work.toString(), dir.resolve("nfs").toString())) {
      assertThatThrownBy(() -> ConfinedDirectory.within(List.of(real.resolve("elsewhere")), outside, "key"))
          .isInstanceOf(InvalidInput.class).hasMessageContaining("is not below " + real.resolve("elsewhere"));
    }
    Files.createSymbolicLink(dir.resolve("way out"), dir);
    assertThatThrownBy(() -> ConfinedDirectory.within(List.of(real), dir.resolve("way out/s").toString(), "key"))
        .isInstanceOf(InvalidInput.class);
  }

  @Test
  void nothing_beside_a_root_is_read() {
    Path named = dir.resolve("root");
    ConfinedDirectory root = ConfinedDirectory.within(List.of(named), named.toString(), "key");
    assertThatThrownBy(() -> root.beside("other")).isInstanceOf(InvalidInput.class).hasMessageContaining("key");
    assertThatThrownBy(() -> root.in("delta").beside("base").beside("..")).isInstanceOf(InvalidInput.class);
    assertThat(root.in("delta").beside("base").path()).isEqualTo(dir.resolve("root/base"));
    assertThat(ConfinedDirectory.of(dir.resolve("root")).beside("other").path()).isEqualTo(dir.resolve("other"));
  }

  @Test
  void when_a_directory_is_replaced_by_a_link_then_what_is_opened_later_does_not_follow_it() throws IOException {
    Path root = Files.createDirectories(dir.resolve("root/a/b")).getParent().getParent();
    Path outside = Files.createDirectories(dir.resolve("outside/b")).getParent();
    Files.writeString(outside.resolve("b/x"), "secret");
    ConfinedDirectory checked = ConfinedDirectory.within(List.of(root), "a/b", "key");
    assertThat(checked.exists()).isTrue();
    Files.move(root.resolve("a"), root.resolve("moved"));
    Files.createSymbolicLink(root.resolve("a"), outside);
    refused(checked, "x", root.resolve("a"));
    assertThatThrownBy(checked::exists).isInstanceOf(InvalidInput.class);
    assertThatThrownBy(() -> checked.delete("x")).isInstanceOf(InvalidInput.class);
    assertThat(outside.resolve("b/x")).hasContent("secret");
  }

  @Test
  void what_is_no_regular_file_is_not_read() throws IOException {
    Files.createDirectory(dir.resolve("sub"));
    ConfinedDirectory in = ConfinedDirectory.of(dir);
    for (String name : List.of("sub", "missing")) {
      assertThatThrownBy(() -> in.open(name)).isInstanceOf(NoSuchFileException.class)
          .hasMessageContaining(dir.resolve(name).toString());
    }
    assertThat(in.in("missing").exists()).isFalse();
    assertThatThrownBy(() -> in.in("missing").open("x")).isInstanceOf(NoSuchFileException.class)
        .hasMessageContaining(dir.resolve("missing").toString());
  }

  @Test
  void a_file_is_made_once_and_renamed_without_following_links() throws IOException {
    Path outside = Files.createDirectory(dir.resolve("outside"));
    Path root = dir.resolve("root");
    ConfinedDirectory in = ConfinedDirectory.of(root).in("a").in("b");
    in.make();
    in.make();
    assertThat(root.resolve("a/b")).isEmptyDirectory();
    try (FileChannel one = in.updateOrCreate("lock"); FileChannel other = in.updateOrCreate("lock")) {
      one.write(ByteBuffer.wrap("new".getBytes()));
      assertThat(other.size()).isEqualTo(3);
    }
    assertThat(mode(root.resolve("a/b/lock"))).isEqualTo("rw-------");
    Files.createSymbolicLink(root.resolve("a/b/link"), outside.resolve("x"));
    assertThatThrownBy(() -> in.updateOrCreate("link")).isInstanceOf(InvalidInput.class)
        .hasMessageContaining(root.resolve("a/b/link") + " is a symbolic link");
    in.rename("lock", "link");
    assertThat(root.resolve("a/b/link")).isRegularFile().hasContent("new");
    assertThat(in.lists("link")).isTrue();
    assertThat(in.lists("lock")).isFalse();
    assertThatThrownBy(() -> in.rename("link", "../link")).isInstanceOf(InvalidInput.class);
    Files.createSymbolicLink(root.resolve("way"), outside);
    for (ThrowingCallable use : List.<ThrowingCallable>of(() -> ConfinedDirectory.of(root).in("way").in("c").make(),
        () -> ConfinedDirectory.of(root).in("way").updateOrCreate("c"),
        () -> ConfinedDirectory.of(root).in("way").lists("c"))) {
      assertThatThrownBy(use).isInstanceOf(InvalidInput.class)
          .hasMessageContaining(root.resolve("way") + " is a symbolic link");
    }
    assertThat(outside).isEmptyDirectory();
    ConfinedDirectory taken = ConfinedDirectory.of(root).in("a").in("b").in("link");
    taken.make();
    assertThatThrownBy(() -> taken.create("x")).isInstanceOf(NotDirectoryException.class);
  }

  @Test
  void a_file_is_for_its_owner_alone_unless_the_directory_is_the_groups() throws IOException {
    Path own = Files.createDirectory(dir.resolve("own"));
    Files.setPosixFilePermissions(own, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path shared = Files.createDirectory(dir.resolve("shared"));
    Files.setAttribute(shared, "unix:mode", 02770);
    write(ConfinedDirectory.of(own), "file");
    write(ConfinedDirectory.of(shared), "file");
    assertThat(mode(own.resolve("file"))).isEqualTo("rw-------");
    assertThat(mode(shared.resolve("file"))).isEqualTo("rw-rw----");
  }

  @Test
  void names_roots_and_key_when_a_directory_is_elsewhere() throws IOException {
    Path one = Files.createDirectories(dir.resolve("my snapshots"));
    Path two = Files.createDirectories(dir.resolve("two"));
    List<Path> roots = List.of(one, two);
    assertThat(ConfinedDirectory.within(roots, one.toString(), "key").path()).isEqualTo(one);
    assertThat(ConfinedDirectory.within(roots, two.resolve("a/b").toString(), "key").path())
        .isEqualTo(two.resolve("a/b"));
    assertThat(ConfinedDirectory.within(roots, "a", "key").path()).isEqualTo(one.resolve("a"));
    for (String outside : List.of("/etc", dir.toString(), two + "x", one.getParent() + "/my snapshots2/a")) {
      assertThatThrownBy(() -> ConfinedDirectory.within(roots, outside, "key")).isInstanceOf(InvalidInput.class)
          .hasMessageContaining(one + " or " + two).hasMessageContaining("(key)");
    }
    for (String bad : List.of(two + "/../x", two + "/a/../../x", two + "//a", "", "..", "a\0", two + "\0",
        two + "/a\\b", "a/../../b", "x".repeat(10_000), "/etc\r\n\u001b[2J")) {
      assertThatThrownBy(() -> ConfinedDirectory.within(roots, bad, "key")).isInstanceOf(InvalidInput.class)
          .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(800).matches("[ -~]*"));
    }
    Files.createSymbolicLink(two.resolve("way"), dir);
    Path way = two.resolve("way");
    refused(ConfinedDirectory.within(roots, two + "/way", "key"), "x", way);
    assertThat(ConfinedDirectory.within(List.of(two, way), way.toString(), "key").exists())
        .as("a link that the user has named as a root, below another one").isTrue();
  }
}
