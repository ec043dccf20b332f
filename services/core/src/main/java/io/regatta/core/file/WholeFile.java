package io.regatta.core.file;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.UUID;

/**
 * Writes files beside their names and renames them when they are complete, so that whoever reads one finds all of it or what
 * was there before. What has failed leaves nothing; a writer that is killed leaves {@code NAME.part}. Stateless, any thread;
 * blocks, so not on an event loop.
 */
public final class WholeFile {

  private static final String PART = ".part";

  private WholeFile() {}

  /** What is to be in a file. */
  public interface Content {
    /** Writes all of it to this path, and leaves the file closed, and synced if a loss of power matters. */
    void writeTo(Path part) throws IOException;
  }

  /** Writes a file as {@code NAME.part}, for which there is one writer at a time, and makes the directory it is in. */
  public static void write(Path file, Content content) throws IOException {
    write(file, file.resolveSibling(file.getFileName() + PART), content);
  }

  /**
   * The same where several may write the same file at a time, each beside a hidden name of its own; the last one's stays.
   * Who is killed leaves that.
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
