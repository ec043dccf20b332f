package io.regatta.data.feature;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.sketch.ValueCounts.Counted;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The text of a vocabulary: a value, a tab and its count per line; {@code \t \n \r \\} in values. Stateless. */
final class VocabularyText {

  private static final String PLAIN = "\t\n\r\\";
  private static final String ESCAPED = "tnr\\";

  private VocabularyText() {}

  static byte[] write(List<Counted> values) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (Counted value : values) {
      for (byte b : value.text()) {
        int escape = PLAIN.indexOf(b);
        if (escape >= 0) {
          out.write('\\');
        }
        out.write(escape >= 0 ? ESCAPED.charAt(escape) : b);
      }
      out.writeBytes(("\t" + value.count() + "\n").getBytes(StandardCharsets.US_ASCII));
    }
    return out.toByteArray();
  }

  /** @param file its name in messages */
  static List<Counted> read(Path file, byte[] text) {
    List<Counted> values = new ArrayList<>();
    for (int from = 0; from < text.length; ) {
      int to = from;
      while (to < text.length && text[to] != '\n') {
        to++;
      }
      values.add(value(file, values.size() + 1, text, from, to));
      from = to + 1;
    }
    return values;
  }

  private static Counted value(Path file, int line, byte[] text, int from, int to) {
    ByteArrayOutputStream value = new ByteArrayOutputStream();
    int i = from;
    for (; i < to && text[i] != '\t'; i++) {
      int escape = text[i] == '\\' && i + 1 < to ? ESCAPED.indexOf(text[i + 1]) : -1;
      value.write(escape >= 0 ? PLAIN.charAt(escape) : text[i]);
      i += escape >= 0 ? 1 : 0;
    }
    try {
      return new Counted(value.toByteArray(), Long.parseLong(
          new String(text, Math.min(i + 1, to), Math.max(0, to - i - 1), StandardCharsets.US_ASCII).strip()));
    } catch (NumberFormatException e) {
      throw new InvalidInput(file + ", line " + line + ": expected a value, a tab and its count; correct the line, or compute "
          + "the file again with ./regatta analyze", e);
    }
  }
}
