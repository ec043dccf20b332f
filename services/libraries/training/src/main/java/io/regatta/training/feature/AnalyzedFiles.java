package io.regatta.training.feature;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.RowFormat.Place;
import io.regatta.data.feature.RowSplit.Boundaries;
import io.regatta.data.feature.TableStatistics;
import io.regatta.data.feature.TableStatistics.FileFact;
import io.regatta.data.file.DataFiles;
import io.regatta.training.config.JobConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/** The files of a pass whose rows are split by position, with the first test row. Immutable; any thread. */
final class AnalyzedFiles {

  private final String job;
  private final List<FileFact> files;
  private final Boundaries boundaries;

  AnalyzedFiles(JobConfig job, TableStatistics statistics) {
    this.job = job.job();
    files = statistics.files();
    boundaries = statistics.boundaries();
  }

  /**
   * Returns the first rows of parts in files that are all or some of those of the pass, in its order.
   *
   * @throws InvalidInput if a file is another one than that of the pass, so that its rows are others
   */
  Boundaries boundaries(List<Path> read) {
    return new Boundaries(first(read, boundaries.validation()), first(read, boundaries.test()));
  }

  private Optional<Place> first(List<Path> read, Optional<Place> boundary) {
    Optional<Place> first = Optional.empty();
    for (int i = 0; i < read.size(); i++) {
      int number = number(read.get(i));
      if (first.isEmpty() && boundary.isPresent() && number >= boundary.get().fileNumber()) {
        first = Optional.of(new Place(DataFiles.name(read.get(i)), i, number == boundary.get().fileNumber() ? boundary.get().line() : 0));
      }
    }
    return first;
  }

  /** Returns the number of a file in the pass. Directories differ between machines. */
  private int number(Path file) {
    String name = DataFiles.name(file);
    long bytes = DataFiles.size(file);
    boolean exact = files.stream().anyMatch(each -> each.name().equals(name));
    for (int i = 0; i < files.size(); i++) {
      if (exact ? files.get(i).name().equals(name) : last(files.get(i).name()).equals(last(name))) {
        if (files.get(i).bytes() != bytes) {
          throw new InvalidInput("job " + job + ": " + DataFiles.name(file) + " has " + bytes + " bytes, but " + files.get(i).bytes()
              + " when its first test row was found; run ./regatta analyze --overwrite with the job file");
        }
        return i;
      }
    }
    throw new InvalidInput("job " + job + ": " + DataFiles.name(file) + " was not there when the first test row was found; run "
        + "./regatta analyze --overwrite with the job file");
  }

  private static String last(String name) {
    return name.substring(name.lastIndexOf('/') + 1);
  }
}
