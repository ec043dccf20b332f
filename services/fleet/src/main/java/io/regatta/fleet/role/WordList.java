package io.regatta.fleet.role;

import java.util.List;

/** Several words in a sentence. Stateless. */
public final class WordList {

  private WordList() {}

  /** Returns {@code a}, {@code a and b} or {@code a, b and c}. */
  public static String and(List<String> words) {
    return joined(words, " and ");
  }

  /** Returns {@code a}, {@code a or b} or {@code a, b or c}. */
  static String or(List<String> words) {
    return joined(words, " or ");
  }

  private static String joined(List<String> words, String last) {
    int before = words.size() - 1;
    return before < 1 ? String.join("", words) : String.join(", ", words.subList(0, before)) + last + words.get(before);
  }
}
