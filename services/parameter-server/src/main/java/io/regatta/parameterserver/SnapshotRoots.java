package io.regatta.parameterserver;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.file.ConfinedDirectory;
import io.regatta.node.Node;
import io.regatta.node.address.PublishedAddress;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** The directories below which a server writes and reads snapshots. Immutable, any thread. */
public final class SnapshotRoots {

  static final String KEY = "parameter_server.snapshot_roots";

  private final List<Path> roots;

  private SnapshotRoots(List<Path> roots) {
    this.roots = roots;
  }

  /** Returns the roots of a server with this configuration on a node. */
  static SnapshotRoots of(ParameterServerConfig config, Node node) {
    return of(config.snapshotRoots(), PublishedAddress.isLoopback(node.bind()));
  }

  /**
   * Returns the configured roots.
   *
   * @param directories absolute, or relative to the working directory. None stand for the working directory if the
   *     server serves this machine alone and that is not the root of the file system, and else for no directory
   * @param local whether processes of this machine alone reach the server
   */
  public static SnapshotRoots of(List<String> directories, boolean local) {
    return of(directories, local, Path.of("").toAbsolutePath());
  }

  static SnapshotRoots of(List<String> directories, boolean local, Path working) {
    if (!directories.isEmpty()) {
      return new SnapshotRoots(directories.stream().map(directory -> Path.of(directory).toAbsolutePath().normalize())
          .toList());
    }
    return new SnapshotRoots(local && working.getParent() != null ? List.of(working.normalize()) : List.of());
  }

  /**
   * Returns the directory that a request names: absolute, or relative to the first root. Blocks on files.
   *
   * @throws InvalidInput naming the roots and the key if it is elsewhere, or the key if there are none
   */
  ConfinedDirectory directory(String name) {
    if (roots.isEmpty()) {
      throw new InvalidInput("this server takes no snapshots, because " + KEY + " is empty and it serves other "
          + "machines or was started in /: set " + KEY + " to the directory that holds the job's snapshots");
    }
    return ConfinedDirectory.within(roots, name, KEY);
  }

  /**
   * Checks that this server writes, or reads, snapshots in the directory that a request names, once it is there. Blocks
   * on files.
   *
   * @throws InvalidInput if it does not, as {@link #directory} does, or because of a link on the way
   */
  void check(String name, boolean write) throws IOException {
    ConfinedDirectory directory = directory(name);
    if (write) {
      directory.existsWithoutLinks();
    } else {
      directory.exists();
    }
  }
}
