package io.regatta.data.file;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.io.IOException;

/**
 * A splitter of bytes into lines, which end in {@code \n} or {@code \r\n}; a last one without an end counts. A line is
 * a range of the block that was read. Only the beginning of a line that crosses the end of a block is copied, and
 * blocks are never written to again. Used by one thread at a time.
 */
public final class LineBlocks {

  /** Longest line; a longer one means that the file is not text. */
  private static final int LINE_BYTES_MAX = 1 << 20;
  private static final int BLOCK_BYTES = 1 << 18;

  /** The source of the bytes. */
  public interface Bytes {
    /** Reads as {@link java.io.InputStream#read(byte[], int, int)}. */
    int read(byte[] into, int offset, int length) throws IOException;
  }

  private final String name;
  private final Bytes in;
  private byte[] block = new byte[0];
  private int from;
  private int end;
  private int next;
  private int limit;
  /** Offset of the block in the file. */
  private long blockOffset;
  private boolean atEnd;

  /**
   * Creates a splitter.
   *
   * @param name of the file, for messages
   * @param offset where in the file the bytes begin
   */
  public LineBlocks(String name, Bytes in, long offset) {
    this.name = name;
    this.in = in;
    blockOffset = offset;
  }

  /**
   * Moves to the next line, which may be empty; returns false at the end.
   *
   * @throws InvalidInput if it is longer than a mebibyte
   */
  public boolean next() throws IOException {
    return extend(next);
  }

  /**
   * Extends the line by the one after it, with the line end between them; returns false at the end.
   *
   * @throws InvalidInput if they are longer than a mebibyte
   */
  public boolean join() throws IOException {
    return extend(from);
  }

  /** Moves to the next line end; the line begins at {@code begin}. */
  private boolean extend(int begin) throws IOException {
    int first = begin;
    int scanned = next;
    while (true) {
      end = Ascii.find((byte) '\n', block, scanned, limit);
      if (end < limit || atEnd && next < limit) {
        from = first;
        next = Math.min(end + 1, limit);
        return true;
      }
      if (atEnd) {
        return false;
      }
      scanned = limit - first;
      fill(first);
      first = 0;
    }
  }

  /**
   * Begins a new block with the rest of the last one from {@code kept} on, and reads more after it. Lines that were taken
   * keep their block.
   */
  private void fill(int kept) throws IOException {
    int left = limit - kept;
    if (left >= LINE_BYTES_MAX) {
      throw new InvalidInput(name + " has a line of more than " + LINE_BYTES_MAX + " bytes from byte " + offset()
          + " on; give a file of text lines");
    }
    byte[] more = new byte[Math.max(BLOCK_BYTES, 2 * left)];
    System.arraycopy(block, kept, more, 0, left);
    blockOffset += kept;
    block = more;
    next -= kept;
    limit = left;
    while (limit < block.length && !atEnd) { // a command writes its output in small amounts
      int read = in.read(block, limit, block.length - limit);
      atEnd = read < 0;
      limit += Math.max(0, read);
    }
  }

  /** Moves to a byte offset, reading up to it if the input cannot seek; to the end if there are fewer bytes. */
  public void skipTo(long offset) throws IOException {
    while (blockOffset + limit < offset && !atEnd) {
      next = limit;
      fill(limit);
    }
    next = (int) Math.min(limit, offset - blockOffset);
  }

  /** Returns the block that holds the line. */
  public byte[] block() {
    return block;
  }

  /** Returns the index in the block at which the line begins. */
  public int from() {
    return from;
  }

  /** Returns the index in the block after the line, without its line end. */
  public int to() {
    return end > from && block[end - 1] == '\r' ? end - 1 : end;
  }

  /** Returns the offset in the file after the line. */
  public long offset() {
    return blockOffset + next;
  }
}
