package io.regatta.program;

import io.regatta.data.BadLines;
import io.regatta.data.FileSource;
import io.regatta.data.SlotBatch;
import io.regatta.data.SlotSource;
import io.regatta.data.file.PipeCommand;
import io.regatta.training.config.JobConfig;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.util.List;
import java.util.function.BiFunction;

/**
 * Looks into data files before anything starts: in one that is written in another format than the job says, the first line is bad
 * already; of test data one would learn it behind the training. Stateless; blocks on files.
 */
final class FirstExamples {

  /** Bad lines that are skipped, and comments, before it is given up. */
  private static final int LINES_MAX = 100;

  private FirstExamples() {}

  /**
   * Parses the first example of the first training file, and of the first test file. What a command makes of files is not looked at,
   * for it would have to be run, nor are files of other file systems.
   *
   * @param reader from files to examples, as the run makes them
   * @throws io.regatta.core.error.RegattaException.InvalidInput as the run would, naming the line
   */
  static void check(JobConfig job, Inputs files, BiFunction<List<Path>, BadLines, FileSource<?>> reader) {
    for (Path first : List.of(files.train().get(0), files.test().get(0))) {
      if (PipeCommand.of(job.data().pipeCommand()) == null && first.getFileSystem() == FileSystems.getDefault()) {
        parse(reader.apply(List.of(first), new BadLines(job.data().onBadLine(), false)));
      }
    }
  }

  private static <R> void parse(FileSource<R> source) {
    SlotBatch row = SlotBatch.allocate(source.layout(), 1);
    try (SlotSource.Cursor<R> records = source.open()) {
      R record = records.next();
      for (int n = 1; n < LINES_MAX && record != null && !source.parse(record, row, 0); n++) {
        record = records.next();
      }
    }
  }
}
