package io.regatta.core.feature;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The values of a column, one after another, as text. One thread. */
abstract class Parts {

  byte[] bytes;
  int from;
  int to;

  /** Moves to the next value that is not empty; returns false after the last one. */
  abstract boolean next();

  /** Returns the parts of a column; null if its value is neither text nor a whole number. */
  static Parts of(InputRow row, int column, byte[] separator) {
    return switch (row.type(column)) {
      case MISSING -> new OfList(List.of());
      case WHOLE -> new OfList(List.of(IdNamespace.utf8(Long.toString(row.whole(column)))));
      case TEXTS -> new OfList(row.texts(column));
      case TEXT -> new OfText(row.bytes(column), row.from(column), row.to(column), separator);
      case NUMBER -> null;
    };
  }

  /** Returns the runs of 1 to {@code ngrams} words of a column: first all words, then all pairs, and so on. */
  static Parts words(InputRow row, int column, int ngrams) {
    Parts texts = of(row, column, new byte[0]);
    if (texts == null) {
      return null;
    }
    List<byte[]> runs = new ArrayList<>();
    while (texts.next()) {
      List<String> words = words(new String(texts.bytes, texts.from, texts.to - texts.from, StandardCharsets.UTF_8));
      for (int n = 1; n <= Math.min(ngrams, words.size()); n++) {
        for (int first = 0; first + n <= words.size(); first++) {
          runs.add(IdNamespace.utf8(String.join(" ", words.subList(first, first + n))));
        }
      }
    }
    return new OfList(runs);
  }

  private static List<String> words(String text) {
    String lower = text.toLowerCase(Locale.ROOT);
    List<String> words = new ArrayList<>();
    int start = -1;
    for (int i = 0; i <= lower.length(); ) {
      boolean letter = i < lower.length() && Character.isLetterOrDigit(lower.codePointAt(i));
      if (letter && start < 0) {
        start = i;
      } else if (!letter && start >= 0) {
        words.add(lower.substring(start, i));
        start = -1;
      }
      i += i < lower.length() ? Character.charCount(lower.codePointAt(i)) : 1;
    }
    return words;
  }

  /** Cuts blanks at both ends; returns false if nothing else is there. */
  final boolean set(byte[] text, int first, int end) {
    bytes = text;
    from = first;
    to = end;
    while (from < to && InputRow.isBlank(text[from])) {
      from++;
    }
    while (to > from && InputRow.isBlank(text[to - 1])) {
      to--;
    }
    return from < to;
  }

  /** Replaces a whole number by the same one without {@code +}, {@code -0} and leading zeros; false if it is none. */
  final boolean normalizeWhole() {
    boolean negative = bytes[from] == '-';
    int first = negative || bytes[from] == '+' ? from + 1 : from;
    if (first == to) {
      return false;
    }
    for (int i = first; i < to; i++) {
      if (bytes[i] < '0' || bytes[i] > '9') {
        return false;
      }
    }
    while (first < to - 1 && bytes[first] == '0') {
      first++;
    }
    if (negative && bytes[first] != '0') {
      byte[] signed = new byte[to - first + 1];
      signed[0] = '-';
      System.arraycopy(bytes, first, signed, 1, to - first);
      bytes = signed;
      from = 0;
      to = signed.length;
    } else {
      from = first;
    }
    return true;
  }

  private static final class OfList extends Parts {

    private final List<byte[]> values;
    private int at;

    OfList(List<byte[]> values) {
      this.values = values;
    }

    @Override
    boolean next() {
      while (at < values.size()) {
        byte[] value = values.get(at++);
        if (set(value, 0, value.length)) {
          return true;
        }
      }
      return false;
    }
  }

  private static final class OfText extends Parts {

    private final byte[] text;
    private final int end;
    private final byte[] separator;
    private int at;

    OfText(byte[] text, int from, int to, byte[] separator) {
      this.text = text;
      this.at = from;
      this.end = to;
      this.separator = separator;
    }

    @Override
    boolean next() {
      while (at <= end) {
        int first = at;
        int cut = separator.length == 0 ? -1 : find(text, first, end, separator);
        at = cut < 0 ? end + 1 : cut + separator.length;
        if (set(text, first, cut < 0 ? end : cut)) {
          return true;
        }
      }
      return false;
    }
  }

  /** Returns the index of the first separator, or -1. */
  static int find(byte[] text, int from, int to, byte[] separator) {
    for (int i = from; i + separator.length <= to; i++) {
      if (startsAt(text, i, separator)) {
        return i;
      }
    }
    return -1;
  }

  /** Returns the index of the last separator, or -1. */
  static int findLast(byte[] text, int from, int to, byte[] separator) {
    for (int i = to - separator.length; i >= from; i--) {
      if (startsAt(text, i, separator)) {
        return i;
      }
    }
    return -1;
  }

  private static boolean startsAt(byte[] text, int at, byte[] separator) {
    for (int i = 0; i < separator.length; i++) {
      if (text[at + i] != separator[i]) {
        return false;
      }
    }
    return true;
  }
}
