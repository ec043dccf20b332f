package io.regatta.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PrivateDirectoryTest {

  @TempDir
  Path dir;

  private static String mode(Path path) throws Exception {
    return PosixFilePermissions.toString(Files.getPosixFilePermissions(path));
  }

  @Test
  void snapshots_are_for_their_owner_alone() throws Exception {
    Path above = Files.createDirectory(dir.resolve("above"));
    Files.setPosixFilePermissions(above, PosixFilePermissions.fromString("rwxr-xr-x"));
    Path part = SnapshotDirectory.of(above.resolve("full")).begin().part();
    assertThat(mode(part)).isEqualTo("rwx------");
  }

  @Test
  void when_the_directory_above_is_shared_with_a_group_then_the_snapshot_is_too() throws Exception {
    Path above = Files.createDirectory(dir.resolve("above"));
    Files.setAttribute(above, "unix:mode", 02770);
    Path part = SnapshotDirectory.of(above.resolve("full")).begin().part();
    assertThat(mode(part)).isEqualTo("rwxrwx---");
    assertThat((Integer) Files.getAttribute(part, "unix:mode") & 02000).as("the group's bit").isEqualTo(02000);
  }
}
