package io.regatta.data.generate;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.file.WholeFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * What has been made so far of a generated data set, as the mark in its directory tells. Immutable, any thread.
 *
 * @param version as of {@link GeneratedCriteo}
 * @param size what was asked for
 * @param files that are whole
 */
record UnfinishedCriteo(int version, CriteoGenerator.Size size, List<GeneratedCriteo.File> files) {

  static final String NAME = "criteo.unfinished";

  /** Null if there is none that can be read. */
  static UnfinishedCriteo in(Path directory) {
    try {
      Path mark = directory.resolve(NAME);
      return Files.isRegularFile(mark) ? GeneratedCriteo.JSON.readValue(mark.toFile(), UnfinishedCriteo.class) : null;
    } catch (IOException damaged) {
      return null;
    }
  }

  void write(Path directory) throws IOException {
    WholeFile.writeAmongOthers(directory.resolve(NAME), part -> GeneratedCriteo.JSON.writeValue(part.toFile(), this));
  }

  /** Somebody may have put something of their own in a file's place. */
  void refuseChanged(Path directory) throws IOException {
    for (GeneratedCriteo.File file : files) {
      if (Files.exists(directory.resolve(file.name())) && !file.intact(directory)) {
        throw new InvalidInput(directory.resolve(file.name()).toAbsolutePath() + " is not as it was generated any more, "
            + "and is not replaced: give the directory of a complete data set, or delete the file, which is then made again");
      }
    }
  }

  /** The file of this name if it is there as it was made, else null. */
  GeneratedCriteo.File intact(Path directory, String name) throws IOException {
    for (GeneratedCriteo.File file : files) {
      if (file.name().equals(name) && file.intact(directory)) {
        return file;
      }
    }
    return null;
  }
}
