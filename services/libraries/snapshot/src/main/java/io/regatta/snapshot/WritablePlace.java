package io.regatta.snapshot;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * A check whether files can be written in a directory, made before a run that will write there, with the reason if not.
 * Stateless, any thread; blocks, so not on an event loop.
 */
public final class WritablePlace {

  private WritablePlace() {}

  /**
   * Checks that files can be made in a directory, or in its nearest existing parent. Leaves nothing there.
   *
   * @throws IOException with a message for users: the obstacle and its path
   */
  public static void check(Path directory) throws IOException {
    Path there = directory.toAbsolutePath();
    while (!Files.exists(there) && there.getParent() != null) {
      there = there.getParent();
    }
    if (!Files.isDirectory(there)) {
      throw new IOException(there.equals(directory.toAbsolutePath()) ? "it is a file" : there + " is a file");
    }
    try {
      Files.delete(Files.createTempFile(there, ".regatta", ".part"));
    } catch (IOException e) {
      throw new IOException("no file can be made in " + there + why(e), e);
    }
  }

  /** Returns the cause of a failure in words; Java expresses it by the name of a class. */
  public static String reason(IOException e) {
    return e instanceof FileAlreadyExistsException file ? file.getFile() + " is a file"
        : e instanceof FileSystemException file ? file.getFile() + " cannot be written" + why(e)
        : e.getMessage();
  }

  private static String why(IOException e) {
    String reason = e instanceof AccessDeniedException ? "permission denied"
        : e instanceof NoSuchFileException ? "no such directory, or it takes no files"
        : e instanceof FileSystemException file ? file.getReason() : e.getMessage();
    return reason == null ? "" : ": " + reason;
  }
}
