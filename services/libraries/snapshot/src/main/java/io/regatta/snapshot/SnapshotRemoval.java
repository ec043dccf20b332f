package io.regatta.snapshot;

import io.regatta.protocol.connection.PeerLog;
import io.regatta.protocol.vertx.SystemClock;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.time.Instant;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes snapshots, and what killed processes have left of them, so that none is ever there by half. Stateless; blocks on
 * files.
 */
public final class SnapshotRemoval {

  private static final Logger LOG = LoggerFactory.getLogger(SnapshotRemoval.class);
  private static final PeerLog REMOVALS = PeerLog.ofEvents(LOG);
  private static final String REMOVED = "removed";
  /** Behind the name of a snapshot's directory, or a model's file, that somebody has begun, or is removing: who, a run's rank, say. */
  static final String WRITER = "\\.(new|(?:(?<run>[0-9a-f]{16})-)?(?:" + REMOVED + "|rank\\d+(?:--?\\d+)?))\\.part";
  private static final Pattern BEGUN = Pattern.compile(".+" + WRITER);
  /** What somebody is writing changes within this time. */
  private static final Duration WRITTEN_WITHIN = Duration.ofHours(1);

  private SnapshotRemoval() {}

  /**
   * Removes what writers that were killed have left in a directory, under whatever name: what a life of this run before this one
   * began, at once; of others what has not changed for an hour, for they may be alive. So with what was replaced, where that by
   * which it was is there.
   *
   * @param run that goes on, and writes nothing yet; empty: none does
   */
  public static void left(Path root, String run) throws IOException {
    try (Stream<Path> entries = Files.list(root)) {
      for (Path entry : entries.toList()) {
        Matcher begun = BEGUN.matcher(entry.getFileName().toString());
        if (begun.matches() && (run.equals(begun.group("run")) || isOld(entry))) {
          REMOVALS.info("{} is removed: whoever began it has ended", entry);
          delete(entry);
        } else if (isReplaced(entry) && isOld(entry)) {
          REMOVALS.info("{} is removed: whoever put another in its place has ended", entry);
          remove(entry, "");
        }
      }
    } catch (NoSuchFileException e) {
      // there is nothing
    } catch (UncheckedIOException e) { // of the stream
      throw e.getCause();
    }
  }

  /** A snapshot, and that which was put in its place is there: whoever did so was killed before removing it. */
  private static boolean isReplaced(Path dir) {
    Path by = replacedBy(dir);
    return by != null && isWhole(dir) && isWhole(by);
  }

  private static boolean isWhole(Path dir) {
    return Files.exists(dir.resolve(ManifestFile.NAME));
  }

  /** The directory by which one was replaced, going by its name, or is to be; null: this is none that was. */
  static Path replacedBy(Path dir) {
    String name = dir.getFileName().toString();
    return name.endsWith(SnapshotDirectory.REPLACED)
        ? dir.resolveSibling(name.substring(0, name.length() - SnapshotDirectory.REPLACED.length())) : null;
  }

  /** Neither it nor what is in it has changed for long. */
  private static boolean isOld(Path begun) throws IOException {
    Instant since = Instant.ofEpochMilli(SystemClock.get().epochMillis()).minus(WRITTEN_WITHIN);
    try (Stream<Path> all = Files.walk(begun)) {
      for (Path path : all.toList()) {
        if (Files.getLastModifiedTime(path).toInstant().isAfter(since)) {
          return false;
        }
      }
      return true;
    } catch (NoSuchFileException e) {
      return false; // it has just got its name
    } catch (UncheckedIOException e) { // of the stream
      return false;
    }
  }

  /**
   * Removes a snapshot, if it is there. First it loses its name: what is half removed is none, and whoever is killed on the way
   * leaves a {@code .part}, see {@link #left}.
   *
   * @param run that removes it, whose next life goes on with that at once; empty: none does
   */
  static void remove(Path snapshot, String run) throws IOException {
    Path part = SnapshotDirectory.of(snapshot, run.isEmpty() ? REMOVED : run + "-" + REMOVED).part();
    delete(part);
    try {
      Files.move(snapshot, part, StandardCopyOption.ATOMIC_MOVE);
    } catch (NoSuchFileException e) {
      return; // somebody else has
    }
    delete(part);
  }

  /** Others may be removing or still writing there: what has gone meanwhile is gone. */
  static void delete(Path dir) throws IOException {
    Files.walkFileTree(dir, new SimpleFileVisitor<>() {
      @Override
      public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) throws IOException {
        Files.deleteIfExists(file);
        return FileVisitResult.CONTINUE;
      }

      @Override
      public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
        if (e instanceof NoSuchFileException) {
          return FileVisitResult.CONTINUE;
        }
        throw e;
      }

      @Override
      public FileVisitResult postVisitDirectory(Path visited, IOException e) throws IOException {
        if (e != null) {
          throw e;
        }
        Files.deleteIfExists(visited);
        return FileVisitResult.CONTINUE;
      }
    });
  }
}
