package io.regatta.training.feature;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.IntStream;

/** Names that are written as a range: {@code I[1-13]} stands for I1 to I13, {@code C[01-26]} for C01 to C26. Stateless. */
final class NameRange {

  /** Most names of a range. */
  private static final int MOST = 10_000;
  private static final Pattern RANGE = Pattern.compile("([^\\[\\]]*)\\[(\\d{1,9})-(\\d{1,9})]([^\\[\\]]*)");

  private NameRange() {}

  /**
   * Returns the names that a text stands for: those of a range, or the text itself.
   *
   * @param where key of the text, for messages
   * @throws InvalidInput if the range falls or has more than 10,000 names
   */
  static List<String> names(String where, String text) {
    Matcher range = RANGE.matcher(text);
    if (!range.matches()) {
      return List.of(text);
    }
    int first = Integer.parseInt(range.group(2));
    int last = Integer.parseInt(range.group(3));
    if (first > last || last - first >= MOST) {
      throw new InvalidInput(where + ": " + text + " must rise, and stand for " + MOST + " names at most; write it as I[1-13]");
    }
    int digits = range.group(2).startsWith("0") ? range.group(2).length() : 1;
    return IntStream.rangeClosed(first, last)
        .mapToObj(number -> range.group(1) + "0".repeat(Math.max(0, digits - Integer.toString(number).length())) + number + range.group(4))
        .toList();
  }

  /** Returns the names that texts stand for, in their order. */
  static List<String> names(String where, List<String> texts) {
    return texts.stream().flatMap(text -> names(where, text).stream()).toList();
  }
}
