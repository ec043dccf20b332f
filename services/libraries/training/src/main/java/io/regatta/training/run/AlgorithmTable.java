package io.regatta.training.run;

import io.regatta.core.collective.schedule.Choices;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.file.DataFiles;
import io.regatta.training.config.JobConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * The reader of the file named by {@code collective.algorithms}: the table of algorithms by which the ranks of a job
 * all-reduce. Stateless; any thread may use it.
 */
public final class AlgorithmTable {

  private AlgorithmTable() {}

  /**
   * Returns the file's rows, followed by the built-in ones; only these if the job names no file. Blocks.
   *
   * @throws InvalidInput if it cannot be read, naming the line if it is one of them
   */
  public static Choices of(JobConfig job) {
    String name = job.collective().algorithms();
    if (name.isBlank()) {
      return Choices.defaults();
    }
    Path file = Path.of(name).toAbsolutePath();
    try {
      return Choices.parse(Files.readString(DataFiles.readable(file))).before(Choices.defaults());
    } catch (InvalidInput e) {
      throw refused(job, file, e);
    } catch (IOException e) {
      throw refused(job, file, DataFiles.unreadable(file, e));
    }
  }

  private static InvalidInput refused(JobConfig job, Path file, InvalidInput why) {
    return new InvalidInput("job " + job.job() + ": collective.algorithms is " + file + ": " + why.getMessage(), why);
  }
}
