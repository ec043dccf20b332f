package io.regatta.data.generate;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.file.UnfinishedFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.function.LongConsumer;
import java.util.stream.Stream;

/**
 * Writes a Criteo-shaped data set whose labels come from {@link CriteoTeacher}: {@code train-000.tsv} and so on,
 * {@code test.tsv}, and at last {@code criteo.json}, which says what was made, the best possible AUC on the test file,
 * and the files' checksums. Files depend on the seed and the numbers of rows alone: rows are made in blocks of 10 000,
 * side by side, each block from a random stream of its own, and so are files written. Everything is written under another name
 * first, so that a description exists only of complete files; until then a file {@code criteo.unfinished} tells that the directory
 * is the generator's, and which files are whole. What has been generated before is replaced only where that is asked
 * for. Used by one thread; several processes may make the same data at once.
 */
public final class CriteoGenerator {

  /** Of teacher and format. */
  static final int VERSION = 1;

  /**
   * What to make.
   *
   * @param seed of teacher and examples
   * @param trainRows rows of all training files
   * @param testRows rows of the test file
   * @param trainFiles number of training files
   */
  public record Size(long seed, int trainRows, int testRows, int trainFiles) {

    public Size {
      if (trainRows < 1 || testRows < 1 || trainFiles < 1 || trainFiles > trainRows) {
        throw new InvalidInput("generated data needs at least one training row, one test row and one file, not "
            + trainRows + ", " + testRows + " and " + trainFiles);
      }
    }

    /** For messages. */
    String words() {
      return trainRows + " training rows in " + trainFiles + (trainFiles == 1 ? " file" : " files") + " and " + testRows
          + " test rows, seed " + seed;
    }

    /** 200 000 rows in four files for training and 40 000 for testing. */
    public static Size standard(long seed) {
      return new Size(seed, 200_000, 40_000, 4);
    }
  }

  /** As {@link #ensure(Path, Size, LongConsumer)}, without a word. */
  public static GeneratedCriteo ensure(Path directory, Size size) {
    return ensure(directory, size, rows -> {});
  }

  /**
   * Makes the data in {@code directory}, unless exactly these are there already, complete and unchanged. Files that an earlier
   * attempt has finished are kept, and missing ones made; nothing that is there is replaced. Blocks; interrupted, it
   * stops and leaves them.
   *
   * @param made hears a few times a second, on the calling thread, how many rows are there, of the training and the test rows
   * @throws InvalidInput if the directory holds files of somebody else, or other generated data, see {@link #others},
   *     or one of its files has been changed: all are left as they are
   */
  public static GeneratedCriteo ensure(Path directory, Size size, LongConsumer made) {
    String others = others(directory, size);
    if (others != null) {
      throw new InvalidInput(others + ". They are not replaced: choose another directory, or delete this one");
    }
    try {
      removeLeft(directory);
      GeneratedCriteo there = GeneratedCriteo.in(directory);
      if (there != null && there.intact(directory)) {
        return there;
      }
      checkOurs(directory);
      Files.createDirectories(directory);
      UnfinishedCriteo before = there != null ? new UnfinishedCriteo(VERSION, size, there.files())
          : UnfinishedCriteo.in(directory);
      UnfinishedCriteo known = before != null ? before : new UnfinishedCriteo(VERSION, size, List.of());
      known.refuseChanged(directory);
      return make(directory, known, made);
    } catch (IOException e) {
      throw unwritable(directory, e);
    }
  }

  /**
   * Makes the data in {@code directory} in the place of those that have been generated there, whatever they are.
   * Blocks as {@link #ensure(Path, Size, LongConsumer)} does.
   *
   * @throws InvalidInput if the directory holds files of somebody else, which are left as they are
   */
  public static GeneratedCriteo replace(Path directory, Size size, LongConsumer made) {
    try {
      checkOurs(directory);
      Files.createDirectories(directory);
      removeLeft(directory);
      if (owns(directory)) {
        removeFiles(directory);
      }
      return make(directory, new UnfinishedCriteo(VERSION, size, List.of()), made);
    } catch (IOException e) {
      throw unwritable(directory, e);
    }
  }

