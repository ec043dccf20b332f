package io.regatta.trainer.config;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.settings.Setting;
import io.regatta.trainer.data.BadLines;
import io.regatta.trainer.data.LoaderOptions;
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
    BadLines.Policy onBadLine,

    @Setting(value = "0", unit = "examples", doc = "Examples that are shuffled together; 0: file order.")
    int shuffleBuffer,

    @Setting(value = "8", unit = "batches", doc = "Batches read ahead, per replica; 1 to 1024.")
    int prefetchDepth,

    @Setting(value = "1", doc = "Threads that parse, per replica; 1 to 64.")
    int readerThreads,

    @Setting(value = "false", doc = "Leave out the last batch of an epoch if it is not full.")
    boolean dropLast,

    @Setting(value = "true", doc = "Batches come in the (shuffled) order of the files however many threads read.")
    boolean ordered) {

  public DataConfig {
    files = List.copyOf(files);
    testFiles = List.copyOf(testFiles);
    if (shuffleBuffer < 0) {
      throw new InvalidInput("shuffle_buffer must be at least 0, not " + shuffleBuffer);
    }
    LoaderOptions.checkReading(prefetchDepth, readerThreads);
  }
}
