package io.regatta.data.file;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A queue of the files still to be read in one pass: each is taken once, in order, by whichever thread asks. Any thread
 * may use it.
 */
public final class FileQueue {

  private final List<Path> files;
  private final AtomicInteger next;

  /** @param first number of the first file to take */
  public FileQueue(List<Path> files, int first) {
    this.files = files;
    this.next = new AtomicInteger(first);
  }

  /** Takes the next file and returns its number, or -1 if there is none. */
  public int take() {
    int number = next.getAndUpdate(n -> Math.min(n + 1, files.size()));
    return number < files.size() ? number : -1;
  }

  /** Returns a file by its number. */
  public Path file(int number) {
    return files.get(number);
  }
}
