package io.regatta.training.snapshot;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.snapshot.Snapshots;
import io.regatta.snapshot.WritablePlace;
import java.io.IOException;
import java.nio.file.Path;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The directory in which a run alone keeps its snapshots. Immutable; its methods block on files.
 *
 * @param job for messages
 * @param run whose snapshots may be in it
 * @param keep number of each kind to keep, see {@link Snapshots#retain}
 */
record SnapshotPlace(Path root, String job, String run, int keep) {

  private static final Logger LOG = LoggerFactory.getLogger(SnapshotPlace.class);

  /**
   * Checks that the directory has no snapshots of another run, or later ones; at the start of a job that takes
   * snapshots by itself.
   *
   * @param steps that the run has made
   * @throws InvalidInput if it has
   */
  void requireNoOther(long steps) {
    try {
      for (Snapshots.Found there : Snapshots.list(root)) {
        if (!there.manifest().run().equals(run) || there.manifest().step() > steps) {
          throw new InvalidInput(root + " holds snapshot " + there.dir().getFileName() + " of job " + there.manifest().job()
              + ", which this run has not made; name another snapshots.dir (or output), or remove its snapshots");
        }
      }
    } catch (IOException e) {
      throw new InvalidInput("snapshots of job " + job + " cannot be written to " + root + ": " + WritablePlace.reason(e), e);
    }
  }

  /**
   * Checks that a snapshot's name is free, or of the same run: two jobs that write to one directory would confuse their
   * snapshots.
   */
  void requireOwn(Path target) {
    if (Snapshots.find(target).filter(there -> !there.manifest().run().equals(run)).isPresent()) {
      throw new InvalidInput(target + " exists already, from another run; give each job a snapshots.dir of its own");
    }
  }

  /** Removes older snapshots after a new one exists; a failure does not affect it. */
  void removeOlder() {
    try {
      Snapshots.retain(root, run, keep);
    } catch (IOException | RuntimeException e) {
      LOG.warn("older snapshots in {} could not be removed, which fills the disk: {}", root, e.toString());
    }
  }
}