  /** Removes what those have begun to write who were killed. */
  private static void removeLeft(Path directory) throws IOException {
    if (owns(directory)) {
      UnfinishedFile.removeLeft(directory, CriteoFiles::isName);
    }
  }

  /**
   * Removes generated files by their names: descriptions list only some of those that were begun. Until all are gone the mark tells
   * of the data that they are of, so that whoever is killed in between leaves no file of theirs among others.
   */
  private static void removeFiles(Path directory) throws IOException {
    Path description = directory.resolve(GeneratedCriteo.NAME);
    GeneratedCriteo there = GeneratedCriteo.in(directory);
    if (there != null) {
      new UnfinishedCriteo(there.version(), there.size(), there.files()).write(directory);
    } else if (Files.exists(description)) { // and cannot be read; the directory stays the generator's
      Files.move(description, directory.resolve(UnfinishedCriteo.NAME), StandardCopyOption.REPLACE_EXISTING);
    }
    Files.deleteIfExists(description); // before its files
    List<Path> files;
    try (Stream<Path> entries = Files.list(directory)) {
      files = entries.filter(file -> CriteoFiles.isName(file.getFileName().toString())).toList();
    }
    for (Path file : files) {
      Files.deleteIfExists(file);
    }
  }

  /**
   * What other generated data than these are in {@code directory}, complete or begun, and what is asked for, in
   * words; null if there are none. Reads descriptions only.
   */
  public static String others(Path directory, Size size) {
    if (!owns(directory)) {
      return null;
    }
    UnfinishedCriteo begun = UnfinishedCriteo.in(directory); // first: somebody may just be writing the description
    GeneratedCriteo there = GeneratedCriteo.in(directory);
    if (there == null && begun == null) {
      return directory.toAbsolutePath() + " holds generated data whose description (" + GeneratedCriteo.NAME + " or "
          + UnfinishedCriteo.NAME + ") cannot be read";
    }
    int version = there != null ? there.version() : begun.version();
    Size its = there != null ? there.size() : begun.size();
    if (version == VERSION && size.equals(its)) {
      return null;
    }
    return directory.toAbsolutePath() + " holds " + (there != null ? "" : "the beginning of ") + "generated data of "
        + its.words() + (version == VERSION ? "" : ", of version " + version + " instead of " + VERSION)
        + "; asked for are " + size.words();
  }

  private static GeneratedCriteo make(Path directory, UnfinishedCriteo known, LongConsumer made) throws IOException {
    known.write(directory);
    Files.deleteIfExists(directory.resolve(GeneratedCriteo.NAME));
    GeneratedCriteo all = new CriteoFiles(directory, known.size()).make(known, made);
    Files.deleteIfExists(directory.resolve(UnfinishedCriteo.NAME));
    return all;
  }

  private static InvalidInput unwritable(Path directory, IOException e) {
    return new InvalidInput("cannot write data to " + directory.toAbsolutePath() + ": " + e
        + ". Choose another data directory", e);
  }

  private static void checkOurs(Path directory) throws IOException {
    if (!Files.exists(directory)) {
      return;
    }
    List<String> names;
    try (Stream<Path> files = Files.list(directory)) {
      names = files.map(file -> file.getFileName().toString()).filter(name -> !name.startsWith(".")).sorted().toList();
    }
    if (!names.isEmpty() && !owns(directory)) { // in this order: another process may have begun to generate here
      throw new InvalidInput("no data are generated in " + directory.toAbsolutePath() + ", which holds "
          + names.get(0) + (names.size() > 1 ? " and " + (names.size() - 1) + " more" : "") + ": give the directory of a "
          + "complete data set, or an empty one, with --data (data.dir)");
    }
  }

  /** Whether the files in {@code directory} are the generator's, complete or not. */
  public static boolean owns(Path directory) {
    return Files.exists(directory.resolve(GeneratedCriteo.NAME)) || Files.exists(directory.resolve(UnfinishedCriteo.NAME));
  }

  /** Whether data in {@code directory} are generated, and not known to be complete. */
  public static boolean isBegun(Path directory) {
    return owns(directory) && GeneratedCriteo.in(directory) == null;
  }

  /** The probabilities with which the labels of the test file were drawn, row by row. */
  public static double[] testProbabilities(Size size) {
    return CriteoFiles.testProbabilities(size);
  }
}
