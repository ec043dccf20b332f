package io.regatta.data;

import java.nio.charset.StandardCharsets;

/**
 * A line of text not yet parsed: a part of a block of bytes that it shares with its neighbours and that is not changed any
 * more. Immutable, any thread.
 *
 * @param file where it is from, as messages call it
 * @param number from 1
 * @param bytes the block
 * @param from the line's first byte in the block
 * @param to one behind its last, without the line end
 */
public record Line(String file, long number, byte[] bytes, int from, int to) {

  /** The line as UTF-8. */
  public String text() {
    return text(from, to);
  }

  /** A part of the block as UTF-8. */
  public String text(int first, int end) {
    return new String(bytes, first, end - first, StandardCharsets.UTF_8);
  }
}
