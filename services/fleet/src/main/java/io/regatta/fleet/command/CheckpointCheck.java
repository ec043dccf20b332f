package io.regatta.fleet.command;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.snapshot.LostShard;
import io.regatta.snapshot.ManifestFile;
import io.regatta.snapshot.SnapshotChain;
import io.regatta.snapshot.SnapshotDirectory;
import io.regatta.snapshot.Snapshots;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/**
 * A comparison of models and snapshots with their manifests, byte by byte, each directory once. Used by one thread,
 * which it blocks.
 */
final class CheckpointCheck {

  private final Consumer<String> whole;
  private final Consumer<InvalidInput> damage;
  /** Damage of each directory's own files; empty: none. */
  private final Map<Path, String> known = new HashMap<>();
  private int damaged;

  /**
   * Creates a check that has read nothing.
   *
   * @param whole receives a line for each that is whole
   * @param damage receives an error for each that is not
   */
  CheckpointCheck(Consumer<String> whole, Consumer<InvalidInput> damage) {
    this.whole = whole;
    this.damage = damage;
  }

  /** Returns the number of those that were not whole. */
  int damaged() {
    return damaged;
  }

  /**
   * Verifies the models and snapshots in a directory and in those within it.
   *
   * @throws InvalidInput if there are none
   */
  void all(Path dir) throws IOException {
    if (!Files.isDirectory(dir)) {
      ManifestFile.read(dir); // says why it cannot be
    }
    List<Path> there = new ArrayList<>();
    for (Path each : Snapshots.all(dir)) {
      if (isOurs(each)) {
        there.add(each);
      }
    }
    if (there.isEmpty()) {
      throw new InvalidInput(dir + " holds neither a model nor a snapshot, nor does a directory within it: there is no "
          + ManifestFile.NAME + " of one");
    }
    for (Path each : there) {
      one(each);
    }
    if (there.size() > 1) {
      whole.accept(there.size() - damaged + " of " + there.size() + " are whole");
    }
  }

  /**
   * Returns true if the manifest is one of Regatta's: other programs use its file name, too. One that cannot be read
   * may be ours, and damaged.
   */
  private static boolean isOurs(Path dir) {
    try {
      return ManifestFile.read(dir).containsKey("files");
    } catch (InvalidInput e) {
      return true;
    }
  }

  private void one(Path dir) throws IOException {
    String what = trouble(dir);
    if (what.isEmpty()) {
      whole.accept(dir + " is whole: " + words(dir));
    } else {
      damaged++;
      damage.accept(new InvalidInput(what));
    }
  }

  /** Returns the damage of a directory, and of those that it is relative to; empty: none. */
  private String trouble(Path dir) throws IOException {
    try {
      if (!Snapshots.isSnapshot(dir)) {
        return ofFiles(dir);
      }
      List<String> all = new ArrayList<>();
      for (Snapshots.Found member : SnapshotChain.of(dir)) {
        String its = ofFiles(member.dir());
        if (!its.isEmpty()) {
          boolean own = member.dir().equals(dir.toAbsolutePath().normalize());
          all.add(own ? its : dir + " is relative to " + member.dir().getFileName() + ", which is not whole: " + its);
        }
      }
      return String.join("; ", all);
    } catch (InvalidInput e) { // of a manifest
      return e.getMessage();
    }
  }

  private String ofFiles(Path dir) throws IOException {
    Path at = dir.toAbsolutePath().normalize();
    if (!known.containsKey(at)) {
      String what = "";
      try {
        SnapshotDirectory.verify(at);
      } catch (InvalidInput e) {
        what = e.getMessage();
      }
      known.put(at, what);
    }
    return known.get(at);
  }

  private static String words(Path dir) {
    JsonObject manifest = ManifestFile.read(dir);
    if (Snapshots.isSnapshot(dir)) {
      return "a snapshot of kind " + manifest.getString("kind") + ", step " + manifest.getLong("step");
    }
    String missing = LostShard.missingRows(LostShard.in(manifest));
    return "a model" + (manifest.containsKey("step") ? ", step " + manifest.getLong("step") : "")
        + (missing.isEmpty() ? "" : ", without " + missing);
  }
}
