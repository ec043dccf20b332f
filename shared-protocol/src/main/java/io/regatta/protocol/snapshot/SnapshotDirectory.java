package io.regatta.protocol.snapshot;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.channels.FileChannel;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A snapshot's directory from its beginning to its name. It is written as {@code NAME.WRITER.part}: files first, each synced,
 * then the manifest; then all is read again and compared with the manifest, and the directory is renamed. Whoever dies on the
 * way leaves a {@code .part}, which nobody takes for a snapshot and the next attempt, or {@link #removeLeft}, removes. Made by one writer at a time (a
 * job's lowest trainer); one that was taken for dead, and goes on, finds its own removed and fails. Servers add their files to
 * {@link #part}.
 */
public final class SnapshotDirectory {

  private static final Logger LOG = LoggerFactory.getLogger(SnapshotDirectory.class);
  static final String PART = ".part";
  static final String REPLACED = ".replaced";
  /** A snapshot's directory, or a model's file, that somebody has begun: behind its name who, a run's rank, say. */
  private static final String WRITER = "\\.(new|(?:(?<run>[0-9a-f]{16})-)?rank\\d+(?:--?\\d+)?)\\.part";
  private static final Pattern BEGUN = Pattern.compile(".+" + WRITER);
  /** What somebody is writing changes within this time. */
  private static final Duration WRITTEN_WITHIN = Duration.ofHours(1);

  private final Path target;
  private final Path part;

  private SnapshotDirectory(Path target, Path part) {
    this.target = target;
    this.part = part;
  }

  /** One that is to have this name; nothing happens yet. */
  public static SnapshotDirectory of(Path target) {
    return of(target, "new");
  }

  /**
   * The same.
   *
   * @param writer the process that makes it; no other has this name
   */
  public static SnapshotDirectory of(Path target, String writer) {
    Path at = target.toAbsolutePath().normalize();
    return new SnapshotDirectory(at, at.resolveSibling(at.getFileName() + "." + writer + PART));
  }

  /** Begins it; what earlier attempts, of any writer, have left is removed. */
  public SnapshotDirectory begin() throws IOException {
    Files.createDirectories(target.getParent());
    Pattern earlier = Pattern.compile(Pattern.quote(target.getFileName().toString()) + WRITER);
    try (Stream<Path> entries = Files.list(target.getParent())) {
      for (Path left : entries.filter(e -> earlier.matcher(e.getFileName().toString()).matches()).toList()) {
        delete(left);
      }
    }
    Files.createDirectories(part);
    return this;
  }

  /**
   * Removes what writers that were killed have left in a directory, under whatever name: what a life of this run before this one
   * began, at once; of others what has not changed for an hour, for they may be alive.
   *
   * @param run that goes on, and writes nothing yet; empty: none does
   */
  public static void removeLeft(Path root, String run) throws IOException {
    try (Stream<Path> entries = Files.list(root)) {
      for (Path entry : entries.toList()) {
        Matcher begun = BEGUN.matcher(entry.getFileName().toString());
        if (begun.matches() && (run.equals(begun.group("run")) || isOld(entry))) {
          LOG.info("{} is removed: whoever began it has ended", entry);
          delete(entry);
        }
      }
    } catch (NoSuchFileException e) {
      // there is nothing
    } catch (UncheckedIOException e) { // of the stream
      throw e.getCause();
    }
  }

  /** Neither it nor what is in it has changed for long. */
  private static boolean isOld(Path begun) throws IOException {
    Instant since = Instant.now().minus(WRITTEN_WITHIN);
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

  /** Where files are written until all are there. */
  public Path part() {
    return part;
  }

  /**
   * Writes the manifest and gives the directory its name; an older snapshot of that name is gone then.
   *
   * @param readAgain whether everything is to be read again before; else those who wrote the files have, and are to be
   *     found here only
   * @throws InvalidInput naming the file that is not what was written
   */
  public void publish(JsonObject manifest, boolean readAgain) throws IOException {
    ManifestFile.write(part.resolve(ManifestFile.NAME), manifest);
    sync(part);
    if (readAgain) {
      verify(part);
    }
    for (FileEntry file : files(part)) {
      if (Files.size(part.resolve(file.file())) != file.bytes()) {
        throw new InvalidInput(part.resolve(file.file()) + " has not the " + file.bytes() + " bytes that were written");
      }
    }
    Path old = target.resolveSibling(target.getFileName() + REPLACED);
    if (Files.exists(target)) { // else what is there by that name, if anything is, is the last one of this name
      delete(old);
      Files.move(target, old, StandardCopyOption.ATOMIC_MOVE);
    }
    Files.move(part, target, StandardCopyOption.ATOMIC_MOVE);
    sync(target.getParent());
    delete(old);
  }

  /** Removes what has been written. */
  public void discard() throws IOException {
    delete(part);
  }

  /** Has the disk take a directory's entries. */
  public static void sync(Path dir) throws IOException {
    try (FileChannel channel = FileChannel.open(dir)) {
      channel.force(true);
    }
  }

  /**
   * Reads every byte of a snapshot or model and compares it with the manifest.
   *
   * @throws InvalidInput naming all files that are damaged, cut or missing
   */
  public static void verify(Path dir) throws IOException {
    verify(dir, files(dir));
  }

  /** The same of these files of it. */
  static void verify(Path dir, List<FileEntry> files) throws IOException {
    List<String> damage = new ArrayList<>();
    for (FileEntry file : files) {
      String what = file.damage(dir);
      if (what != null) {
        damage.add(what);
      }
    }
    if (!damage.isEmpty()) {
      throw new InvalidInput(String.join("; ", damage));
    }
  }

  /** The files of a snapshot or model as its manifest says. */
  public static List<FileEntry> files(Path dir) {
    try {
      JsonObject json = ManifestFile.read(dir);
      List<FileEntry> files = new ArrayList<>();
      json.getJsonArray("files").forEach(f -> files.add(FileEntry.of((JsonObject) f)));
      files.addAll(Manifest.files(json, Manifest.TRAINERS_FILES));
      return files;
    } catch (ClassCastException | NullPointerException e) {
      throw new InvalidInput(dir.resolve(ManifestFile.NAME) + " cannot be understood: it lists no files", e);
    }
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
