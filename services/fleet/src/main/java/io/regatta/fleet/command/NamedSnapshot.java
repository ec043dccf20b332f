package io.regatta.fleet.command;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.command.output.Report;
import io.regatta.snapshot.Snapshots;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;

/** The snapshot that an argument of a command names: itself, or the last one of those in a directory. Stateless; blocks on files. */
final class NamedSnapshot {

  private NamedSnapshot() {}

  /**
   * Returns its directory.
   *
   * @param argument for messages, e.g. {@code --snapshot}
   * @param out gets a line that names the snapshot taken from a directory
   * @throws InvalidInput if there is none, or it is not known which one is the last
   */
  static Path of(String argument, Path dir, PrintWriter out) {
    try {
      Snapshots.Found found = Snapshots.named(argument, dir);
      if (!found.dir().equals(dir.toAbsolutePath())) {
        Report.say(out, "the last snapshot in " + dir + " is " + found.dir().getFileName() + ", step " + found.manifest().step());
      }
      return found.dir();
    } catch (IOException e) {
      throw new InvalidInput(argument + ": the snapshots in " + dir + " cannot be read: " + e, e);
    }
  }
}
