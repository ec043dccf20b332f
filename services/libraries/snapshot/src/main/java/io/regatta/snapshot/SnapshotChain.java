package io.regatta.snapshot;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.file.ConfinedDirectory;
import io.regatta.snapshot.Snapshots.Found;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** The chain of snapshots that a delta is relative to. Stateless; reads manifests. */
public final class SnapshotChain {

  private SnapshotChain() {}

  /**
   * Returns a snapshot and those that it is relative to, oldest first: a whole one, then deltas.
   *
   * @throws InvalidInput if one is missing, or is not the one that was there when the delta was taken
   */
  public static List<Found> of(Path dir) {
    return of(ConfinedDirectory.of(dir.toAbsolutePath().normalize()));
  }

  /** Returns the chain; a delta's parent lies where {@link ConfinedDirectory#beside} finds it. */
  static List<Found> of(ConfinedDirectory dir) {
    List<Found> chain = new ArrayList<>();
    Set<Path> seen = new HashSet<>();
    ConfinedDirectory at = dir;
    while (true) {
      Found older = chain.isEmpty() ? Found.in(at) : parent(at, chain);
      if (!seen.add(at.path()) || !chain.isEmpty() && !isParent(older, chain.get(0).manifest())) {
        throw new InvalidInput(chain.get(0).dir() + " is a delta, but " + at + " is not what it is relative to: it was replaced "
            + "by a snapshot of another time or run; use another one");
      }
      chain.add(0, older);
      if (older.manifest().kind() != SnapshotKind.DELTA) {
        return chain;
      }
      at = at.beside(older.manifest().parent());
    }
  }

  /**
   * Returns the parent of a chain's first snapshot. If it is missing, the error names the delta, not that directory.
   */
  private static Found parent(ConfinedDirectory at, List<Found> chain) {
    try {
      return Found.in(at);
    } catch (InvalidInput e) {
      Path name = at.path();
      Found newest = chain.get(chain.size() - 1);
      throw new InvalidInput(newest.dir() + " is a delta"
          + (chain.size() > 1 ? ", through " + chain.get(0).dir().getFileName() + " relative to " : " relative to ")
          + name.getFileName()
          + (Files.exists(name) ? ", which cannot be read: " + e.getMessage() : ", which is not there")
          + ". A delta holds only what has changed since: put " + name.getFileName() + " back beside it, or take a "
          + "snapshot that needs no other (regatta checkpoint inspect " + name.getParent()
          + " lists them with their kinds)", e);
    }
  }

  private static boolean isParent(Found older, Manifest delta) {
    Manifest m = older.manifest();
    return m.run().equals(delta.run()) && older.checksum().equals(delta.parentChecksum())
        && m.model().equals(delta.model().over(m.model().sharding()));
  }
}
