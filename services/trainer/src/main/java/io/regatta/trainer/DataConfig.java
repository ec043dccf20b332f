package io.regatta.trainer;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.Setting;
import java.util.List;

/**
 * The {@code data} section of a job: where the examples are and how they are read. Paths are relative to the working
 * directory.
 */
public record DataConfig(
    @Setting(doc = "Directory of the data set, relative to the working directory.")
    String dir,

    @Setting(doc = "Training files, relative to dir; empty: the program's own names.")
    List<String> files,

    @Setting(doc = "Test files, relative to dir; empty: the program's own names.")
    List<String> testFiles,

    @Setting(value = "fail", doc = "A line that cannot be read ends the run (file, line and column are named), or is "
        + "skipped and counted.")
    OnBadLine onBadLine,

    @Setting(value = "0", unit = "examples", doc = "Examples that are shuffled together; 0: file order.")
    int shuffleBuffer,

    @Setting(value = "8", unit = "batches", doc = "Batches read ahead, per replica.")
    int prefetchDepth,

    @Setting(value = "1", doc = "Threads that parse, per replica.")
    int readerThreads,

    @Setting(value = "false", doc = "Leave out the last batch of an epoch if it is not full.")
    boolean dropLast,

    @Setting(value = "true", doc = "Batches come in the (shuffled) order of the files however many threads read.")
    boolean ordered) {

  /** Policy for broken data lines. */
  public enum OnBadLine {
    /** End the run with file, line and column. */
    FAIL,
    /** Count and go on; the result's figure {@code bad_lines} has the count. */
    SKIP
  }

  public DataConfig {
    files = List.copyOf(files);
    testFiles = List.copyOf(testFiles);
    if (shuffleBuffer < 0 || prefetchDepth < 0 || readerThreads < 1) {
      throw new InvalidInput("shuffle_buffer and prefetch_depth must be at least 0 and reader_threads at least 1,"
          + " not " + shuffleBuffer + ", " + prefetchDepth + " and " + readerThreads);
    }
  }
}
