package io.regatta.data.feature;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import io.regatta.core.feature.InputRow;
import io.regatta.data.BadLines;
import io.regatta.data.DataCursor;
import io.regatta.data.Line;
import io.regatta.data.LineCursor;
import io.regatta.data.RowFormat;
import io.regatta.data.SlotSource;
import io.regatta.data.file.FileQueue;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The rows of files of JSON objects, one per line. Numbers without fraction are whole numbers. {@code true} and {@code
 * false} are text. Null and an absent key are missing. An array of single values is a list of texts, without its nulls.
 * A line without any of the needed columns is bad. Immutable; any thread.
 */
public final class JsonRows implements RowFormat<JsonRows.Row> {

  private static final JsonFactory JSON = new JsonFactory();
  private static final String OBJECT = "a JSON object";
  private static final int SHOWN_MAX = 5;

  private final List<String> columns;
  private final Map<String, Integer> numbers = new HashMap<>();
  private final int needed;

  /** A line and the number of its file among those that are read, from 0. */
  public record Row(Line line, int fileNumber) {}

  /**
   * Creates the format.
   *
   * @param needed columns to read, in order
   * @param optional further columns to read
   */
  public JsonRows(Set<String> needed, Set<String> optional) {
    Set<String> all = new LinkedHashSet<>(needed);
    all.addAll(optional);
    columns = List.copyOf(all);
    columns.forEach(column -> numbers.put(column, numbers.size()));
    this.needed = needed.size();
  }

  @Override
  public String name() {
    return "json";
  }

  @Override
  public List<String> columns() {
    return columns;
  }

  @Override
  public SlotSource.Cursor<Row> open(FileQueue queue, DataCursor place) {
    return new Cursor(new LineCursor(queue, null, place));
  }

  @Override
  public Place place(Row row) {
    return new Place(row.line().file(), row.fileNumber(), row.line().number());
  }

  @Override
  public boolean read(Row row, InputRow into, BadLines badLines) {
    Line line = row.line();
    into.clear();
    String[] column = {"line"};
    try (JsonParser parser = JSON.createParser(line.bytes(), line.from(), line.to() - line.from())) {
      if (parser.nextToken() != JsonToken.START_OBJECT) {
        return badLines.report(line, "column 1", BadLines.expected(OBJECT, line.text()));
      }
      int found = 0;
      while (parser.nextToken() == JsonToken.FIELD_NAME) {
        Integer number = numbers.get(parser.currentName());
        column[0] = "column " + parser.currentName();
        JsonToken token = parser.nextToken();
        if (number == null) {
          parser.skipChildren();
          continue;
        }
        found += number < needed ? 1 : 0;
        if (!value(parser, token, into, number)) {
          return badLines.report(line, column[0], "expected a single value or an array of such, found "
              + (token == JsonToken.START_ARRAY ? "an array that holds arrays or objects" : "an object"));
        }
      }
      column[0] = "the end";
      if (parser.nextToken() != null) {
        return badLines.report(line, column[0], "expected one object in a line, found a second value");
      }
      if (found == 0 && needed > 0) {
        return badLines.report(line, "the object", "it has none of the columns "
            + (needed <= SHOWN_MAX ? String.join(", ", columns.subList(0, needed))
            : String.join(", ", columns.subList(0, SHOWN_MAX)) + ", ..."));
      }
      return true;
    } catch (JsonProcessingException e) {
      return badLines.report(line, column[0], BadLines.expected(OBJECT, line.text()) + " ("
          + e.getOriginalMessage().replaceFirst(" \\(start marker.*", "") + ")"); // without the library's own position
    } catch (IOException e) { // bytes in memory
      throw new UncheckedIOException(e);
    }
  }

  /** Returns false if the value is an object, or a list that holds more than single values. */
  private static boolean value(JsonParser parser, JsonToken token, InputRow into, int column) throws IOException {
    switch (token) {
      case VALUE_NULL -> into.number(column, Double.NaN);
      case VALUE_NUMBER_INT -> {
        if (parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER) {
          text(parser.getText(), into, column);
        } else {
          into.whole(column, parser.getLongValue());
        }
      }
      case VALUE_NUMBER_FLOAT -> into.number(column, parser.getDoubleValue());
      case VALUE_STRING, VALUE_TRUE, VALUE_FALSE -> text(parser.getText(), into, column);
      case START_ARRAY -> {
        List<byte[]> texts = new ArrayList<>();
        for (JsonToken next = parser.nextToken(); next != JsonToken.END_ARRAY; next = parser.nextToken()) {
          if (next == null || next.isStructStart()) {
            return false;
          }
          if (next != JsonToken.VALUE_NULL) {
            texts.add(parser.getText().getBytes(StandardCharsets.UTF_8));
          }
        }
        into.texts(column, texts);
      }
      default -> {
        return false;
      }
    }
    return true;
  }

  private static void text(String text, InputRow into, int column) {
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    into.text(column, bytes, 0, bytes.length);
  }

  /** A cursor over lines that adds the number of their file. */
  private record Cursor(LineCursor lines) implements SlotSource.Cursor<Row> {

    @Override
    public Row next() {
      Line line = lines.next();
      return line == null ? null : new Row(line, lines.place().file());
    }

    @Override
    public DataCursor place() {
      return lines.place();
    }

    @Override
    public long bytesBehind() {
      return lines.bytesBehind();
    }

    @Override
    public void cancel() {
      lines.cancel();
    }

    @Override
    public void close() {
      lines.close();
    }
  }
}
