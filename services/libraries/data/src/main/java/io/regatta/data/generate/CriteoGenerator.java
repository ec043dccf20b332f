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
 * The generator of a Criteo-shaped data set whose labels come from {@link CriteoTeacher}. It writes
 * {@code train-000.tsv} and so on, {@code test.tsv}, and last {@code criteo.json}, which describes the data, the best
 * possible AUC on the test file, and the files' checksums. Used by one thread; several processes may generate the same
 * data at once.
 *
 * <p>Files depend on the seed and the numbers of rows alone: rows are generated in blocks of 10 000, each block from a
 * random stream of its own. Blocks are generated and files written in parallel.
 *
 * <p>Each file is first written under another name, so that a description exists only of complete files. Until then a
 * file {@code criteo.unfinished} marks the directory as the generator's, and lists the files that are whole. Earlier
 * generated data are replaced only on request.
 */
public final class CriteoGenerator {

  /** Version of teacher and format. */
  static final int VERSION = 1;

  /**
   * The size and seed of a data set.
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

    /** Returns the size in words, for messages. */
    String words() {
      return trainRows + " training rows in " + trainFiles + (trainFiles == 1 ? " file" : " files") + " and " + testRows
          + " test rows, seed " + seed;
    }

    /** Returns the standard size: 200 000 rows in four files for training and 40 000 for testing. */
    public static Size standard(long seed) {
      return new Size(seed, 200_000, 40_000, 4);
    }
  }

  /** Calls {@link #ensure(Path, Size, LongConsumer)} without a listener. */
  public static GeneratedCriteo ensure(Path directory, Size size) {
    return ensure(directory, size, rows -> {});
  }

  /**
   * Generates the data in {@code directory}, unless exactly these are there already, complete and unchanged. Files that
   * an earlier attempt has finished are kept, and missing ones are generated; no existing file is replaced. Blocks; if
   * interrupted, it stops and leaves the finished files.
   *
   * @param made gets the number of rows that exist, training and test rows together, a few times a second on the
   *     calling thread
   * @throws InvalidInput if the directory holds files that were not generated, or other generated data, see
   *     {@link #others}, or one of its files has been changed: all files are left unchanged
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
   * Generates the data in {@code directory} in place of those that have been generated there, whatever they are. Blocks
   * as {@link #ensure(Path, Size, LongConsumer)} does.
   *
   * @throws InvalidInput if the directory holds files that were not generated, which are left unchanged
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

  /** Removes the unfinished files of processes that were killed. */
  private static void removeLeft(Path directory) throws IOException {
    if (owns(directory)) {
      UnfinishedFile.removeLeft(directory, CriteoFiles::isName);
    }
  }

  /**
   * Removes generated files by their names, because descriptions list only some of those that were begun. Until all are
   * removed, the mark describes their data, so that a process killed in between leaves none of them unmarked.
   */
  private static void removeFiles(Path directory) throws IOException {
    Path description = directory.resolve(GeneratedCriteo.NAME);
    GeneratedCriteo there = GeneratedCriteo.in(directory);
    if (there != null) {
      new UnfinishedCriteo(there.version(), there.size(), there.files()).write(directory);
    } else if (Files.exists(description)) { // unreadable: the directory stays marked as the generator's
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
   * Returns in words which other generated data are in {@code directory}, complete or begun, and which are requested;
   * null if there are none. Reads descriptions only.
   */
  public static String others(Path directory, Size size) {
    if (!owns(directory)) {
      return null;
    }
    UnfinishedCriteo begun = UnfinishedCriteo.in(directory); // first: another process may be writing the description
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
        + "; requested are " + size.words();
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
      throw new InvalidInput("data cannot be generated in " + directory.toAbsolutePath() + ", which holds "
          + names.get(0) + (names.size() > 1 ? " and " + (names.size() - 1) + " more" : "") + ": give the directory of a "
          + "complete data set, or an empty one, with --data (data.dir)");
    }
  }

  /** Returns true if the files in {@code directory} were generated, complete or not. */
  public static boolean owns(Path directory) {
    return Files.exists(directory.resolve(GeneratedCriteo.NAME)) || Files.exists(directory.resolve(UnfinishedCriteo.NAME));
  }

  /** Returns true if data in {@code directory} were generated, and are not known to be complete. */
  public static boolean isBegun(Path directory) {
    return owns(directory) && GeneratedCriteo.in(directory) == null;
  }

  /** Returns the probabilities with which the labels of the test file were drawn, row by row. */
  public static double[] testProbabilities(Size size) {
    return CriteoFiles.testProbabilities(size);
  }
}
