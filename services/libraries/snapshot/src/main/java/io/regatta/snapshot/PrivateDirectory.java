package io.regatta.snapshot;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * The creation of snapshots' directories, which hold all parameters: for their owner alone (0700), whatever the umask
 * is. If the parent directory is writable for its group, the user shares it with that group, and the new one is the
 * group's as well (0770). {@link io.regatta.core.file.ConfinedDirectory#create} makes their files. File systems without
 * such permissions are left as they are. Stateless; blocks.
 */
final class PrivateDirectory {

  private static final int SPECIAL_BITS = 07000;

  private PrivateDirectory() {}

  /** Makes a directory that does not exist yet, with its parents as the umask demands. */
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

  /** Sets a mode, and keeps the bit that gives new entries of a directory the directory's group. */
  private static void setMode(Path path, int mode) throws IOException {
    int now = (Integer) Files.getAttribute(path, "unix:mode");
    Files.setAttribute(path, "unix:mode", now & SPECIAL_BITS | mode);
  }
}
