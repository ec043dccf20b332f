package io.regatta.fleet.local;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A temporary directory that is removed with its content when it is closed. One owner; blocks. */
public final class ScratchDirectory implements AutoCloseable {

  private final Path root;
  private int count;

  private ScratchDirectory(Path root) {
    this.root = root;
  }

  /** Creates a directory, named by its purpose and the process id, so that people can identify it. */
  public static ScratchDirectory create(String purpose) {
    try {
      return new ScratchDirectory(
          Files.createTempDirectory(purpose + "-" + ProcessHandle.current().pid() + "-"));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns a new name inside. */
  public Path next() {
    return root.resolve("run-" + count++);
  }

  @Override
  public void close() {
    try {
      remove(root);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Removes a directory with its content. */
  public static void remove(Path tree) throws IOException {
    try (Stream<Path> all = Files.walk(tree)) {
      for (Path path : all.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(path);
      }
    }
  }
}
