package io.regatta.snapshot;

import java.io.IOException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/**
 * Whether a directory takes files, found out before a run that will write there, and why it does not, in words.
 * Stateless, any thread; blocks, so not on an event loop.
 */
public final class WritablePlace {

  private WritablePlace() {}

  /**
   * Sees that files can be made in a directory, or in the nearest one above it that is there. Leaves nothing behind.
   *
   * @throws IOException with a message in words: what is in the way, and where
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

  /** What went wrong, in words; Java says it by the name of a class. */
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
