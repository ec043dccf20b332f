package io.regatta.data.prepare;

import io.regatta.data.file.LineBlocks;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.StandardOpenOption;

/** A reader of the lines of a {@link Piece}, in order; the last one may extend beyond it. Used by one thread. */
final class PieceReader implements AutoCloseable {

  private final Piece piece;
  private final SeekableByteChannel channel;
  private final LineBlocks lines;

  PieceReader(Piece piece) throws IOException {
    this.piece = piece;
    channel = Files.newByteChannel(piece.file(), StandardOpenOption.READ);
    try {
      long begin = Math.max(0, piece.from() - 1);
      channel.position(begin);
      lines = new LineBlocks(piece.name(),
          (into, offset, length) -> channel.read(ByteBuffer.wrap(into, offset, length)), begin);
      if (piece.from() > 0) { // the line with the byte before belongs to the piece with its beginning
        lines.next();
      }
    } catch (IOException | RuntimeException e) {
      channel.close();
      throw e;
    }
  }

  /** Moves to the next line, which {@link #lines} then has; returns false at the end. */
  boolean next() throws IOException {
    return lines.offset() < piece.to() && lines.next();
  }

  LineBlocks lines() {
    return lines;
  }

  @Override
  public void close() throws IOException {
    channel.close();
  }
}
