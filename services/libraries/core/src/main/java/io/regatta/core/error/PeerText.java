package io.regatta.core.error;

import io.regatta.core.error.RegattaException.InvalidInput;

/**
 * Text from outside as log lines and messages show it. Outside are the wire, files, URLs, headers and the names of a
 * directory's entries. The text has a bounded length, and each invisible character is escaped, so that it can neither
 * forge a line of a log nor change a terminal. Letters of all languages stay. Stateless, any thread.
 */
public final class PeerText {

  /** Longest text unless the caller says otherwise, in characters. */
  public static final int MAX_CHARS = 200;
  /** Longest message, in characters: one of ours may name all members or files. */
  public static final int MAX_MESSAGE_CHARS = 16_384;

  /** Characters of a refused name that a message shows. */
  private static final int SHOWN_CHARS = 40;

  private PeerText() {}

  /** Returns the text escaped, and cut after {@value #MAX_CHARS} characters. */
  public static String of(Object value) {
    return of(value, MAX_CHARS);
  }

  /** Returns a whole message escaped, and cut after {@value #MAX_MESSAGE_CHARS} characters. */
  public static String message(String message) {
    return of(message, MAX_MESSAGE_CHARS);
  }

  /**
   * Returns the text escaped and cut.
   *
   * @param most characters of the text that are shown; behind them stands how many it has
   */
  public static String of(Object value, int most) {
    String whole = String.valueOf(value);
    int end = Math.min(whole.length(), most);
    StringBuilder text = null; // most texts need no change
    for (int i = 0; i < end; ) {
      int c = whole.codePointAt(i);
      int next = Math.min(end, i + Character.charCount(c));
      if (isVisible(c) && next - i == Character.charCount(c)) { // else the cut divides it
        if (text != null) {
          text.append(whole, i, next);
        }
      } else {
        text = text != null ? text : new StringBuilder(whole.length() + 16).append(whole, 0, i);
        for (int k = i; k < next; k++) {
          text.append(String.format("\\u%04x", (int) whole.charAt(k)));
        }
      }
      i = next;
    }
    String shown = text != null ? text.toString() : whole.substring(0, end);
    return whole.length() <= most ? shown : shown + "... (" + whole.length() + " characters)";
  }

  /**
   * Returns a name that a peer gives to a thing and that messages, metrics and pages show.
   *
   * @param what e.g. {@code group}
   * @param most characters that it may have
   * @param limit what sets that, for the message, e.g. {@code rendezvous.limits.names}; empty: nothing
   * @throws InvalidInput if it is empty or longer, or has an invisible character
   */
  public static String requireName(String what, String name, int most, String limit) {
    if (name.isEmpty() || name.length() > most) {
      throw new InvalidInput("the name of a " + what + " has " + name.length() + " characters: give at least 1 and "
          + "at most " + most + (limit.isEmpty() ? "" : " (" + limit + ")")
          + (name.isEmpty() ? "" : "; it begins with '" + of(name, SHOWN_CHARS) + "'"));
    }
    return requireVisible(what, name);
  }

  /**
   * Returns a name, or an empty one.
   *
   * @throws InvalidInput if it has an invisible character
   */
  public static String requireVisible(String what, String name) {
    for (int i = 0; i < name.length(); ) { // of a model, thousands are looked at in one turn
      int c = name.codePointAt(i);
      i += Character.charCount(c);
      if (isVisible(c)) {
        continue;
      }
      throw new InvalidInput("the name '" + of(name, SHOWN_CHARS) + "' of a " + what + " has a character that cannot "
          + "be seen (shown as \\uXXXX): leave it out");
    }
    return name;
  }

  private static boolean isVisible(int codePoint) {
    if (codePoint < 0x7f) {
      return codePoint >= ' ';
    }
    return switch (Character.getType(codePoint)) {
      case Character.CONTROL, Character.FORMAT, Character.LINE_SEPARATOR, Character.PARAGRAPH_SEPARATOR,
          Character.SURROGATE, Character.PRIVATE_USE, Character.UNASSIGNED -> false;
      default -> true;
    };
  }
}
