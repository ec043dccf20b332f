package io.regatta.snapshot;

import io.regatta.core.error.PeerText;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.exchange.Mode;
import io.regatta.core.file.ConfinedDirectory;
import io.regatta.protocol.connection.PeerLog;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileSystemLoopException;
import java.nio.file.FileVisitOption;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The snapshots in a directory: their list and order, the last one, and the ones no longer kept; {@link SnapshotChain}
 * knows the parents of deltas. A directory that is being made is no snapshot; see {@link SnapshotDirectory}. Stateless;
 * blocks on files.
 */
public final class Snapshots {

  private static final Logger LOG = LoggerFactory.getLogger(Snapshots.class);
  private static final PeerLog LEFT_OUT = PeerLog.ofEvents(LOG);
  private static final PeerLog USELESS = PeerLog.ofEvents(LOG);
  /**
   * Files of which every snapshot, and every model, has one; {@link ShardFileWriter#name} and {@link ModelFiles#DENSE}.
   */
  private static final Pattern NEVER_ALONE = Pattern.compile("shard-\\d{5,}-of-\\d{5,}\\.safetensors|"
      + Pattern.quote(ModelFiles.DENSE));

  private Snapshots() {}

  /**
   * A snapshot among others.
   *
   * @param checksum of its manifest
   * @param resumable false if it does not show its trainers' progress: in version 1, geo counted steps and exchanges in
   *     one number
   */
  public record Found(ConfinedDirectory directory, Manifest manifest, String checksum, boolean resumable) {

    /** Order by runs as they began, and within a run by moments. */
    private static final Comparator<Found> ORDER = Comparator.comparing((Found f) -> f.manifest().run())
        .thenComparing(Found::manifest, Manifest.MOMENTS);

    /** Returns the snapshot in a directory; refused as {@link Manifest#read} does. */
    public static Found in(Path dir) {
      return in(ConfinedDirectory.of(dir));
    }

    /** Returns the snapshot in a directory that a peer, or another snapshot, may have named. */
    static Found in(ConfinedDirectory dir) {
      JsonObject json = ManifestFile.read(dir);
      Manifest manifest = Manifest.of(dir.path(), json);
      boolean resumable = !Manifest.isVersion1(json) || Mode.find(manifest.mode()).filter(Mode::pushesDeltas).isEmpty();
      return new Found(dir, manifest, ManifestFile.checksum(json), resumable);
    }

    /** Returns the path of its directory. */
    public Path dir() {
      return directory.path();
    }
  }

  /** Returns true if a directory is a whole snapshot. */
  public static boolean isSnapshot(Path dir) {
    return Files.exists(dir.resolve(ManifestFile.NAME)) && Manifest.is(ManifestFile.read(dir));
  }

  /**
   * Returns the whole snapshots in a directory, runs in the order in which they began, each run's in the order of
   * steps; none if the directory does not exist. A warning names damaged ones.
   */
  public static List<Found> list(Path root) throws IOException {
    return list(root, Snapshots::leftOut);
  }

  private static void leftOut(String why) {
    LEFT_OUT.warn("{}; it is left out", why);
  }

  /**
   * Returns the whole snapshots in a directory, in that order.
   *
   * @param skipped receives a text for each snapshot that cannot be read, and is skipped. One that is being removed is
   *     not reported
   */
  public static List<Found> list(Path root, Consumer<String> skipped) throws IOException {
    List<Found> all = new ArrayList<>();
    try (Stream<Path> entries = Files.list(root)) {
      for (Path dir : entries.sorted().toList()) {
        if (!isBeingMade(dir) || isLeftAlone(dir)) {
          find(dir, skipped).ifPresent(all::add);
        }
      }
    } catch (NoSuchFileException | NotDirectoryException e) {
      return List.of();
    } catch (UncheckedIOException e) { // of the stream
      throw e.getCause();
    }
    all.sort(Found.ORDER);
    return all;
  }

