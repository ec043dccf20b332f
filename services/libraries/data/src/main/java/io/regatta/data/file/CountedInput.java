package io.regatta.data.file;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * An input stream that counts the bytes of a file as stored on disk. One thread reads; any thread may ask for the
 * count.
 */
public final class CountedInput extends FilterInputStream {

  /** Offset in the file of the byte that is read next. */
  private volatile long offset;

  private CountedInput(InputStream in, long offset) {
    super(in);
    this.offset = offset;
  }

  /** Opens a file at an offset, without reading what is before it; at the end if the file is shorter. */
  public static CountedInput open(Path file, long offset) throws IOException {
    if (offset == 0) {
      return new CountedInput(Files.newInputStream(file), 0);
    }
    SeekableByteChannel channel = Files.newByteChannel(file);
    try {
      return new CountedInput(Channels.newInputStream(channel.position(offset)), offset);
    } catch (IOException | RuntimeException | Error e) {
      channel.close();
      throw e;
    }
  }

  /** Returns the offset of the next byte in the file. */
  public long offset() {
    return offset;
  }

  private int counted(int read) {
    offset += Math.max(0, read);
    return read;
  }

  @Override
  public int read() throws IOException {
    int read = super.read();
    counted(read < 0 ? read : 1);
    return read;
  }

  @Override
  public int read(byte[] into, int from, int length) throws IOException {
    return counted(super.read(into, from, length));
  }

  @Override
  public long skip(long n) throws IOException {
    long skipped = super.skip(n);
    offset += skipped;
    return skipped;
  }

  @Override
  public boolean markSupported() {
    return false; // bytes read again would be counted twice
  }
}
