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
 * A directory for what processes of one user on one machine share, {@code regatta-UID}, which nobody else can look into or put
 * anything into. Its methods look at files: not on an event loop, but for {@link #path}.
 */
public final class UserDirectory {

  private static final Logger LOG = LoggerFactory.getLogger(UserDirectory.class);

  private final Path path;
  /** Whether a directory of somebody else has been named. */
  private final AtomicBoolean said = new AtomicBoolean();

  private UserDirectory(Path path) {
    this.path = path;
  }

  /** The one in this directory, which exists; null if the system does not say who the user is. Makes nothing. */
  public static UserDirectory in(Path parent) {
    try {
      return new UserDirectory(parent.resolve("regatta-" + FileOwner.user()).toAbsolutePath());
    } catch (IOException | UnsupportedOperationException | IllegalArgumentException | SecurityException e) {
      return null;
    }
  }

  /** Where it is, or will be. */
  public Path path() {
    return path;
  }

  /**
   * Makes it if it is not there.
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

  /** Whether it is there, and this user's alone; a line of the log says, once, if it is somebody else's. */
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
