package io.regatta.protocol.file;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.EnumSet;
import java.util.Set;

/**
 * A reader of files that hold a secret, which refuses those that other users may read or change. A file of this
 * process's user is for that user alone (0600, 0400). A file of another user, such as a Kubernetes Secret, which root
 * owns, may also be readable for its group (0440). There is no other way to give such a file to this process. File
 * systems without such permissions are not checked. Stateless, any thread; blocks.
 */
public final class SecretFile {

  private static final Set<PosixFilePermission> OWNERS = EnumSet.of(PosixFilePermission.OWNER_READ,
      PosixFilePermission.OWNER_WRITE, PosixFilePermission.OWNER_EXECUTE);

  private SecretFile() {}

  /**
   * Returns the content of a file.
   *
   * @param setting that names it, for messages
   * @throws InvalidInput one line with the reason for which it cannot be read, or its mode and how to change it
   */
  public static byte[] read(String setting, Path file) {
    try {
      check(setting, file);
      return Files.readAllBytes(file);
    } catch (IOException e) {
      String why = e instanceof NoSuchFileException ? "no such file" : e instanceof AccessDeniedException
          ? "permission denied" : String.valueOf(e.getMessage());
      throw new InvalidInput(setting + " " + file.toAbsolutePath() + " cannot be read: " + why, e);
    }
  }

  private static void check(String setting, Path file) throws IOException {
    if (!file.getFileSystem().supportedFileAttributeViews().contains("posix")) {
      return;
    }
    Set<PosixFilePermission> all = Files.getPosixFilePermissions(file); // of the file itself, where this is a link
    if (isTooOpen(all, FileOwner.isOwn(file))) {
      throw new InvalidInput(setting + " " + file.toAbsolutePath() + " has the mode "
          + PosixFilePermissions.toString(all)
          + ", which lets other users of this machine read or change a secret: chmod 600 " + file.toAbsolutePath()
          + ", or set defaultMode: 0400 for a Secret of Kubernetes");
    }
  }

  /**
   * Returns true if more users than necessary may read or change a file.
   *
   * @param own whether the file belongs to this process's user
   */
  static boolean isTooOpen(Set<PosixFilePermission> permissions, boolean own) {
    Set<PosixFilePermission> allowed = EnumSet.copyOf(OWNERS);
    if (!own) {
      allowed.add(PosixFilePermission.GROUP_READ);
    }
    return !allowed.containsAll(permissions);
  }
}
