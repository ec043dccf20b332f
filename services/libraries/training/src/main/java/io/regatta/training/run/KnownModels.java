package io.regatta.training.run;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.snapshot.ManifestFile;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The models in the directories of a job as one rank knows them: those that existed when it began, and those that it
 * has saved since, or was notified of. A model that another trainer has saved in their place has another manifest.
 * Steps of different trainers are not compared: outside of sync mode each makes as many as its data have. Thread-safe.
 */
final class KnownModels {

  /** Step number of a model that was saved before this incarnation of the run. */
  private static final long BEFORE = -1;

  /**
   * A known model.
   *
   * @param manifest its checksum; empty: there was none
   * @param steps that this rank had made when it was saved
   */
  private record Known(String manifest, long steps) {}

  private static final Known NONE = new Known("", BEFORE);

  private final Map<Path, Known> known = new ConcurrentHashMap<>();

  /** Notes the model that is in a directory when this rank begins. */
  void begin(Path dir) {
    note(dir, BEFORE);
  }

  /**
   * Notes the model that has just been saved in a directory, by any trainer.
   *
   * @param steps that this rank has made
   */
  void note(Path dir, long steps) {
    known.put(key(dir), new Known(manifest(dir), steps));
  }

  /**
   * Returns true if a directory holds the present model of the run. Either it was saved when this rank had made these
   * steps, or another trainer has saved it since, as its last act.
   *
   * @param steps that this rank has made
   */
  boolean isSaved(Path dir, String run, long steps) {
    Known before = known.getOrDefault(key(dir), NONE);
    return isOf(run, dir) && (steps == before.steps || !manifest(dir).equals(before.manifest));
  }

  private static boolean isOf(String run, Path dir) {
    try {
      return run.equals(ManifestFile.read(dir).getString("run"));
    } catch (InvalidInput e) { // there is none, or it is damaged
      return false;
    }
  }

  /** Returns the checksum of a manifest; empty if it cannot be read. */
  private static String manifest(Path dir) {
    try {
      return ManifestFile.checksum(dir);
    } catch (InvalidInput e) {
      return "";
    }
  }

  private static Path key(Path dir) {
    return dir.toAbsolutePath().normalize();
  }
}
