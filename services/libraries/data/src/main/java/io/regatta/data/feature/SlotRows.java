package io.regatta.data.feature;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.feature.InputRow;
import io.regatta.data.BadLines;
import io.regatta.data.DataCursor;
import io.regatta.data.Line;
import io.regatta.data.RowFormat;
import io.regatta.data.SlotSource;
import io.regatta.data.file.Ascii;
import io.regatta.data.file.FileQueue;
import io.regatta.data.file.PipeCommand;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Rows of lines whose columns have no names of their own: LibSVM and MultiSlot. Immutable; any thread.
 * <ul>
 *   <li>LibSVM: the column {@code label} is the first value, without a plus sign. {@code qid} is the number of its query.
 *       {@code features} is the text of all pairs, {@code 3:1 11:0.5}. A column whose name is a number is the value of that
 *       index. {@code #} begins a comment.
 *   <li>MultiSlot: the names are given, one for each slot in order. A slot of one value is that value, one of several is a
 *       list of texts.
 * </ul>
 */
abstract class SlotRows implements RowFormat<NumberedLine> {

  private static final String LABEL = "label";
  private static final String QUERY = "qid";
  private static final String FEATURES = "features";
  private static final int COUNT_DIGITS_MAX = 6;

  private final String name;
  private final List<String> columns;
  private final PipeCommand command;
  /** Number of each column, by name. */
  final Map<String, Integer> numbers = new HashMap<>();

  private SlotRows(String name, Set<String> needed, Set<String> optional, PipeCommand command) {
    this.name = name;
    this.command = command;
    Set<String> all = new LinkedHashSet<>(needed);
    all.addAll(optional);
    columns = List.copyOf(all);
    columns.forEach(column -> numbers.put(column, numbers.size()));
  }

  @Override
  public final String name() {
    return name;
  }

  @Override
  public final List<String> columns() {
    return columns;
  }

  @Override
  public final SlotSource.Cursor<NumberedLine> open(FileQueue queue, DataCursor place) {
    return NumberedLine.cursor(queue, command, place);
  }

  @Override
  public final Place place(NumberedLine row) {
    return row.place();
  }

  final void put(String column, Line line, int from, int to, InputRow into) {
    Integer number = numbers.get(column);
    if (number != null) {
      into.text(number, line.bytes(), from, to);
    }
  }

  private static boolean bad(Line line, int at, String problem, BadLines badLines) {
    return badLines.report(line, "character " + (at - line.from() + 1), problem);
  }

  /** Creates the format of LibSVM's lines. */
  static SlotRows libSvm(Set<String> needed, Set<String> optional, PipeCommand command) {
    for (String column : needed) {
      if (!column.matches("[0-9]{1,18}") && !Set.of(LABEL, QUERY, FEATURES).contains(column)) {
        throw new InvalidInput("the format libsvm has no column " + column + ": its columns are label, qid, features (all pairs), and "
            + "indices such as 7");
      }
    }
    return new LibSvm(needed, optional, command);
  }

  private static final class LibSvm extends SlotRows {

    LibSvm(Set<String> needed, Set<String> optional, PipeCommand command) {
      super("libsvm", needed, optional, command);
    }

    @Override
    public boolean read(NumberedLine row, InputRow into, BadLines badLines) {
      Line line = row.line();
      byte[] bytes = line.bytes();
      into.clear();
      int to = Ascii.find((byte) '#', bytes, line.from(), line.to());
      int at = Ascii.skipBlanks(bytes, line.from(), to);
      if (at == to) {
        return false; // a comment and no row
      }
      int end = Ascii.endOfToken(bytes, at, to);
      put(LABEL, line, bytes[at] == '+' ? at + 1 : at, end, into);
      int first = -1;
      for (at = Ascii.skipBlanks(bytes, end, to); at < to; at = Ascii.skipBlanks(bytes, end, to)) {
        end = Ascii.endOfToken(bytes, at, to);
        int colon = Ascii.find((byte) ':', bytes, at, end);
        if (colon == end || colon == at) {
          return bad(line, at, BadLines.expected("index:value", line.text(at, end)), badLines);
        }
        if (colon - at == QUERY.length() && first < 0 && line.text(at, colon).equals(QUERY)) {
          put(QUERY, line, colon + 1, end, into);
          continue;
        }
        first = first < 0 ? at : first;
        put(line.text(at, colon), line, colon + 1, end, into);
      }
      if (first >= 0) {
        put(FEATURES, line, first, to, into);
      }
      return true;
    }
  }

  /** Creates the format of MultiSlot's lines. */
  static SlotRows multiSlot(List<String> given, Set<String> needed, Set<String> optional, PipeCommand command) {
    if (given.isEmpty()) {
      throw new InvalidInput("the format multislot names no columns: give the names of its slots, in order, in data.columns");
    }
    for (String column : needed) {
      if (!given.contains(column)) {
        throw new InvalidInput("data.columns names no column " + column + ": name all slots of the lines, in order");
      }
    }
    return new MultiSlot(given, needed, optional, command);
  }

  private static final class MultiSlot extends SlotRows {

    private final List<String> slots;

    MultiSlot(List<String> slots, Set<String> needed, Set<String> optional, PipeCommand command) {
      super("multislot", needed, optional, command);
      this.slots = List.copyOf(slots);
    }

    @Override
    public boolean read(NumberedLine row, InputRow into, BadLines badLines) {
      Line line = row.line();
      byte[] bytes = line.bytes();
      into.clear();
      int at = Ascii.skipBlanks(bytes, line.from(), line.to());
      for (String slot : slots) {
        int end = Ascii.endOfToken(bytes, at, line.to());
        if (end - at > COUNT_DIGITS_MAX || !Ascii.isId(bytes, at, end)) {
          return bad(line, at, slot + ": " + BadLines.expected("the number of its values", line.text(at, end)), badLines);
        }
        int count = (int) Ascii.id(bytes, at, end);
        Integer number = numbers.get(slot);
        List<byte[]> values = new ArrayList<>();
        for (int i = 0; i < count; i++) {
          at = Ascii.skipBlanks(bytes, end, line.to());
          end = Ascii.endOfToken(bytes, at, line.to());
          if (at == end) {
            return bad(line, at, slot + ": the line ends after " + i + " of " + count + " values", badLines);
          }
          if (count == 1) {
            put(slot, line, at, end, into);
          } else if (number != null) {
            values.add(Arrays.copyOfRange(bytes, at, end));
          }
        }
        if (count > 1 && number != null) {
          into.texts(number, values);
        }
        at = Ascii.skipBlanks(bytes, end, line.to());
      }
      return at == line.to() || bad(line, at, BadLines.expected("the end of the line after its " + slots.size() + " slots",
          line.text(at, line.to())), badLines);
    }
  }
}
