package io.regatta.protocol.snapshot;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Stream;

/**
 * A snapshot's directory from its beginning to its name. It is written as {@code NAME.part}: files first, each synced, then
 * the manifest; then all is read again and compared with the manifest, and the directory is renamed. Whoever dies on the way
 * leaves a {@code .part}, which nobody takes for a snapshot and the next attempt removes. Made by one writer at a time (a
 * job's first trainer); servers add their files to {@link #part}.
 */
public final class SnapshotDirectory {

  private static final String PART = ".part";
  private static final String REPLACED = ".replaced";

  private final Path target;
  private final Path part;

  private SnapshotDirectory(Path target) {
    this.target = target;
    part = target.resolveSibling(target.getFileName() + PART);
  }

  /** One that is to have this name; nothing happens yet. */
  public static SnapshotDirectory of(Path target) {
    return new SnapshotDirectory(target.toAbsolutePath().normalize());
  }

  /** Begins it; what an earlier attempt has left is removed. */
  public SnapshotDirectory begin() throws IOException {
    delete(part);
    Files.createDirectories(part);
    return this;
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
    delete(old);
    if (Files.exists(target)) {
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
    List<String> damage = new ArrayList<>();
    for (FileEntry file : files(dir)) {
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
      return ManifestFile.read(dir).getJsonArray("files").stream().map(f -> FileEntry.of((JsonObject) f)).toList();
    } catch (ClassCastException | NullPointerException e) {
      throw new InvalidInput(dir.resolve(ManifestFile.NAME) + " cannot be understood: it lists no files", e);
    }
  }

  /** A snapshot among others. */
  public record Found(Path dir, Manifest manifest) {}

  /** Whether a directory is a whole snapshot. */
  public static boolean isSnapshot(Path dir) {
    return Files.exists(dir.resolve(ManifestFile.NAME)) && Manifest.is(ManifestFile.read(dir));
  }

  /** The whole snapshots in a directory, in the order of their steps; none if it is not there. */
  public static List<Found> list(Path root) throws IOException {
    List<Found> all = new ArrayList<>();
    try (Stream<Path> entries = Files.list(root)) {
      for (Path dir : entries.sorted().toList()) {
        String name = dir.getFileName().toString();
        if (!name.endsWith(PART) && !name.endsWith(REPLACED) && isSnapshot(dir)) {
          all.add(new Found(dir, Manifest.read(dir)));
        }
      }
    } catch (NoSuchFileException | NotDirectoryException e) {
      return List.of();
    }
    all.sort(Comparator.comparingLong((Found f) -> f.manifest().step()).thenComparing(f -> f.manifest().pass()));
    return all;
  }

  /** The one with the most steps. */
  public static Optional<Found> latest(Path root) throws IOException {
    List<Found> all = list(root);
    return all.isEmpty() ? Optional.empty() : Optional.of(all.get(all.size() - 1));
  }

  /** Removes all but the last {@code keep} snapshots and those that these are relative to; the oldest first. */
  public static void retain(Path root, int keep) throws IOException {
    List<Found> all = list(root);
    Set<Path> needed = new HashSet<>();
    for (Found kept : all.subList(Math.max(0, all.size() - keep), all.size())) {
      chain(kept.dir()).forEach(f -> needed.add(f.dir()));
    }
    for (Found f : all) {
      if (!needed.contains(f.dir())) {
        Files.deleteIfExists(f.dir().resolve(ManifestFile.NAME)); // first: what is half removed is no snapshot
        delete(f.dir());
      }
    }
  }

  /**
   * A snapshot and what it is relative to, oldest first: one that is whole by itself, then deltas.
   *
   * @throws InvalidInput if one is missing, or another job's
   */
  public static List<Found> chain(Path dir) {
    List<Found> chain = new ArrayList<>();
    Set<Path> seen = new HashSet<>();
    Path at = dir.toAbsolutePath().normalize();
    while (true) {
      Manifest m = Manifest.read(at);
      if (!seen.add(at) || !chain.isEmpty() && !m.model().equals(chain.get(0).manifest().model().over(m.model().shards()))) {
        throw new InvalidInput(chain.get(0).dir() + " is a delta, but " + at + " is not what it can be relative to");
      }
      chain.add(0, new Found(at, m));
      if (m.kind() != SnapshotKind.DELTA) {
        return chain;
      }
      at = at.resolveSibling(m.parent());
    }
  }

  private static void delete(Path dir) throws IOException {
    if (!Files.exists(dir)) {
      return;
    }
    try (Stream<Path> all = Files.walk(dir)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.deleteIfExists(path);
      }
    }
  }
}
