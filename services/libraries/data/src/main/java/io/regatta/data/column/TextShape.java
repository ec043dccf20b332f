package io.regatta.data.column;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/**
 * The shape of a column's texts. Immutable.
 *
 * @param words mean number of words
 * @param separator character that stands between several values of many texts; empty: there is none
 * @param partsMax most values between such separators
 * @param example the first text; empty: there is none
 * @param ascending true if each text is as long as the first one and not before the one before it, as sorted times are
 */
public record TextShape(double words, String separator, int partsMax, String example, boolean ascending) {

  /** Characters that separate values. */
  private static final String SEPARATORS = "|;,";
  /** Share of the texts that hold a separator, from which on they are taken for several values. */
  private static final double SEVERAL = 0.2;
  /** Most words of a value between separators; more are sentences, in which commas are frequent. */
  private static final double WORDS_OF_A_VALUE = 2.5;
  private static final double WORDS_BETWEEN_COMMAS = 1.5;

  /** A builder; one thread. */
  public static final class Builder {

    private long texts;
    private long words;
    private final long[] with = new long[SEPARATORS.length()];
    private final long[] parts = new long[SEPARATORS.length()];
    private final int[] most = new int[SEPARATORS.length()];
    private String first = "";
    private byte[] last = new byte[0];
    private boolean ascending = true;

    /** Adds a text in UTF-8. */
    public void add(byte[] utf8) {
      String text = new String(utf8, StandardCharsets.UTF_8);
      first = texts == 0 ? text : first;
      ascending &= texts == 0 || utf8.length == last.length && Arrays.compareUnsigned(last, utf8) <= 0;
      last = utf8;
      texts++;
      boolean within = false;
      for (int i = 0; i < text.length(); i++) {
        boolean blank = Character.isWhitespace(text.charAt(i));
        words += !blank && !within ? 1 : 0;
        within = !blank;
      }
      for (int s = 0; s < with.length; s++) {
        int count = 1;
        for (int at = text.indexOf(SEPARATORS.charAt(s)); at >= 0; at = text.indexOf(SEPARATORS.charAt(s), at + 1)) {
          count++;
        }
        with[s] += count > 1 ? 1 : 0;
        parts[s] += count;
        most[s] = Math.max(most[s], count);
      }
    }

    /** Returns the shape of all texts so far. */
    public TextShape build() {
      for (int s = 0; s < with.length; s++) {
        if (texts > 0 && with[s] >= SEVERAL * texts && words <= (SEPARATORS.charAt(s) == ',' ? WORDS_BETWEEN_COMMAS : WORDS_OF_A_VALUE) * parts[s]) {
          return new TextShape((double) words / texts, SEPARATORS.substring(s, s + 1), most[s], first, ascending);
        }
      }
      return new TextShape(texts == 0 ? 0 : (double) words / texts, "", 1, first, ascending);
    }
  }
}
