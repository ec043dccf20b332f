package io.regatta.training.result;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.file.WholeFile;
import io.regatta.snapshot.WritablePlace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The file that {@code --result FILE} or {@code trainer.result} names. Used by one thread at a time; it blocks, so it
 * must not be used on an event loop.
 */
public final class ResultFile {

  private final Path file;

  private ResultFile(Path file) {
    this.file = file.toAbsolutePath();
  }

  /** Checks, before a run, that its result can be written there; null for no file. */
  public static ResultFile at(Path file) {
    if (file == null) {
      return null;
    }
    ResultFile result = new ResultFile(file);
    try {
      if (Files.isDirectory(result.file)) {
        throw new IOException("it is a directory");
      }
      WritablePlace.check(result.file.getParent());
      return result;
    } catch (IOException e) {
      throw result.unwritable(e);
    }
  }

  /** Writes the result, completely or not at all. */
  public void write(RunResult run) {
    try {
      WholeFile.write(file, part -> Files.writeString(part, run.toJson().encodePrettily() + "\n"));
    } catch (IOException e) {
      throw unwritable(e);
    }
  }

  private InvalidInput unwritable(IOException e) {
    return new InvalidInput("the result cannot be written to " + file + ": " + WritablePlace.reason(e) + "; choose another place "
        + "with --result", e);
  }

  @Override
  public String toString() {
    return file.toString();
  }
}
