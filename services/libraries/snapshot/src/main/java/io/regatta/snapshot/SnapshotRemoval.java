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
 * The removal of snapshots, and of the remains of killed processes, so that a snapshot is never visible in part.
 * Stateless; blocks on files.
 */
public final class SnapshotRemoval {

  private static final Logger LOG = LoggerFactory.getLogger(SnapshotRemoval.class);
  private static final PeerLog REMOVALS = PeerLog.ofEvents(LOG);
  private static final String REMOVED = "removed";
  /**
   * Suffix of a snapshot's directory, or a model's file, that a writer has begun, or is removing, with the writer: e.g.
   * a run's rank.
   */
  static final String WRITER = "\\.(new|(?:(?<run>[0-9a-f]{16})-)?(?:" + REMOVED + "|rank\\d+(?:--?\\d+)?))\\.part";
  private static final Pattern BEGUN = Pattern.compile(".+" + WRITER);
  /** Time within which a file that is being written changes. */
  private static final Duration WRITTEN_WITHIN = Duration.ofHours(1);

  private SnapshotRemoval() {}

  /**
   * Removes the remains of killed writers in a directory, under any name. Remains of an earlier life of this run are
   * removed at once; remains of others after an hour without a change, since their writers may be alive. A replaced
   * snapshot is removed likewise, once its replacement is there.
   *
   * @param run that resumes, and writes nothing yet; empty: none does
   */
  public static void left(Path root, String run) throws IOException {
    try (Stream<Path> entries = Files.list(root)) {
      for (Path entry : entries.toList()) {
        Matcher begun = BEGUN.matcher(entry.getFileName().toString());
        if (begun.matches() && (run.equals(begun.group("run")) || isOld(entry))) {
          REMOVALS.info("{} is removed: its writer has ended", entry);
          delete(entry);
        } else if (isReplaced(entry) && isOld(entry)) {
          REMOVALS.info("{} is removed: the writer that replaced it has ended", entry);
          remove(entry, "");
        }
      }
    } catch (NoSuchFileException e) {
      // there is nothing
    } catch (UncheckedIOException e) { // of the stream
      throw e.getCause();
    }
  }

  /** Returns true for a snapshot whose replacement is there: the writer was killed before removing it. */
  private static boolean isReplaced(Path dir) {
    Path by = replacedBy(dir);
    return by != null && isWhole(dir) && isWhole(by);
  }

  private static boolean isWhole(Path dir) {
    return Files.exists(dir.resolve(ManifestFile.NAME));
  }

  /**
   * Returns the directory that has replaced, or is to replace, a directory of this name; null: the name is none of a
   * replaced one.
   */
  static Path replacedBy(Path dir) {
    String name = dir.getFileName().toString();
    return name.endsWith(SnapshotDirectory.REPLACED)
        ? dir.resolveSibling(name.substring(0, name.length() - SnapshotDirectory.REPLACED.length())) : null;
  }

  /** Returns true if neither it nor its content has changed for long. */
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
   * Removes a snapshot, if it is there. First it loses its name: a half removed directory is no snapshot, and a process
   * killed on the way leaves a {@code .part}, see {@link #left}.
   *
   * @param run that removes it, whose next life continues with that at once; empty: none does
   */
  static void remove(Path snapshot, String run) throws IOException {
    Path part = SnapshotDirectory.of(snapshot, run.isEmpty() ? REMOVED : run + "-" + REMOVED).part();
    delete(part);
    try {
      Files.move(snapshot, part, StandardCopyOption.ATOMIC_MOVE);
    } catch (NoSuchFileException e) {
      return; // another process has
    }
    delete(part);
  }

  /** Deletes a directory. Others may be removing or still writing there: missing files are no error. */
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
