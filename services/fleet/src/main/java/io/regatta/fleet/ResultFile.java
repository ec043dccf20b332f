package io.regatta.fleet;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.trainer.RunResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** The file that {@code --result FILE} names. Owned by the main thread; blocks. */
final class ResultFile {

  private final Path file;
  private final Path part;

  private ResultFile(Path file) {
    this.file = file.toAbsolutePath();
    part = this.file.resolveSibling(this.file.getFileName() + ".part");
  }

  /** Checks, before a run, that its result can be written there; null for no file. */
  static ResultFile at(Path file) {
    if (file == null) {
      return null;
    }
    ResultFile result = new ResultFile(file);
    try {
      if (Files.isDirectory(result.file)) {
        throw new IOException("it is a directory");
      }
      Files.createDirectories(result.file.getParent());
      Files.deleteIfExists(Files.createFile(result.part));
      return result;
    } catch (IOException e) {
      throw result.unwritable(e);
    }
  }

  /** Writes the result whole or not at all. */
  void write(RunResult run) {
    try {
      Files.writeString(part, run.toJson().encodePrettily() + "\n");
      Files.move(part, file, StandardCopyOption.REPLACE_EXISTING, StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw unwritable(e);
    }
  }

  private InvalidInput unwritable(IOException e) {
    return new InvalidInput("the result cannot be written to " + file + ": " + e.getMessage() + "; choose another place "
        + "with --result", e);
  }

  @Override
  public String toString() {
    return file.toString();
  }
}
