package io.regatta.fleet.command.tune;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.file.WholeFile;
import io.vertx.core.json.DecodeException;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;

/**
 * The file of a search's results: a line that names the search, and a line of JSON for each trial that has ended. A
 * search that was stopped is continued from it. Thread-safe; blocks.
 */
final class TrialFile {

  private final Path file;
  private final List<Trial> trials = new ArrayList<>();

  private TrialFile(Path file) {
    this.file = file;
  }

  /**
   * Opens the file, and creates it if there is none.
   *
   * @param search describes the search; only the same one is continued
   * @param overwrite true: earlier results are dropped
   * @throws InvalidInput if the file holds the results of another search
   */
  static TrialFile open(Path file, JsonObject search, boolean overwrite) {
    TrialFile opened = new TrialFile(file);
    try {
      Files.createDirectories(file.toAbsolutePath().getParent());
      if (overwrite || !Files.exists(file)) {
        Files.writeString(file, search.encode() + "\n");
        return opened;
      }
      List<String> lines = Files.readAllLines(file);
      if (lines.isEmpty() || !new JsonObject(lines.get(0)).equals(search)) {
        throw new InvalidInput(file + " holds the trials of another job, other ranges or another strategy; give --overwrite to drop them, or "
            + "another directory with --to");
      }
      List<String> whole = lines.stream().filter(line -> line.endsWith("}")).toList(); // the last one may be cut short by a crash
      whole.stream().skip(1).forEach(line -> opened.trials.add(Trial.of(new JsonObject(line))));
      if (whole.size() < lines.size()) {
        WholeFile.write(file, part -> Files.write(part, whole)); // the next trial begins a line
      }
      return opened;
    } catch (IOException | DecodeException e) {
      throw new InvalidInput("cannot use " + file + " for the results of trials: " + e.getMessage() + "; give --overwrite, or another "
          + "directory with --to", e);
    }
  }

  /** Returns the trials that have ended. */
  synchronized List<Trial> trials() {
    return List.copyOf(trials);
  }

  /** Adds a trial that has ended. */
  synchronized void add(Trial trial) {
    trials.add(trial);
    try {
      Files.writeString(file, trial.toJson().encode() + "\n", StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new InvalidInput("cannot write the result of trial " + trial.number() + " to " + file + ": " + e.getMessage(), e);
    }
  }
}
