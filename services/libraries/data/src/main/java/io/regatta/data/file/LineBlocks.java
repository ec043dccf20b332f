package io.regatta.data.file;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.io.IOException;

/**
 * Cuts bytes into lines, which end in {@code \n} or {@code \r\n}; a last one without an end counts. A line is a part of the
 * block that was read: nothing is copied but the beginning of one that a block ends in, and blocks are not written to again.
 * Used by one thread at a time.
 */
public final class LineBlocks {

  /** A longer line is taken for a file that is not text. */
  private static final int LINE_BYTES_MAX = 1 << 20;
  private static final int BLOCK_BYTES = 1 << 18;

  /** Where the bytes come from. */
  public interface Bytes {
    /** As {@link java.io.InputStream#read(byte[], int, int)}. */
    int read(byte[] into, int offset, int length) throws IOException;
  }

  private final String name;
  private final Bytes in;
  private byte[] block = new byte[0];
  private int from;
  private int end;
  private int next;
  private int limit;
  /** Bytes before the block. */
  private long blockOffset;
  private boolean atEnd;

  /**
   * @param name of the file, for messages
   * @param offset where in the file the bytes begin
   */
  public LineBlocks(String name, Bytes in, long offset) {
    this.name = name;
    this.in = in;
    blockOffset = offset;
  }

  /**
   * Goes to the next line, which may be empty; false at the end.
   *
   * @throws InvalidInput if it is longer than a mebibyte
   */
  public boolean next() throws IOException {
    int scanned = next;
    while (true) {
      end = Ascii.find((byte) '\n', block, scanned, limit);
      if (end < limit) {
        return found(end + 1);
      }
      scanned = limit - next;
      if (atEnd) {
        return next < limit && found(limit);
      }
      fill();
    }
  }

  private boolean found(int behind) {
    from = next;
    next = behind;
    return true;
  }

  /** Begins a new block with what is left of the one before, for lines that were taken keep theirs; reads behind it. */
  private void fill() throws IOException {
    int left = limit - next;
    if (left >= LINE_BYTES_MAX) {
      throw new InvalidInput(name + " has a line of more than " + LINE_BYTES_MAX + " bytes from byte " + offset()
          + " on: name a file of text lines");
    }
    byte[] more = new byte[Math.max(BLOCK_BYTES, 2 * left)];
    System.arraycopy(block, next, more, 0, left);
    blockOffset += next;
    block = more;
    next = 0;
    limit = left;
    while (limit < block.length && !atEnd) { // a command's output comes in small pieces
      int read = in.read(block, limit, block.length - limit);
      atEnd = read < 0;
      limit += Math.max(0, read);
    }
  }

  /** Goes to a byte, also of what can only be read from its beginning; to the end if there are fewer. */
  public void skipTo(long offset) throws IOException {
    while (blockOffset + limit < offset && !atEnd) {
      next = limit;
      fill();
    }
    next = (int) Math.min(limit, offset - blockOffset);
  }

  /** What holds the line. */
  public byte[] block() {
    return block;
  }

  /** Where in the block the line begins. */
  public int from() {
    return from;
  }

  /** Where in the block the line ends, before its line end. */
  public int to() {
    return end > from && block[end - 1] == '\r' ? end - 1 : end;
  }

  /** Where in the file what follows the line begins. */
  public long offset() {
    return blockOffset + next;
  }
}
