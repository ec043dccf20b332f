package io.regatta.data.generate;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.file.WholeFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The state of an unfinished generated data set, as the mark in its directory lists it. Immutable; any thread may use
 * it.
 *
 * @param version of {@link GeneratedCriteo}
 * @param size the requested size
 * @param files that are whole
 */
record UnfinishedCriteo(int version, CriteoGenerator.Size size, List<GeneratedCriteo.File> files) {

  static final String NAME = "criteo.unfinished";

  /** Returns the mark in a directory, or null if there is no readable one. */
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

  /** Checks that no listed file has been changed or replaced by the user. */
  void refuseChanged(Path directory) throws IOException {
    for (GeneratedCriteo.File file : files) {
      if (Files.exists(directory.resolve(file.name())) && !file.intact(directory)) {
        throw new InvalidInput(directory.resolve(file.name()).toAbsolutePath() + " has been changed since it was generated, "
            + "and is not replaced: give the directory of a complete data set, or delete the file, which is then made again");
      }
    }
  }

  /** Returns the file of this name if it exists unchanged, else null. */
  GeneratedCriteo.File intact(Path directory, String name) throws IOException {
    for (GeneratedCriteo.File file : files) {
      if (file.name().equals(name) && file.intact(directory)) {
        return file;
      }
    }
    return null;
  }
}
