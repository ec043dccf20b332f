package io.regatta.predictor;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.loop.Clock;
import io.regatta.core.loop.Stopwatch;
import io.regatta.snapshot.Manifest;
import io.regatta.snapshot.ManifestFile;
import io.regatta.snapshot.SnapshotKind;
import io.regatta.snapshot.Snapshots;
import io.regatta.snapshot.Snapshots.Found;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Which snapshots of a directory a predictor takes over, and which it leaves alone. Used by one thread at a time, which it blocks on
 * files.
 */
final class SnapshotFollower {

  private static final Logger LOG = LoggerFactory.getLogger(SnapshotFollower.class);

  private static final int GONE_TOLD = 3;

  private final Clock clock;
  private final Predictor predictor;
  private final Path root;
  /** The base or delta whose chain is followed; null: none. */
  private Manifest chain;
  /** Steps from one of its members to the next; of its first one, from the one before it that is there, or up to it. */
  private long stride;
  /** Whether the directory was not there at the last look. */
  private boolean missing;
  /** Looks in a row at which what was to be taken over had gone before it was read. */
  private int gone;
  /** Snapshots that could not be taken over: directory, and checksum of the manifest. */
  private final Map<Path, String> bad = new HashMap<>();
  /** What has been said of what cannot be read, at the last look. */
  private Set<String> told = new HashSet<>();

  SnapshotFollower(Clock clock, Predictor predictor, Path root) {
    this.clock = clock;
    this.predictor = predictor;
    this.root = root;
  }

  /**
   * Takes over the newest snapshot that is newer than what is served and can be read. One that is damaged is told of in the log
   * once, and not read again while it has the same manifest; the one before it is looked at instead.
   *
   * @throws InvalidInput if the directory cannot be read
   */
  void look() {
    if (isMissing()) {
      return;
    }
    Set<String> said = new HashSet<>();
    List<Found> newestFirst;
    try {
      newestFirst = Snapshots.within(root, why -> tell(why, said));
    } catch (IOException e) {
      throw new InvalidInput("the snapshots in " + root + " cannot be looked for (predictor.follow): " + e, e);
    }
    bad.keySet().removeIf(dir -> newestFirst.stream().noneMatch(found -> found.dir().equals(dir)));
    for (Found found : newestFirst) {
      if (predictor.source().isBefore(found.manifest()) && !isLeftAlone(found.manifest())
          && !found.checksum().equals(bad.get(found.dir())) && take(found, newestFirst, said)) {
        break;
      }
    }
    told = said;
  }

  /** Tells once that the directory is not there, for it may be a slip, and once that it has come. */
  private boolean isMissing() {
    boolean was = missing;
    missing = !Files.isDirectory(root);
    if (missing && !was) {
      LOG.warn("{} is served as it is: {} {} (predictor.follow); it is followed from when it is there",
          predictor.source().dir(), root.toAbsolutePath(), Files.exists(root) ? "is no directory" : "does not exist");
    } else if (was && !missing) {
      LOG.info("{} is there now, and is followed", root.toAbsolutePath());
    }
    return missing;
  }

  /**
   * One of kind batch holds everything, and no delta is relative to it: taken over, it would make the next delta another
   * whole reading. Unless it is so far ahead that nothing more is to be expected of the chain.
   */
  private boolean isLeftAlone(Manifest snapshot) {
    return snapshot.kind() == SnapshotKind.BATCH && chain != null && snapshot.run().equals(chain.run())
        && snapshot.step() - chain.step() <= 2 * stride;
  }

  private boolean take(Found found, List<Found> newestFirst, Set<String> said) {
    Manifest snapshot = found.manifest();
    Stopwatch taking = Stopwatch.start(clock);
    try {
      predictor.take(found.dir());
    } catch (InvalidInput e) {
      if (Thread.currentThread().isInterrupted()) {
        throw e; // nobody is served any more
      }
      if (!Files.exists(found.dir().resolve(ManifestFile.NAME))) {
        if (++gone == GONE_TOLD) {
          LOG.warn("{} is served as it is: {} snapshots in a row were removed before they had been read, {} the last one; have more of "
              + "them kept (snapshots.keep)", predictor.source().dir(), gone, found.dir());
        }
      } else {
        tell(e.getMessage(), said);
        if (!(e.getCause() instanceof IOException)) { // that may pass
          bad.put(found.dir(), found.checksum());
        }
      }
      return false;
    }
    LOG.info("took snapshot {} over, step {}, in {}", found.dir(), snapshot.step(), taking);
    gone = 0;
    boolean goesOn = isChained(snapshot) && chain != null && snapshot.run().equals(chain.run());
    stride = snapshot.step() - (goesOn ? chain.step() : newestFirst.stream().map(Found::manifest)
        .filter(other -> isChained(other) && other.run().equals(snapshot.run()) && other.step() < snapshot.step())
        .mapToLong(Manifest::step).max().orElse(0));
    chain = isChained(snapshot) ? snapshot : null;
    return true;
  }

  private static boolean isChained(Manifest snapshot) {
    return snapshot.kind() == SnapshotKind.BASE || snapshot.kind() == SnapshotKind.DELTA;
  }

  /** Once, not at each look. */
  private void tell(String why, Set<String> said) {
    if (said.add(why) && !told.contains(why)) {
      LOG.warn("{} is served as it is: {}", predictor.source().dir(), why);
    }
  }
}
