package io.regatta.fleet.command.table;

import com.fasterxml.jackson.core.io.JsonStringEncoder;
import java.util.Locale;
import java.util.regex.Pattern;

/** Texts in a YAML file. Stateless. */
final class Yaml {

  private static final Pattern PLAIN = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*([ .-][A-Za-z0-9_]+)*");
  /** Words that YAML takes for something else than text. */
  private static final Pattern RESERVED = Pattern.compile("(?i)y|n|yes|no|true|false|on|off|null|nan");
  private static final int LINE_MAX = 40;

  private Yaml() {}

  /** Returns a text as a scalar, in quotes if it needs them. */
  static String scalar(String text) {
    return PLAIN.matcher(text).matches() && !RESERVED.matcher(text).matches() ? text
        : '"' + new String(JsonStringEncoder.getInstance().quoteAsString(text)) + '"';
  }

  /** Returns a text for a comment: one line, cut to a readable length. */
  static String line(String text) {
    String plain = text.replaceAll("\\p{Cntrl}", " ");
    return plain.length() <= LINE_MAX ? plain : plain.substring(0, LINE_MAX) + "...";
  }

  /** Returns a number for a comment. */
  static String number(double value) {
    return value == Math.rint(value) && Math.abs(value) < 1e15 ? Long.toString((long) value) : String.format(Locale.ROOT, "%.4g", value);
  }
}
