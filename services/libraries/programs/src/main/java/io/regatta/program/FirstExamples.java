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
 * A check of data files before anything starts. If a file is not in the job's format, its first line is already bad;
 * without this check, a bad test file would be found only after the training. Stateless; blocks on files.
 */
final class FirstExamples {

  /** Skipped bad lines and comments after which the check gives up. */
  private static final int LINES_MAX = 100;

  private FirstExamples() {}

  /**
   * Parses the first example of the first training file, and of the first test file. It does not check files that go
   * through a command, which would have to be run, nor files of other file systems.
   *
   * @param reader from files to examples, as the run uses it
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
