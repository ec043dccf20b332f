package io.regatta.core.collective.schedule;

import io.regatta.core.collective.Operation;
import io.regatta.core.collective.WireType;
import io.regatta.core.error.RegattaException.InvalidInput;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * The table that chooses the algorithm and the chunk size of each operation. Immutable. It chooses by the distance of
 * the ranks, their number, and the size of the vector. The shipped table was measured, and can be measured again for
 * all-reduce ({@code load-tests/run.sh refit}). All ranks of a group must have the same table.
 *
 * <p>As text a row is {@code operation reach ranks bytes algorithm chunk-bytes}, with {@code *} for any. It holds for
 * ranks this far apart ({@link Reach}), up to that number of ranks and of bytes. The first row that fits counts.
 */
public final class Choices {
  private static final String RESOURCE = "choices.txt";
  private static final int CELLS = 6;
  private static final Choices DEFAULTS = resource();
  /**
   * Smallest vector, in bytes, for which two levels pay if hosts have several ranks; not in the table, which is not
   * measured for it.
   */
  private static final long HIERARCHICAL_BYTES = 64 << 10;

  private final List<Row> rows;

  /**
   * An algorithm with its chunk size.
   *
   * @param chunkBytes largest size of a message, as it is sent; at least 1
   */
  public record Choice(Algorithm algorithm, int chunkBytes) {

    public Choice {
      if (chunkBytes < 1) {
        throw new InvalidInput("a message has at least 1 byte, not " + chunkBytes);
      }
    }
  }

  /**
   * One row of the table: the choice for at most {@code ranks} ranks and {@code bytes} bytes.
   *
   * @param reach null: any
   */
  public record Row(Operation operation, Reach reach, int ranks, long bytes, Choice choice) {

    public Row {
      Schedules.check(operation, choice.algorithm);
      if (ranks < 1 || bytes < 0) {
        throw new InvalidInput("up to " + ranks + " ranks and " + bytes + " bytes there is no vector");
      }
    }

    private boolean fits(Operation wanted, Reach its, int world, long size) {
      return operation == wanted && (reach == null || reach == its) && world <= ranks && size <= bytes;
    }

    private String text() {
      return operation.word() + " " + (reach == null ? "*" : reach.word()) + " "
          + (ranks == Integer.MAX_VALUE ? "*" : Integer.toString(ranks)) + " "
          + (bytes == Long.MAX_VALUE ? "*" : Long.toString(bytes)) + " " + choice.algorithm.word() + " "
          + choice.chunkBytes;
    }
  }

  /** Creates a table with these rows. */
  public Choices(List<Row> rows) {
    this.rows = List.copyOf(rows);
  }

  /** Returns the table that is shipped. */
  public static Choices defaults() {
    return DEFAULTS;
  }

  /** Returns a table of these rows, followed by those of another table for what none of these fits. */
  public Choices before(Choices others) {
    return new Choices(Stream.concat(rows.stream(), others.rows.stream()).toList());
  }

  private static Choices resource() {
    try (InputStream in = Choices.class.getResourceAsStream(RESOURCE)) {
      return parse(new String(in.readAllBytes(), StandardCharsets.UTF_8));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Reads a table; empty lines and those that begin with {@code #} are left out.
   *
   * @throws InvalidInput naming the line
   */
  public static Choices parse(String text) {
    List<Row> rows = new ArrayList<>();
    for (String line : text.lines().map(String::strip).filter(l -> !l.isEmpty() && !l.startsWith("#")).toList()) {
      String[] cells = line.split("\\s+");
      try {
        if (cells.length != CELLS) {
          throw new IllegalArgumentException("it has " + cells.length + " words, not " + CELLS);
        }
        rows.add(new Row(ofWord(Operation.values(), Operation::word, cells[0]),
            cells[1].equals("*") ? null : ofWord(Reach.values(), Reach::word, cells[1]),
            cells[2].equals("*") ? Integer.MAX_VALUE : Integer.parseInt(cells[2]),
            cells[3].equals("*") ? Long.MAX_VALUE : Long.parseLong(cells[3]),
            new Choice(ofWord(Algorithm.values(), Algorithm::word, cells[4]), Integer.parseInt(cells[5]))));
      } catch (IllegalArgumentException | InvalidInput e) {
        throw new InvalidInput("table of collective algorithms: '" + line + "' is no row like 'all-reduce machine 2 65536 ring "
            + "262144': " + e.getMessage(), e);
      }
    }
    return new Choices(rows);
  }

  private static <T> T ofWord(T[] values, Function<T, String> word, String wanted) {
    return Arrays.stream(values).filter(v -> word.apply(v).equals(wanted)).findFirst()
        .orElseThrow(() -> new IllegalArgumentException("unknown word '" + wanted + "'"));
  }

  /** Returns the table as text that {@link #parse} reads. */
  public String text() {
    StringBuilder text = new StringBuilder();
    rows.forEach(row -> text.append(row.text()).append('\n'));
    return text.toString();
  }

  /**
   * Returns the choice for a call.
   *
   * @param bytes of the vector, as it is sent
   * @param wire a narrower one excludes {@link Algorithm#EXCHANGE}, see there
   * @param reach of the group, the same at all ranks
   * @param hostOf a number for the host of each rank: several hosts, some with several ranks, take two levels, unless
   *     the table says {@link Algorithm#CENTRAL}
   */
  public Choice choose(Operation operation, long bytes, WireType wire, Reach reach, int[] hostOf) {
    for (Row row : rows) {
      if (row.fits(operation, reach, hostOf.length, bytes)) {
        Choice choice = row.choice;
        if (operation == Operation.ALL_REDUCE && choice.algorithm != Algorithm.CENTRAL && bytes >= HIERARCHICAL_BYTES
            && isTwoLevels(hostOf)) {
          return new Choice(Algorithm.HIERARCHICAL, choice.chunkBytes);
        }
        return choice.algorithm == Algorithm.EXCHANGE && wire.narrows()
            ? new Choice(Algorithm.HALVING_DOUBLING, choice.chunkBytes) : choice;
      }
    }
    throw new InvalidInput("the table of collective algorithms has no row for " + operation.word() + " of " + bytes
        + " bytes among " + hostOf.length + " ranks (" + reach.word() + "); its last row of an operation should be for any ('*')");
  }

  private static boolean isTwoLevels(int[] hostOf) {
    long hosts = Arrays.stream(hostOf).distinct().count();
    return hosts > 1 && hosts < hostOf.length;
  }
}
