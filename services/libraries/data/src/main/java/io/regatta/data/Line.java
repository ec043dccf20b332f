package io.regatta.data;

import java.nio.charset.StandardCharsets;

/**
 * A line of text not yet parsed: a range of a block of bytes that it shares with its neighbours and that does not
 * change any more. Immutable; any thread may use it.
 *
 * @param file name of its file in messages
 * @param number from 1
 * @param bytes the block
 * @param from the line's first byte in the block
 * @param to index after its last byte, without the line end
 */
public record Line(String file, long number, byte[] bytes, int from, int to) {

  /** Returns the line as UTF-8. */
  public String text() {
    return text(from, to);
  }

  /** Returns a range of the block as UTF-8. */
  public String text(int first, int end) {
    return new String(bytes, first, end - first, StandardCharsets.UTF_8);
  }
}
