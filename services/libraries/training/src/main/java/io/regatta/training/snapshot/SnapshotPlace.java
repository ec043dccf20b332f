package io.regatta.training.snapshot;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.snapshot.Snapshots;
import io.regatta.snapshot.WritablePlace;
import java.io.IOException;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directory in which a run keeps its snapshots, alone. Immutable; its methods block on files.
 *
 * @param job for messages
 * @param run whose snapshots those in there are to be
 * @param keep so many of each kind, see {@link Snapshots#retain}
 */
record SnapshotPlace(Path root, String job, String run, int keep) {

  private static final Logger LOG = LoggerFactory.getLogger(SnapshotPlace.class);

  /**
   * What a job that takes snapshots by itself is refused for at its start.
   *
   * @param steps that the run has made
   * @throws InvalidInput if others than its own, or later ones, are here
   */
  void requireNoOther(long steps) {
    try {
      for (Snapshots.Found there : Snapshots.list(root)) {
        if (!there.manifest().run().equals(run) || there.manifest().step() > steps) {
          throw new InvalidInput(root + " holds snapshot " + there.dir().getFileName() + " of job " + there.manifest().job()
              + ", which this run has not made; name another snapshots.dir (or output), or remove those in there");
        }
      }
    } catch (IOException e) {
      throw new InvalidInput("snapshots of job " + job + " cannot be written to " + root + ": " + WritablePlace.reason(e), e);
    }
  }

  /** Two jobs that write to one place would take each other's snapshots for their own. */
  void requireOwn(Path target) {
    if (Snapshots.find(target).filter(there -> !there.manifest().run().equals(run)).isPresent()) {
      throw new InvalidInput(target + " is there already, of another run; give each job a snapshots.dir of its own");
    }
  }

  /** A new one is there, whatever becomes of the others. */
  void removeOlder() {
    try {
      Snapshots.retain(root, run, keep);
    } catch (IOException | RuntimeException e) {
      LOG.warn("older snapshots in {} could not be removed, which fills the disk: {}", root, e.toString());
    }
  }
}
