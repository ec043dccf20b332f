package io.regatta.protocol.memory;

import io.regatta.protocol.file.FileOwner;
import java.io.IOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A directory shared by processes of one user on one machine, {@code regatta-UID}, which nobody else can read or write.
 * Its methods access files: not on an event loop, except {@link #path}.
 */
public final class UserDirectory {

  private static final Logger LOG = LoggerFactory.getLogger(UserDirectory.class);

  private final Path path;
  /** True once a directory of another user has been logged. */
  private final AtomicBoolean said = new AtomicBoolean();

  private UserDirectory(Path path) {
    this.path = path;
  }

  /** Returns the one in this directory, which exists; null if the system does not identify the user. Makes nothing. */
  public static UserDirectory in(Path parent) {
    try {
      return new UserDirectory(parent.resolve("regatta-" + FileOwner.user()).toAbsolutePath());
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException | SecurityException e) {
      return null;
    }
  }

  /** Returns its path, whether it exists or not. */
  public Path path() {
    return path;
  }

  /**
   * Makes it if it does not exist.
   *
   * @throws IOException if it cannot be made, or is not this user's alone
   */
  public void make() throws IOException {
    if (!Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)) {
      Files.createDirectories(path.getParent());
      try {
        Files.createDirectory(path, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      } catch (FileAlreadyExistsException another) {
        // Another process of this user was faster; it is checked below.
      }
    }
    if (!isOwn()) {
      throw new IOException(path + " is not a directory of this user alone");
    }
  }

  /** Returns true if it exists and is this user's alone; a line of the log reports, once, if it is another user's. */
  public boolean isOwn() throws IOException {
    boolean own = Files.isDirectory(path, LinkOption.NOFOLLOW_LINKS)
        && FileOwner.isOwn(path, LinkOption.NOFOLLOW_LINKS)
        && PosixFilePermissions.toString(Files.getPosixFilePermissions(path, LinkOption.NOFOLLOW_LINKS)).equals("rwx------");
    if (!own && Files.exists(path, LinkOption.NOFOLLOW_LINKS) && said.compareAndSet(false, true)) {
      LOG.warn("{} is not a directory of this user alone, so tensors between processes of this machine go a slower way: remove it",
          path);
    }
    return own;
  }
}
