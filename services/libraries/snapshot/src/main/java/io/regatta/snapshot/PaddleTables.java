package io.regatta.snapshot;

import io.regatta.core.error.PeerText;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.file.ConfinedDirectory;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.channels.Channels;
import java.nio.charset.StandardCharsets;
import java.nio.file.NoSuchFileException;
import java.nio.file.NotDirectoryException;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;

/**
 * The sparse tables that PaddlePaddle 2.0 and 2.1 save as text: {@code DIR/VAR_txt/VAR.blockI.txt}, one for each
 * server, and beside it {@code VAR.blockI.meta}. A line is {@code id TAB v0,v1,...,} or, from 2.1 on,
 * {@code id TAB count TAB unseen days TAB is_entry TAB v0,...,}. Values beyond the first {@code dim} are the state of
 * Paddle's optimizer and are skipped, as are rows that it had not admitted (is_entry 0). All blocks are read, for any
 * number of servers: Paddle's own loading reads one block per server. Owned by one thread, which reads.
 */
public final class PaddleTables {

  private static final String COUNT = "count=";
  private static final String TXT = "_txt";
  private static final int SLICE_ROWS = 1024;

  private final ConfinedDirectory dir;

  private PaddleTables(ConfinedDirectory dir) {
    this.dir = dir;
  }

  /** Returns true if a directory holds such tables. */
  public static boolean isThere(Path dir) throws IOException {
    return isThere(ConfinedDirectory.of(dir));
  }

  static boolean isThere(ConfinedDirectory dir) throws IOException {
    return dir.attributes(ManifestFile.NAME) == null && !in(dir).names().isEmpty();
  }

  static PaddleTables in(ConfinedDirectory dir) {
    return new PaddleTables(dir);
  }

  /**
   * Returns the variables that are here. One whose directory is a link is among them, so that it is refused rather than
   * skipped.
   */
  List<String> names() throws IOException {
    List<String> names = new ArrayList<>();
    try {
      for (String entry : dir.names()) {
        BasicFileAttributes attributes = entry.endsWith(TXT) ? dir.attributes(entry) : null;
        if (attributes != null && (attributes.isDirectory() || attributes.isSymbolicLink())) {
          names.add(entry.substring(0, entry.length() - TXT.length()));
        }
      }
      return names;
    } catch (NoSuchFileException | NotDirectoryException e) {
      return List.of();
    }
  }

  /**
   * Reads the values of all rows of a variable.
   *
   * @param to takes ids and {@code dim} values for each
   * @throws InvalidInput naming file and line of the unreadable text
   */
  void values(String name, int dim, SnapshotReader.RowTaker to) throws IOException {
    ConfinedDirectory tables = dir.in(name + TXT);
    List<String> blocks = tables.names().stream()
        .filter(file -> file.startsWith(name + ".block") && file.endsWith(".txt")).toList();
    if (blocks.isEmpty()) {
      throw new InvalidInput(tables + " has no file " + name + ".block0.txt");
    }
    for (String block : blocks) {
      long lines = block(tables, block, dim, to);
      checkCount(tables, block.substring(0, block.length() - ".txt".length()) + ".meta", block, lines);
    }
  }

  private static long block(ConfinedDirectory tables, String block, int dim, SnapshotReader.RowTaker to)
      throws IOException {
    long[] ids = new long[SLICE_ROWS];
    float[] values = new float[SLICE_ROWS * dim];
    int n = 0;
    long lines = 0;
    try (BufferedReader in = reader(tables, block)) {
      for (String line = in.readLine(); line != null; line = in.readLine()) {
        lines++;
        if (line.isBlank()) {
          continue;
        }
        try {
          n += row(line, dim, ids, values, n) ? 1 : 0;
        } catch (InvalidInput | NumberFormatException e) {
          throw new InvalidInput(tables.pathOf(block) + ", line " + lines + ": " + e.getMessage(), e);
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

  private static BufferedReader reader(ConfinedDirectory tables, String file) throws IOException {
    return new BufferedReader(Channels.newReader(tables.open(file), StandardCharsets.UTF_8));
  }

  /** The meta file tells how many rows there are; without one nobody knows. */
  private static void checkCount(ConfinedDirectory tables, String meta, String block, long lines) throws IOException {
    if (tables.attributes(meta) == null) {
      return;
    }
    List<String> told;
    try (BufferedReader in = reader(tables, meta)) {
      told = in.lines().toList();
    }
    for (int i = 0; i < told.size(); i++) {
      if (told.get(i).startsWith(COUNT) && count(tables.pathOf(meta), i + 1, told.get(i)) != lines) {
        throw new InvalidInput(tables.pathOf(block) + " has " + lines + " lines, " + tables.pathOf(meta) + " says "
            + PeerText.of(told.get(i)) + ": it was cut");
      }
    }
  }

  private static long count(Path meta, int number, String line) {
    try {
      return Long.parseLong(line.substring(COUNT.length()).strip());
    } catch (NumberFormatException e) {
      throw new InvalidInput(meta + ", line " + number + ": expected " + COUNT + " and a number of rows, found '"
          + PeerText.of(line)
          + "'; save the table again, or correct the line", e);
    }
  }
}
