package io.regatta.protocol.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;

/**
 * The owner of a file, by number: an image may have no name for the user that a container runs as.
 * Stateless, any thread; blocks.
 */
public final class FileOwner {

  private static final String UID = "unix:uid";
  /** Belongs to the user of this process; Linux has it. */
  private static final Path PROCESS = Path.of("/proc/self");

  private FileOwner() {}

  /**
   * Returns the number of the user of this process.
   *
   * @throws IOException or {@link UnsupportedOperationException} or {@link IllegalArgumentException}, if the system
   *     does not provide it
   */
  public static int user() throws IOException {
    return (Integer) Files.getAttribute(PROCESS, UID);
  }

  /** Returns true if a file belongs to the user of this process. Where users have no numbers, their names count. */
  public static boolean isOwn(Path file, LinkOption... links) throws IOException {
    return file.getFileSystem().supportedFileAttributeViews().contains("unix") && Files.exists(PROCESS)
        ? Files.getAttribute(file, UID, links).equals(user())
        : Files.getOwner(file, links).getName().equals(System.getProperty("user.name"));
  }
}
