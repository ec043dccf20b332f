package io.regatta.data;

import java.util.regex.Pattern;

/**
 * A guess at the format of a line that does not match the expected one, for messages. Stateless; any thread may use it.
 */
public final class LikelyFormat {

  private static final int CRITEO_TABS = 39;
  private static final char PACKED = 0x1F;
  private static final Pattern BLANKS = Pattern.compile("[ \\t]+");
  private static final Pattern PAIR = Pattern.compile("[^:]+:[^:]*");
  private static final Pattern NUMBER = Pattern.compile("[-+]?[0-9.]+([eE][-+]?[0-9]+)?");
  private static final Pattern COUNT = Pattern.compile("[1-9][0-9]{0,5}");

  private LikelyFormat() {}

  /**
   * Returns a name as {@code data.format} has it, or a description of such a line in words; empty if there is no guess.
   */
  public static String of(String line) {
    if (line.length() > 1 && line.charAt(0) == PACKED) {
      return "a compressed file, whose name must end in .gz";
    }
    if (line.startsWith("PAR1")) {
      return "parquet";
    }
    if (line.chars().filter(c -> c == '\t').count() == CRITEO_TABS) {
      return "criteo";
    }
    String[] tokens = BLANKS.split(line.strip());
    if (tokens.length > 1 && arePairs(tokens, 1) && (PAIR.matcher(tokens[0]).matches() || NUMBER.matcher(tokens[0]).matches())) {
      return PAIR.matcher(tokens[0]).matches() ? "slots" : "libsvm";
    }
    if (isMultiSlot(tokens)) {
      return "multislot";
    }
    return line.indexOf(',') >= 0 ? "csv" : "";
  }

  private static boolean arePairs(String[] tokens, int from) {
    for (int i = from; i < tokens.length; i++) {
      if (!PAIR.matcher(tokens[i]).matches()) {
        return false;
      }
    }
    return true;
  }

  /** Returns true if the line has at least two slots, each a count and that many values, up to its end. */
  private static boolean isMultiSlot(String[] tokens) {
    int slots = 0;
    for (int at = 0; at < tokens.length; slots++) {
      if (!COUNT.matcher(tokens[at]).matches()) {
        return false;
      }
      int end = at + Integer.parseInt(tokens[at]);
      if (end >= tokens.length) {
        return false;
      }
      while (at++ < end) {
        if (!NUMBER.matcher(tokens[at]).matches()) {
          return false;
        }
      }
    }
    return slots > 1;
  }
}
