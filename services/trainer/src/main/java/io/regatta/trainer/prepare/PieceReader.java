package io.regatta.trainer.prepare;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;

/** Reads the lines of a {@link Piece}, in order; a last line of the file without an end counts. Used by one thread. */
final class PieceReader implements AutoCloseable {

  private static final int BUFFER_BYTES = 1 << 18;
  /** A longer line is taken for a file that is not text. */
  private static final int LINE_BYTES_MAX = 1 << 24;

  private final Piece piece;
  private final FileChannel channel;
  private byte[] buffer = new byte[BUFFER_BYTES];
  /** Where in the file the buffer begins. */
  private long base;
  private int position;
  private int limit;
  private int end;
  private boolean begun;

  PieceReader(Piece piece) throws IOException {
    this.piece = piece;
    channel = FileChannel.open(piece.file(), StandardOpenOption.READ);
    try {
      base = Math.max(0, piece.from() - 1);
      channel.position(base);
      if (piece.from() > 0) { // the line that holds the byte before belongs to whoever has its beginning
        findEnd();
        position = Math.min(end + 1, limit);
      }
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  /** Goes to the next line, which is then in {@link #buffer} from {@link #from} to {@link #to}; false at the end. */
  boolean next() throws IOException {
    if (begun) {
      position = Math.min(end + 1, limit);
    }
    begun = true;
    if (base + position >= piece.to()) {
      return false;
    }
    findEnd();
    return end > position || position < limit;
  }

  byte[] buffer() {
    return buffer;
  }

  /** Where in the buffer the line begins. */
  int from() {
    return position;
  }

  /** Where in the buffer the line ends, before its line end. */
  int to() {
    return end > position && buffer[end - 1] == '\r' ? end - 1 : end;
  }

  /** Offset in the file behind the line. */
  long offset() {
    return base + Math.min(end + 1, limit);
  }

  private void findEnd() throws IOException {
    int scanned = position;
    while (true) {
      for (int i = scanned; i < limit; i++) {
        if (buffer[i] == '\n') {
          end = i;
          return;
        }
      }
      scanned = limit - position;
      if (!fill()) {
        end = limit;
        return;
      }
    }
  }

  /** Moves what is left to the front and reads behind it; false at the end of the file. */
  private boolean fill() throws IOException {
    int left = limit - position;
    if (left >= LINE_BYTES_MAX) {
      throw new InvalidInput(piece.file() + " has a line of more than " + LINE_BYTES_MAX + " bytes at byte " + (base + position)
          + ". Is this a text file?");
    }
    if (left == buffer.length) {
      buffer = Arrays.copyOf(buffer, 2 * left);
    } else {
      System.arraycopy(buffer, position, buffer, 0, left);
    }
    base += position;
    position = 0;
    limit = left;
    int read = channel.read(ByteBuffer.wrap(buffer, left, buffer.length - left));
    limit += Math.max(0, read);
    return read > 0;
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
