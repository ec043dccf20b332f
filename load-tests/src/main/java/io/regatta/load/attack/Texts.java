package io.regatta.load.attack;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Excerpts of what the attacker has received, for the report. Stateless. */
final class Texts {
  private static final int MOST = 100;
  private static final Pattern WORD = Pattern.compile("[A-Za-z0-9_.:{}\",/@-]{6,60}");
  private static final int MOST_WORDS = 8;

  private Texts() {}

  /** Returns the printable characters of the first bytes. */
  static String excerpt(byte[] bytes) {
    String text = new String(Arrays.copyOf(bytes, Math.min(bytes.length, MOST)), StandardCharsets.ISO_8859_1)
        .replaceAll("[^ -~]+", " ").replaceAll(" +", " ").strip();
    return bytes.length + " bytes: " + text;
  }

  /** Returns the first words in bytes that are not all text, one character for each byte. */
  static String words(String bytes) {
    String words = WORD.matcher(bytes).results().map(MatchResult::group).distinct().limit(MOST_WORDS)
        .collect(Collectors.joining(" "));
    return words.isEmpty() ? "bytes without words" : "words: " + words;
  }

  /** Returns an error in a few words, without addresses, so that the same one at several ports reads the same. */
  static String error(Throwable e) {
    Throwable cause = e;
    while (cause.getCause() != null) {
      cause = cause.getCause();
    }
    String text = (cause.getClass().getSimpleName() + " " + cause.getMessage())
        .replaceAll("/?\\d+\\.\\d+\\.\\d+\\.\\d+(:\\d+)?", "ADDRESS").replaceAll("\\s+", " ");
    return text.length() > MOST ? text.substring(0, MOST) : text;
  }
}
