package io.regatta.data.generate;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.file.WholeFile;
import io.regatta.data.file.DataFiles;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/**
 * A data set of the shape of a public one, generated from a seed: the same files, columns and numbers of rows. The
 * model that draws the labels is known, and with it the best possible result. It is described in {@link #NAME}, which
 * is written last. Immutable; any thread may use it.
 *
 * @param version of the generator; another version means other data
 * @param kind of data set
 * @param seed from which it was drawn
 * @param metric name of {@code best}
 * @param best result of the model that drew the labels: training exceeds it only by chance
 */
public record GeneratedTable(int version, Kind kind, long seed, String metric, double best) {

  /** Name of the description. */
  public static final String NAME = "generated.json";

  /** Name of the file that marks a directory as the generator's until the description is there. */
  private static final String MARK = "generated.unfinished";
  private static final int VERSION = 1;
  private static final ObjectMapper JSON = new ObjectMapper();

  /** The public data set whose shape it has. */
  public enum Kind {
    /** {@code housing.data}: 13 features and a value, in columns. */
    HOUSING("housing.data", "housing.data", 506, 0),
    /** {@code adult.data} and {@code adult.test}: numbers and categories, separated by commas. */
    CENSUS("adult.data", "adult.test", 32_561, 16_281),
    /** {@code a9a} and {@code a9a.t}: 123 binary features in LibSVM's format. */
    A9A("a9a", "a9a.t", 32_561, 16_281);

    private final String train;
    private final String test;
    private final int trainRows;
    private final int testRows;

    Kind(String train, String test, int trainRows, int testRows) {
      this.train = train;
      this.test = test;
      this.trainRows = trainRows;
      this.testRows = testRows;
    }

    private TableTeacher teacher(long seed) {
      return switch (this) {
        case HOUSING -> new HousingTeacher(seed);
        case CENSUS -> new CensusTeacher(seed);
        case A9A -> new BinaryFeaturesTeacher(seed);
      };
    }

    /** Returns the names of the files, for messages. */
    public String files() {
      return train.equals(test) ? train : train + " and " + test;
    }
  }

  /**
   * Generates the data in {@code directory}, unless they are there already. No existing file is replaced, except those
   * of an unfinished attempt at the same data.
   *
   * @throws InvalidInput if the directory holds files that were not generated, or other generated data: they are left
   *     unchanged
   */
  public static GeneratedTable ensure(Path directory, Kind kind, long seed) {
    String others = others(directory, kind, seed);
    if (others != null) {
      throw new InvalidInput(others + ". It is not replaced: choose another directory, or delete this one");
    }
    GeneratedTable there = in(directory);
    if (there != null) {
      return there;
    }
    if (!owns(directory) && !DataFiles.isEmpty(directory)) {
      throw new InvalidInput("data cannot be generated in " + directory.toAbsolutePath() + ", which holds other files: give "
          + "the directory of " + kind.files() + ", or an empty one, with --data (data.dir)");
    }
    try {
      Files.createDirectories(directory);
      GeneratedTable begun = new GeneratedTable(VERSION, kind, seed, "", Double.NaN);
      WholeFile.writeAmongOthers(directory.resolve(MARK), part -> JSON.writeValue(part.toFile(), begun));
      TableTeacher teacher = kind.teacher(seed);
      TableTeacher.Rows rows = teacher.rows(0, kind.trainRows);
      write(directory.resolve(kind.train), rows);
      if (kind.testRows > 0) {
        rows = teacher.rows(1, kind.testRows);
        write(directory.resolve(kind.test), rows);
      }
      GeneratedTable made = new GeneratedTable(VERSION, kind, seed, rows.metric(), rows.best());
      WholeFile.writeAmongOthers(directory.resolve(NAME),
          part -> JSON.writerWithDefaultPrettyPrinter().writeValue(part.toFile(), made));
      Files.deleteIfExists(directory.resolve(MARK));
      return made;
    } catch (IOException e) {
      throw new InvalidInput("cannot write generated data to " + directory.toAbsolutePath() + ": " + e
          + ". Choose another data directory", e);
    }
  }

  private static void write(Path file, TableTeacher.Rows rows) throws IOException {
    WholeFile.writeAmongOthers(file, part -> Files.write(part, rows.lines(), StandardCharsets.US_ASCII));
  }

  /** Returns one line about the data, for the user. */
  public String line(Path directory) {
    return String.format(Locale.ROOT, "data in %s, generated: %s with the shape of the public ones, seed %d; best possible "
        + "%s %.4f", directory, kind.files(), seed, metric, best);
  }

  /**
   * Returns in words which other generated data are in {@code directory}, complete or begun, and which are requested;
   * null if there are none.
   */
  public static String others(Path directory, Kind kind, long seed) {
    GeneratedTable begun = read(directory.resolve(MARK)); // first: another process may be writing the description
    GeneratedTable there = in(directory);
    if (there == null && Files.exists(directory.resolve(NAME))) {
      return directory.toAbsolutePath() + " holds generated data whose description (" + NAME + ") cannot be read";
    }
    GeneratedTable its = there != null ? there : begun;
    return its == null || its.version == VERSION && its.kind == kind && its.seed == seed ? null
        : directory.toAbsolutePath() + " holds generated data (" + its.kind.files() + ", seed " + its.seed + ", version "
            + its.version + "); requested are " + kind.files() + ", seed " + seed + ", version " + VERSION;
  }

  /** Returns true if the files in {@code directory} were generated, complete or not. */
  public static boolean owns(Path directory) {
    return Files.exists(directory.resolve(NAME)) || Files.exists(directory.resolve(MARK));
  }

  /** Returns true if data in {@code directory} were generated, and are not known to be complete. */
  public static boolean isBegun(Path directory) {
    return owns(directory) && in(directory) == null;
  }

  /** Returns the description in {@code directory}, or null if there is no readable one. */
  public static GeneratedTable in(Path directory) {
    return read(directory.resolve(NAME));
  }

  private static GeneratedTable read(Path file) {
    try {
      return Files.isRegularFile(file) ? JSON.readValue(Files.readAllBytes(file), GeneratedTable.class) : null;
    } catch (IOException damaged) {
      return null;
    }
  }
}
