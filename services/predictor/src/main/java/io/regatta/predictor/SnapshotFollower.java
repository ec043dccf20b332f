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
 * The choice of the snapshots of a directory that a predictor takes over. Used by one thread at a time, which it blocks
 * on files.
 */
final class SnapshotFollower {

  private static final Logger LOG = LoggerFactory.getLogger(SnapshotFollower.class);

  private static final int GONE_LOGGED = 3;

  private final Clock clock;
  private final Predictor predictor;
  private final Path root;
  /** The base or delta whose chain is followed; null: none. */
  private Manifest chain;
  /** Steps between two members of the chain; for its first one, from the previous existing member, or from 0. */
  private long stride;
  /** True if the directory did not exist at the last look. */
  private boolean missing;
  /** Consecutive looks at which the snapshot was removed before it had been read. */
  private int gone;
  /** Snapshots that could not be taken over: directory, and checksum of the manifest. */
  private final Map<Path, String> bad = new HashMap<>();
  /** Messages on unreadable snapshots that were logged at the last look. */
  private Set<String> logged = new HashSet<>();

  SnapshotFollower(Clock clock, Predictor predictor, Path root) {
    this.clock = clock;
    this.predictor = predictor;
    this.root = root;
  }

  /**
   * Takes over the newest readable snapshot that is newer than the served values. A damaged one is logged once, and not
   * read again while it has the same manifest; the one before it is tried instead.
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
      newestFirst = Snapshots.within(root, why -> warnOnce(why, said));
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
    logged = said;
  }

  /** Logs once that the directory does not exist, which may be a mistake, and once that it has appeared. */
  private boolean isMissing() {
    boolean was = missing;
    missing = !Files.isDirectory(root);
    if (missing && !was) {
      LOG.warn("{} is served without updates: {} {} (predictor.follow); it is followed once it exists",
          predictor.source().dir(), root.toAbsolutePath(), Files.exists(root) ? "is not a directory" : "does not exist");
    } else if (was && !missing) {
      LOG.info("{} exists now, and is followed", root.toAbsolutePath());
    }
    return missing;
  }

  /**
   * Returns true if a snapshot is skipped. One of kind batch is complete, and no delta is relative to it: after it, the
   * next delta would need another complete read. It is taken nevertheless if it is so far ahead that the chain seems to
   * have ended.
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
        throw e; // the service has stopped
      }
      if (!Files.exists(found.dir().resolve(ManifestFile.NAME))) {
        if (++gone == GONE_LOGGED) {
          LOG.warn("{} is served without updates: {} snapshots in a row were removed before they had been read, the last one was {}; keep more of "
              + "them (snapshots.keep)", predictor.source().dir(), gone, found.dir());
        }
      } else {
        warnOnce(e.getMessage(), said);
        if (!(e.getCause() instanceof IOException)) { // an I/O error may pass
          bad.put(found.dir(), found.checksum());
        }
      }
      return false;
    }
    LOG.info("took snapshot {} over, step {}, in {}", found.dir(), snapshot.step(), taking);
    gone = 0;
    boolean continues = isChained(snapshot) && chain != null && snapshot.run().equals(chain.run());
    stride = snapshot.step() - (continues ? chain.step() : newestFirst.stream().map(Found::manifest)
        .filter(other -> isChained(other) && other.run().equals(snapshot.run()) && other.step() < snapshot.step())
        .mapToLong(Manifest::step).max().orElse(0));
    chain = isChained(snapshot) ? snapshot : null;
    return true;
  }

  private static boolean isChained(Manifest snapshot) {
    return snapshot.kind() == SnapshotKind.BASE || snapshot.kind() == SnapshotKind.DELTA;
  }

  /** Logs a message once, not at each look. */
  private void warnOnce(String why, Set<String> said) {
    if (said.add(why) && !logged.contains(why)) {
      LOG.warn("{} is served without updates: {}", predictor.source().dir(), why);
    }
  }
}
