package io.regatta.data.format;

import it.unimi.dsi.fastutil.longs.LongArrayFIFOQueue;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;

/**
 * Bytes that pass on to whoever cuts them into lines, by which the number of a line leads back to the place where it
 * begins. Lines end in {@code \n}, {@code \r\n} or {@code \r}, and have numbers from 1. Used by one thread.
 */
final class LineStarts extends FilterInputStream {

  /** Of the lines from {@link #first} on whose first byte has passed. */
  private final LongArrayFIFOQueue starts = new LongArrayFIFOQueue();
  private long first = 1;
  private long offset;
  /** The last byte was a return, and it is not known yet whether a newline belongs to it. */
  private boolean returned;
  /** The next byte begins a line. */
  private boolean begins = true;

  /** @param offset of the first byte */
  LineStarts(InputStream in, long offset) {
    super(in);
    this.offset = offset;
  }

  /** Where what has passed ends. */
  long offset() {
    return offset;
  }

  /** Lines that have begun. */
  long lines() {
    return first - 1 + starts.size();
  }

  /** Where this line begins, whose first byte has passed. Those before it are forgotten. */
  long startOf(long line) {
    for (; first < line; first++) {
      starts.dequeueLong();
    }
    return starts.firstLong();
  }

  private void passed(byte b) {
    if (returned && b != '\n') {
      begins = true;
    }
    returned = b == '\r';
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
      if (begins || returned || into[i] == '\n' || into[i] == '\r') {
        passed(into[i]);
      } else { // nearly all
        offset++;
      }
    }
    return read;
  }

  @Override
  public int read() throws IOException {
    int read = super.read();
    if (read >= 0) {
      passed((byte) read);
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
    return false; // what is read again would be counted again
  }
}
