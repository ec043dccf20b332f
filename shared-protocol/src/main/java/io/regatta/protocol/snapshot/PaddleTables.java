package io.regatta.protocol.snapshot;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/**
 * The sparse tables that PaddlePaddle 2.0 and 2.1 save as text: {@code DIR/VAR_txt/VAR.blockI.txt}, one for each server, and
 * beside it {@code VAR.blockI.meta}. A line is {@code id TAB v0,v1,...,} or, from 2.1 on, {@code id TAB count TAB unseen days TAB
 * is_entry TAB v0,...,}. Values beyond the first {@code dim} are what Paddle's optimizer kept, and are left out, as are rows
 * that it had not admitted (is_entry 0). All blocks are read, whatever the number of servers was: Paddle's own loading reads one
 * block per server. Owned by one thread, which reads.
 */
public final class PaddleTables {

  private static final String COUNT = "count=";
  private static final String TXT = "_txt";
  private static final int SLICE_ROWS = 1024;

  private final Path dir;

  private PaddleTables(Path dir) {
    this.dir = dir;
  }

  /** Whether a directory holds such tables. */
  public static boolean isThere(Path dir) throws IOException {
    return !Files.exists(dir.resolve(ManifestFile.NAME)) && !in(dir).names().isEmpty();
  }

  static PaddleTables in(Path dir) {
    return new PaddleTables(dir);
  }

  /** Variables that are here. */
  List<String> names() throws IOException {
    try (Stream<Path> entries = Files.list(dir)) {
      return entries.filter(Files::isDirectory).map(d -> d.getFileName().toString()).filter(name -> name.endsWith(TXT))
          .map(name -> name.substring(0, name.length() - TXT.length())).sorted().toList();
    } catch (NoSuchFileException | NotDirectoryException e) {
      return List.of();
    }
  }

  /**
   * The values of all rows of a variable.
   *
   * @param to takes ids and {@code dim} values for each
   * @throws InvalidInput naming file and line of what cannot be read
   */
  void values(String name, int dim, SnapshotReader.RowTaker to) throws IOException {
    Path tables = dir.resolve(name + TXT);
    List<Path> blocks;
    try (Stream<Path> files = Files.list(tables)) {
      String prefix = name + ".block";
      blocks = files.filter(f -> f.getFileName().toString().startsWith(prefix) && f.toString().endsWith(".txt")).sorted().toList();
    }
    if (blocks.isEmpty()) {
      throw new InvalidInput(tables + " has no file " + name + ".block0.txt");
    }
    for (Path block : blocks) {
      long lines = block(block, dim, to);
      String file = block.toString();
      checkCount(Path.of(file.substring(0, file.length() - ".txt".length()) + ".meta"), block, lines);
    }
  }

  private static long block(Path block, int dim, SnapshotReader.RowTaker to) throws IOException {
    long[] ids = new long[SLICE_ROWS];
    float[] values = new float[SLICE_ROWS * dim];
    int n = 0;
    long lines = 0;
    try (BufferedReader in = Files.newBufferedReader(block)) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        lines++;
        if (line.isBlank()) {
          continue;
        }
        try {
          n += row(line, dim, ids, values, n) ? 1 : 0;
        } catch (InvalidInput | NumberFormatException e) {
          throw new InvalidInput(block + ", line " + lines + ": " + e.getMessage(), e);
        }
        if (n == SLICE_ROWS) {
          to.take(ids, values, n);
          n = 0;
        }
      }
    }
    to.take(ids, values, n);
    return lines;
  }

  /** Returns whether the row is one that had been admitted. */
  private static boolean row(String line, int dim, long[] ids, float[] values, int n) {
    String[] fields = line.split("\t", -1);
    if (fields.length != 2 && fields.length != 5) {
      throw new InvalidInput(fields.length + " fields between tabs; expected id and values, or id, count, unseen days, "
          + "is_entry and values");
    }
    ids[n] = fields[0].startsWith("-") ? Long.parseLong(fields[0]) : Long.parseUnsignedLong(fields[0]);
    if (fields.length == 5 && fields[3].equals("0")) {
      return false;
    }
    String[] floats = fields[fields.length - 1].split(",");
    if (floats.length < dim) {
      throw new InvalidInput(floats.length + " values, the table has rows of " + dim);
    }
    for (int i = 0; i < dim; i++) {
      values[n * dim + i] = Float.parseFloat(floats[i]);
    }
    return true;
  }

  /** The meta file tells how many rows there are; without one nobody knows. */
  private static void checkCount(Path meta, Path block, long lines) throws IOException {
    if (!Files.exists(meta)) {
      return;
    }
    List<String> told = Files.readAllLines(meta);
    for (int i = 0; i < told.size(); i++) {
      if (told.get(i).startsWith(COUNT) && count(meta, i + 1, told.get(i)) != lines) {
        throw new InvalidInput(block + " has " + lines + " lines, " + meta + " says " + told.get(i) + ": it was cut");
      }
    }
  }

  private static long count(Path meta, int number, String line) {
    try {
      return Long.parseLong(line.substring(COUNT.length()).strip());
    } catch (NumberFormatException e) {
      throw new InvalidInput(meta + ", line " + number + ": expected " + COUNT + " and a number of rows, found '" + line
          + "'; save the table again, or mend the line", e);
    }
  }
}
