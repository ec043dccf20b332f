package io.regatta.data.feature;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import io.regatta.core.feature.InputRow;
import io.regatta.data.BadLines;
import io.regatta.data.DataCursor;
import io.regatta.data.Line;
import io.regatta.data.RowFormat;
import io.regatta.data.SlotSource;
import io.regatta.data.file.FileQueue;
import io.regatta.data.file.PipeCommand;
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
public final class JsonRows implements RowFormat<NumberedLine> {

  private static final JsonFactory JSON = new JsonFactory();
  private static final String OBJECT = "a JSON object";
  private static final int SHOWN_MAX = 5;

  private final List<String> columns;
  private final Map<String, Integer> numbers = new HashMap<>();
  private final int needed;
  private final PipeCommand command;

  /**
   * Creates the format.
   *
   * @param needed columns to read, in order
   * @param optional further columns to read
   * @param command that files go through; null: none
   */
  public JsonRows(Set<String> needed, Set<String> optional, PipeCommand command) {
    Set<String> all = new LinkedHashSet<>(needed);
    all.addAll(optional);
    columns = List.copyOf(all);
    columns.forEach(column -> numbers.put(column, numbers.size()));
    this.needed = needed.size();
    this.command = command;
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
  public SlotSource.Cursor<NumberedLine> open(FileQueue queue, DataCursor place) {
    return NumberedLine.cursor(queue, command, place);
  }

  @Override
  public Place place(NumberedLine row) {
    return row.place();
  }

  @Override
  public boolean read(NumberedLine row, InputRow into, BadLines badLines) {
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
}
