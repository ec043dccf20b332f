package io.regatta.core.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.UUID;

/**
 * A writer of files beside their names, which renames them when they are complete. Stateless, any thread; blocks, so
 * not on an event loop. A reader thus finds all of the new file or all of the one before. A failure leaves nothing; a
 * writer that is killed leaves {@code NAME.part}.
 */
public final class WholeFile {

  private static final String PART = ".part";

  private WholeFile() {}

  /** The content of a file. */
  public interface Content {
    /** Writes all of it to this path, and leaves the file closed, and synced if a loss of power matters. */
    void writeTo(Path part) throws IOException;
  }

  /** Writes a file as {@code NAME.part}, for which there is one writer at a time, and creates its directory. */
  public static void write(Path file, Content content) throws IOException {
    write(file, file.resolveSibling(file.getFileName() + PART), content);
  }

  /**
   * Writes a file of which there may be several writers at a time, each beside a hidden name of its own; the last one's
   * stays. A killed writer leaves its hidden file.
   */
  public static void writeAmongOthers(Path file, Content content) throws IOException {
    write(file, file.resolveSibling("." + file.getFileName() + "." + UUID.randomUUID() + PART), content);
  }

  private static void write(Path file, Path part, Content content) throws IOException {
    Path directory = file.toAbsolutePath().getParent();
    if (!Files.isDirectory(directory)) { // it may be a link to one
      Files.createDirectories(directory);
    }
    try {
      content.writeTo(part);
      Files.move(part, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    } finally {
      Files.deleteIfExists(part); // only there if something failed
    }
  }
}
