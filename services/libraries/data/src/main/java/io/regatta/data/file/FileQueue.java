package io.regatta.data.file;

import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/** Files still to be read in one pass: each is handed out once, in order, to whichever thread asks. Any thread. */
public final class FileQueue {

  private final List<Path> files;
  private final AtomicInteger next;

  /** @param first number of the first file to hand out */
  public FileQueue(List<Path> files, int first) {
    this.files = files;
    this.next = new AtomicInteger(first);
  }

  /** Number of the next file, or -1 if there is none. */
  public int take() {
    int number = next.getAndUpdate(n -> Math.min(n + 1, files.size()));
    return number < files.size() ? number : -1;
  }

  /** A file by its number. */
  public Path file(int number) {
    return files.get(number);
  }
}
