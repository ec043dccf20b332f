package io.regatta.trainer;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;

/**
 * The {@code data} section of a job: where the examples are and how they are read. Paths are relative to the working
 * directory.
 *
 * @param dir directory of the data set
 * @param files training files, relative to {@code dir}; empty: the program's own names
 * @param testFiles test files, relative to {@code dir}; empty: the program's own names
 * @param format the reader's name, as known to the program; empty: the program's own
 * @param onBadLine what to do with a line that cannot be read
 * @param shuffleBuffer examples held back to draw from at random; 0: file order
 * @param prefetchDepth batches read ahead per replica
 * @param readerThreads threads that parse files, per replica
 * @param dropLast leave out the last batch of an epoch if it is not full
 * @param ordered examples come in file order whatever the number of reader threads
 */
public record DataConfig(String dir, List<String> files, List<String> testFiles, String format, OnBadLine onBadLine,
    int shuffleBuffer, int prefetchDepth, int readerThreads, boolean dropLast, boolean ordered) {

  /** Policy for broken data lines. */
  public enum OnBadLine {
    /** End the run with file, line and column. */
    FAIL,
    /** Count and go on; the count is logged at the end of each pass. */
    SKIP
  }

  public DataConfig {
    dir = dir == null ? "" : dir;
    files = files == null ? List.of() : List.copyOf(files);
    testFiles = testFiles == null ? List.of() : List.copyOf(testFiles);
    format = format == null ? "" : format;
    onBadLine = onBadLine == null ? OnBadLine.FAIL : onBadLine;
    if (shuffleBuffer < 0 || prefetchDepth < 0 || readerThreads < 1) {
      throw new InvalidInput("data: shuffle_buffer and prefetch_depth must be at least 0 and reader_threads at least 1,"
          + " not " + shuffleBuffer + ", " + prefetchDepth + " and " + readerThreads);
    }
  }
}
