package io.regatta.snapshot;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.file.ConfinedDirectory;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * A snapshot's directory from its beginning to its final name. It is written as {@code NAME.WRITER.part}: files first,
 * each synced, then the manifest. Then everything is read again and compared with the manifest, and the directory is
 * renamed. A writer that dies on the way leaves a {@code .part}, which is no snapshot, and which the next attempt, or
 * {@link SnapshotRemoval#left}, removes. Made by one writer at a time (a job's lowest trainer); one that was taken for
 * dead and resumes finds its own directory removed and fails. Servers add their files to {@link #part}.
 */
public final class SnapshotDirectory {

  static final String PART = ".part";
  static final String REPLACED = ".replaced";

  private final Path target;
  private final Path part;

  private SnapshotDirectory(Path target, Path part) {
    this.target = target;
    this.part = part;
  }

  /** Returns a directory that is to have this name; nothing is written yet. */
  public static SnapshotDirectory of(Path target) {
    return of(target, "new");
  }

  /**
   * Returns a directory that is to have this name.
   *
   * @param writer the process that makes it; no other has this name
   */
  public static SnapshotDirectory of(Path target, String writer) {
    Path at = target.toAbsolutePath().normalize();
    return new SnapshotDirectory(at, at.resolveSibling(at.getFileName() + "." + writer + PART));
  }

  /**
   * Begins it, for its owner alone ({@link PrivateDirectory}); the remains of earlier attempts of any writer are
   * removed.
   */
  public SnapshotDirectory begin() throws IOException {
    removeEarlier();
    PrivateDirectory.create(part);
    return this;
  }

  /** Begins a model's directory, which others may serve: with the permissions of the umask. */
  SnapshotDirectory beginModel() throws IOException {
    removeEarlier();
    Files.createDirectories(part);
    return this;
  }

  private void removeEarlier() throws IOException {
    Files.createDirectories(target.getParent());
    Pattern earlier = Pattern.compile(Pattern.quote(target.getFileName().toString()) + SnapshotRemoval.WRITER);
    try (Stream<Path> entries = Files.list(target.getParent())) {
      for (Path left : entries.filter(e -> earlier.matcher(e.getFileName().toString()).matches()).toList()) {
        SnapshotRemoval.delete(left);
      }
    }
  }

  /** Returns the directory in which files are written until all are there. */
  public Path part() {
    return part;
  }

  /**
   * Writes the manifest and gives the directory its name; an older snapshot of that name is gone then.
   *
   * @param readAgain whether everything is to be read again before; else the files' writers have done so, and the files
   *     must only exist here
   * @throws InvalidInput naming the file that differs from the written one
   */
  public void publish(JsonObject manifest, boolean readAgain) throws IOException {
    ManifestFile.write(part.resolve(ManifestFile.NAME), manifest);
    sync(part);
    if (readAgain) {
      verify(part);
    }
    for (FileEntry file : files(part)) {
      BasicFileAttributes written = ConfinedDirectory.of(part).attributes(file.file());
      if (written == null || !written.isRegularFile() || written.size() != file.bytes()) {
        throw new InvalidInput(part.resolve(file.file()) + " has not the " + file.bytes() + " bytes that were written");
      }
    }
    Path old = target.resolveSibling(target.getFileName() + REPLACED);
    if (Files.exists(target)) { // else the directory of that name, if there is one, is the last one of this name
      SnapshotRemoval.remove(old, "");
      Files.move(target, old, StandardCopyOption.ATOMIC_MOVE);
    }
    Files.move(part, target, StandardCopyOption.ATOMIC_MOVE);
    sync(target.getParent());
    SnapshotRemoval.remove(old, "");
  }

  /** Removes everything that has been written. */
  public void discard() throws IOException {
    SnapshotRemoval.delete(part);
  }

  /** Syncs a directory's entries to disk. */
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
    verify(ConfinedDirectory.of(dir));
  }

  /** Verifies a directory that a peer, or another snapshot, may have named. */
  static void verify(ConfinedDirectory dir) throws IOException {
    verify(dir, files(dir));
  }

  /** Verifies these files of it. */
  static void verify(ConfinedDirectory dir, List<FileEntry> files) throws IOException {
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

  /** Returns the files of a snapshot or model that its manifest lists. */
  public static List<FileEntry> files(Path dir) {
    return files(ConfinedDirectory.of(dir));
  }

  private static List<FileEntry> files(ConfinedDirectory dir) {
    JsonObject json = ManifestFile.read(dir);
    try {
      List<FileEntry> files = new ArrayList<>();
      json.getJsonArray("files").forEach(f -> files.add(FileEntry.of((JsonObject) f)));
      files.addAll(Manifest.files(json, Manifest.TRAINERS_FILES));
      return files;
    } catch (ClassCastException | NullPointerException e) {
      throw new InvalidInput(dir.pathOf(ManifestFile.NAME) + " cannot be understood: it lists no files", e);
    } catch (InvalidInput e) {
      throw new InvalidInput(dir.pathOf(ManifestFile.NAME) + " cannot be understood: " + e.getMessage(), e);
    }
  }
}
