package io.regatta.data.format;

import it.unimi.dsi.fastutil.longs.LongArrayFIFOQueue;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * A stream that records where lines begin, so that the number of a line leads to its offset. Lines end in {@code \n},
 * {@code \r\n} or {@code \r}, and have numbers from 1. Used by one thread.
 */
final class LineStarts extends FilterInputStream {

  /** Offsets of the lines from {@link #first} on whose first byte has been read. */
  private final LongArrayFIFOQueue starts = new LongArrayFIFOQueue();
  private long first = 1;
  private long offset;
  /** True if the last byte was a return; it is not known yet whether a newline belongs to it. */
  private boolean afterReturn;
  /** True if the next byte begins a line. */
  private boolean begins = true;

  /** @param offset of the first byte */
  LineStarts(InputStream in, long offset) {
    super(in);
    this.offset = offset;
  }

  /** Returns the offset after the bytes read so far. */
  long offset() {
    return offset;
  }

  /** Returns the number of lines that have begun. */
  long lines() {
    return first - 1 + starts.size();
  }

  /** Returns the offset of a line whose first byte has been read. Drops the offsets of the lines before it. */
  long startOf(long line) {
    for (; first < line; first++) {
      starts.dequeueLong();
    }
    return starts.firstLong();
  }

  private void record(byte b) {
    if (afterReturn && b != '\n') {
      begins = true;
    }
    afterReturn = b == '\r';
    if (begins) {
      starts.enqueue(offset);
    }
    begins = b == '\n';
    offset++;
  }

  @Override
  public int read(byte[] into, int from, int length) throws IOException {
    int read = super.read(into, from, length);
    for (int i = from; i < from + read; i++) {
      if (begins || afterReturn || into[i] == '\n' || into[i] == '\r') {
        record(into[i]);
      } else { // nearly all bytes
        offset++;
      }
    }
    return read;
  }

  @Override
  public int read() throws IOException {
    int read = super.read();
    if (read >= 0) {
      record((byte) read);
    }
    return read;
  }

  @Override
  public long skip(long n) throws IOException {
    long skipped = 0;
    while (skipped < n && read() >= 0) {
      skipped++;
    }
    return skipped;
  }

  @Override
  public boolean markSupported() {
    return false; // bytes read again would be counted twice
  }
}
