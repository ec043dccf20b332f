package io.regatta.trainer.result;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.protocol.snapshot.WritablePlace;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * The file that {@code --result FILE} or {@code trainer.result} names. Used by one thread at a time; blocks, so not on an
 * event loop.
 */
public final class ResultFile {

  private final Path file;
  private final Path part;

  private ResultFile(Path file) {
    this.file = file.toAbsolutePath();
    part = this.file.resolveSibling(this.file.getFileName() + ".part");
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

  /** Writes the result whole or not at all. */
  public void write(RunResult run) {
    try {
      Files.createDirectories(file.getParent());
      Files.writeString(part, run.toJson().encodePrettily() + "\n");
      Files.move(part, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
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
