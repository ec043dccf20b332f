package io.regatta.parameterserver;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.security.ConfinedPath;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;

/**
 * The directories below which a server writes and reads snapshots, and the check of those that requests name.
 * Immutable, any thread.
 */
final class SnapshotRoots {

  static final String KEY = "parameter_server.snapshot_roots";
  /** The longest path of Linux. */
  private static final int PATH_CHARACTERS = 4096;

  private final List<Path> roots;
  private final boolean any;

  private SnapshotRoots(List<Path> roots, boolean any) {
    this.roots = roots;
    this.any = any;
  }

  /**
   * Returns the configured roots.
   *
   * @param directories absolute, or relative to the working directory
   * @param local whether processes of this machine alone reach the server: then no directory stands for all directories
   */
  static SnapshotRoots of(List<String> directories, boolean local) {
    return new SnapshotRoots(directories.stream().map(directory -> Path.of(directory).toAbsolutePath().normalize())
        .toList(), directories.isEmpty() && local);
  }

  /** Returns roots that refuse no directory. */
  static SnapshotRoots any() {
    return of(List.of(), true);
  }

  /**
   * Returns the path that a request names: absolute, or relative to the first root. The disk is not looked at.
   *
   * @throws InvalidInput if it is empty or no path
   */
  Path path(String name) {
    if (name.isEmpty()) {
      throw new InvalidInput("the directory of the request is empty");
    }
    try {
      if (name.length() <= PATH_CHARACTERS) {
        return roots.isEmpty() ? Path.of(name) : roots.get(0).resolve(name);
      }
    } catch (InvalidPathException e) {
      throw new InvalidInput("the directory of the request cannot be used: " + e.getReason(), e);
    }
    throw new InvalidInput("the directory of the request has " + name.length() + " characters; at most "
        + PATH_CHARACTERS + " are taken");
  }

  /**
   * Checks that a directory is below a root. Blocks.
   *
   * @throws InvalidInput naming the roots and the key if it is elsewhere, or a symbolic link is on the way
   */
  void check(Path directory) {
    if (any) {
      return;
    }
    if (roots.isEmpty()) {
      throw new InvalidInput("this server takes no snapshots: it serves other machines, and " + KEY
          + " is empty; set it to the directory that holds the job's snapshots");
    }
    ConfinedPath.within(roots, directory.toString(), KEY);
  }
}
