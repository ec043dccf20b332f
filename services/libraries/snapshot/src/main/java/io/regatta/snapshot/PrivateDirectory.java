package io.regatta.snapshot;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Makes the directories of snapshots, which hold all parameters, for their owner alone (0700), whatever the umask is.
 * If the directory above is writable for its group, the user shares it with that group, and the new one is the group's
 * as well (0770). {@link io.regatta.core.file.ConfinedDirectory#create} makes their files. File systems without such
 * permissions are left as they are. Stateless; blocks.
 */
final class PrivateDirectory {

  private static final int SPECIAL_BITS = 07000;

  private PrivateDirectory() {}

  /** Makes a directory that is not there yet, and those above it as the umask says. */
  static void create(Path dir) throws IOException {
    Path parent = dir.toAbsolutePath().getParent();
    Files.createDirectories(parent);
    if (!isPosix(dir) || Files.isDirectory(dir)) {
      Files.createDirectories(dir);
      return;
    }
    Files.createDirectory(dir, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
    if (isShared(parent)) {
      setMode(dir, 0770);
    }
  }

  private static boolean isPosix(Path path) {
    return path.getFileSystem().supportedFileAttributeViews().contains("unix");
  }

  private static boolean isShared(Path dir) throws IOException {
    return Files.getPosixFilePermissions(dir).contains(PosixFilePermission.GROUP_WRITE);
  }

  /** Keeps the bit by which what is made in a directory gets the directory's group. */
  private static void setMode(Path path, int mode) throws IOException {
    int now = (Integer) Files.getAttribute(path, "unix:mode");
    Files.setAttribute(path, "unix:mode", now & SPECIAL_BITS | mode);
  }
}
