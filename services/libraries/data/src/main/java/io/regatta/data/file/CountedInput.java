package io.regatta.data.file;

import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.channels.Channels;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;

/** The bytes of a file as they lie on disk, counted. One thread reads; any may ask how far it is. */
public final class CountedInput extends FilterInputStream {

  /** Of the file, before what is read next. */
  private volatile long offset;

  private CountedInput(InputStream in, long offset) {
    super(in);
    this.offset = offset;
  }

  /** Begins at an offset, without reading what is before it; at the end if the file is shorter. */
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

  /** Bytes of the file that are behind, those before the beginning as well. */
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
    return false; // what is read again would be counted again
  }
}