  /**
   * Returns the directories with a manifest, or with files that a manifest should accompany: this one, and all within
   * it, in the order of their names. Directories that are being made do not count. The directories may be damaged, and
   * a manifest may be of another kind.
   */
  public static List<Path> all(Path root) throws IOException {
    List<Path> all = new ArrayList<>();
    Files.walkFileTree(root, Set.of(FileVisitOption.FOLLOW_LINKS), Integer.MAX_VALUE, new SimpleFileVisitor<>() {
      @Override
      public FileVisitResult preVisitDirectory(Path dir, BasicFileAttributes attributes) {
        if (!dir.equals(root) && isBeingMade(dir) && !isLeftAlone(dir)) {
          return FileVisitResult.SKIP_SUBTREE;
        }
        if (Files.exists(dir.resolve(ManifestFile.NAME))) {
          all.add(dir);
        }
        return FileVisitResult.CONTINUE;
      }

      @Override
      public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
        if (NEVER_ALONE.matcher(file.getFileName().toString()).matches()
            && !Files.exists(file.resolveSibling(ManifestFile.NAME)) && !all.contains(file.getParent())) {
          all.add(file.getParent());
        }
        return FileVisitResult.CONTINUE;
      }

      @Override
      public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
        // it has just gone, or has been visited
        if (e instanceof NoSuchFileException || e instanceof FileSystemLoopException) {
          return FileVisitResult.CONTINUE;
        }
        throw e;
      }
    });
    all.sort(Comparator.naturalOrder());
    return all;
  }

  /** Returns the snapshot of that name, if a whole one is there. */
  public static Optional<Found> find(Path dir) {
    return find(dir, Snapshots::leftOut);
  }

  private static Optional<Found> find(Path dir, Consumer<String> skipped) {
    try {
      return isSnapshot(dir) ? Optional.of(Found.in(dir)) : Optional.empty();
    } catch (InvalidInput e) {
      if (Files.exists(dir.resolve(ManifestFile.NAME))) {
        skipped.accept(e.getMessage());
      }
      return Optional.empty();
    }
  }

  /**
   * Returns the snapshot with the most steps of the run that began last.
   *
   * @throws InvalidInput if one cannot be read, which may be that one
   */
  public static Optional<Found> latest(Path root) throws IOException {
    List<String> unread = new ArrayList<>();
    List<Found> all = list(root, unread::add);
    Optional<Found> last = all.isEmpty() ? Optional.empty() : Optional.of(all.get(all.size() - 1));
    if (!unread.isEmpty()) {
      throw new InvalidInput(String.join("; ", unread) + ". Whether it is the last one cannot be told: "
          + last.map(found -> "name the last of those that can be read, " + found.dir() + " (step " + found.manifest().step()
              + "), or remove what is damaged").orElse("remove it, or take it from a copy; no other can be read in " + root));
    }
    return last;
  }

  /**
   * Returns the snapshot that a user names: the directory itself, or the {@link #latest} of those in it.
   *
   * @param key by which it is named, for messages: {@code resume}, {@code --snapshot}
   * @return by its absolute path
   * @throws InvalidInput if it is none, and holds none, or it is not known which one is the last
   */
  public static Found named(String key, Path dir) throws IOException {
    if (isSnapshot(dir)) {
      return Found.in(dir.toAbsolutePath());
    }
    if (!Files.isDirectory(dir)) {
      throw new InvalidInput(key + ": " + dir + (Files.exists(dir) ? " is no directory" : " does not exist")
          + "; name a snapshot, or a directory that holds some");
    }
    return latest(dir.toAbsolutePath()).orElseThrow(() -> new InvalidInput(key + ": " + dir
        + (Files.exists(dir.resolve(ManifestFile.NAME)) ? " is a model: it has values only, without the optimizer's and the rows' "
            + "state, which are in snapshots. Have the job take some (snapshots.every_pass, every_steps), and name one of those"
            : " is not a snapshot, and holds none; a snapshot is a directory with a " + ManifestFile.NAME
            + " that regatta checkpoint inspect shows")));
  }

  /**
   * Returns the whole snapshots in a directory, and in the directories in it (e.g. one for the job of each day, which
   * may hold its model, too). The one with the most steps of the run that began last comes first.
   *
   * @param skipped see {@link #list(Path, Consumer)}
   */
  public static List<Found> within(Path root, Consumer<String> skipped) throws IOException {
    List<Found> all = new ArrayList<>(list(root, skipped));
    Set<Path> snapshots = all.stream().map(Found::dir).collect(Collectors.toSet());
    try (Stream<Path> entries = Files.list(root)) {
      for (Path dir : entries.filter(Files::isDirectory).sorted().toList()) {
        if (!isBeingMade(dir) && !snapshots.contains(dir)) {
          all.addAll(listOther(dir, skipped));
        }
      }
    } catch (NoSuchFileException | NotDirectoryException e) {
      return List.of();
    } catch (UncheckedIOException e) { // of the stream
      throw e.getCause();
    }
    all.sort(Found.ORDER.reversed());
    return all;
  }

  /** Returns the snapshots of a directory that may have another purpose, e.g. {@code lost+found}. */
  private static List<Found> listOther(Path dir, Consumer<String> skipped) {
    try {
      return list(dir, skipped);
    } catch (IOException e) {
      skipped.accept(PeerText.message(dir + " cannot be read (" + e + ")"));
      return List.of();
    }
  }

  /**
   * Returns true if a snapshot's replacement is missing, because its writer died: it is still the snapshot of its name.
   */
  private static boolean isLeftAlone(Path dir) {
    Path by = SnapshotRemoval.replacedBy(dir);
    return by != null && !Files.exists(by);
  }

  /**
   * Returns true if a directory is being made. A volume of Kubernetes has its state a second time, in directories that
   * begin with two dots.
   */
  private static boolean isBeingMade(Path dir) {
    String name = dir.getFileName().toString();
    return name.startsWith("..") || name.endsWith(SnapshotDirectory.PART) || name.endsWith(SnapshotDirectory.REPLACED);
  }

  /**
   * Removes a run's snapshots except the last {@code keep} of each kind, the oldest first. Deltas count with bases, and
   * snapshots that kept deltas are relative to stay. A snapshot after a pass also stands for one that was taken after
   * the pass's last step.
   */
  public static void retain(Path root, String run, int keep) throws IOException {
    List<Found> all = list(root).stream().filter(f -> f.manifest().run().equals(run)).toList();
    Map<SnapshotKind, List<Found>> kinds = all.stream().collect(Collectors.groupingBy(
        f -> f.manifest().kind() == SnapshotKind.DELTA ? SnapshotKind.BASE : f.manifest().kind()));
    kinds.replaceAll((kind, of) -> IntStream.range(0, of.size())
        .filter(i -> i == of.size() - 1 || !isWithin(of.get(i).manifest(), of.get(i + 1).manifest())).mapToObj(of::get).toList());
    Set<Path> needed = new HashSet<>();
    for (Found kept : kinds.values().stream().flatMap(of -> of.subList(Math.max(0, of.size() - keep), of.size()).stream()).toList()) {
      needed.add(kept.dir());
      try {
        SnapshotChain.of(kept.dir()).forEach(f -> needed.add(f.dir()));
      } catch (InvalidInput e) { // no remaining snapshot helps it
        USELESS.warn("{} is not usable any more: {}", kept.dir(), e.getMessage());
      }
    }
    for (Found f : all) {
      if (!needed.contains(f.dir())) {
        SnapshotRemoval.remove(f.dir(), run);
      }
    }
  }

  /** Returns true if the next one is of the same step, and after the pass that this one was taken within. */
  private static boolean isWithin(Manifest snapshot, Manifest next) {
    return snapshot.step() == next.step() && snapshot.pass() < next.pass();
  }
}
