package io.regatta.protocol.security;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.file.FileNames;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;

/**
 * The check of a directory that a peer names: it is one of several root directories, or below one. Each part of its
 * path below the root is a plain name ({@link FileNames}), and none is a symbolic link. The root itself may be one: the
 * user has named it. Stateless, any thread; blocks.
 *
 * <p>The check precedes the opening of a file. Whoever may write below the root can replace a directory by a link in
 * between: the root must belong to those who are trusted with its content.
 */
public final class ConfinedPath {

  /** The longest path of Linux. */
  private static final int CHARACTERS_MAX = 4096;

  private ConfinedPath() {}

  /**
   * Returns the directory that a peer names, absolute or relative to the first root; it need not be there.
   *
   * @param roots absolute and normalized, at least one
   * @param key of the configuration that names the roots, for the message
   * @throws InvalidInput naming the roots and the key if it is elsewhere, or the part that is no plain name or is a
   *     link
   */
  public static Path within(List<Path> roots, String directory, String key) {
    for (Path root : roots) {
      String below = below(root, directory);
      if (below != null) {
        return below.isEmpty() ? root : resolve(root, below);
      }
    }
    throw new InvalidInput("directory '" + PeerLog.text(directory) + "' is not below "
        + String.join(" or ", roots.stream().map(Path::toString).toList())
        + ", where this process reads and writes snapshots ("
        + key + "): give the job a directory there, or this process another " + key);
  }

  private static Path resolve(Path root, String names) {
    Path at = root;
    for (String name : names.split("/", -1)) {
      at = at.resolve(FileNames.check(name));
      if (Files.isSymbolicLink(at)) {
        throw new InvalidInput(at + " is a symbolic link, which is not followed below " + root
            + ": put the directory itself there");
      }
    }
    return at;
  }

  /** Returns the rest of a directory's name behind a root; null if it is elsewhere. */
  private static String below(Path root, String directory) {
    if (directory.isEmpty() || directory.length() > CHARACTERS_MAX) {
      return null;
    }
    try {
      if (!Path.of(directory).isAbsolute()) {
        return directory;
      }
    } catch (InvalidPathException e) {
      return null;
    }
    String prefix = root.toString();
    if (directory.equals(prefix)) {
      return "";
    }
    String slash = prefix.endsWith("/") ? prefix : prefix + "/";
    return directory.startsWith(slash) ? directory.substring(slash.length()) : null;
  }
}
