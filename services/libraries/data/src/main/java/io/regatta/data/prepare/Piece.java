package io.regatta.data.prepare;

import io.regatta.data.file.Ascii;
import io.regatta.data.file.DataFiles;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * A range of a text file: the lines whose first bytes are in {@code [from, to)}. Immutable; any thread may use it.
 *
 * @param from offset in bytes
 * @param to offset in bytes
 * @param name name of the file in messages
 */
record Piece(Path file, long from, long to, String name) {

  private static final int BLOCK_BYTES = 1 << 18;

  /**
   * Cuts files, concatenated, into parts of about equal bytes; a part may be empty if there are few lines.
   *
   * @return for each part its pieces, in order
   */
  static List<List<Piece>> parts(List<PlainInput> files, int parts) throws IOException {
    long[] ends = new long[files.size()];
    long total = 0;
    for (int i = 0; i < ends.length; i++) {
      total += Files.size(DataFiles.readable(files.get(i).plain()));
      ends[i] = total;
    }
    List<List<Piece>> all = new ArrayList<>(parts);
    for (int part = 0; part < parts; part++) {
      long from = share(total, part, parts);
      long to = share(total, part + 1, parts);
      List<Piece> pieces = new ArrayList<>();
      for (int i = 0; i < ends.length; i++) {
        long start = i == 0 ? 0 : ends[i - 1];
        long begin = Math.max(from, start);
        long end = Math.min(to, ends[i]);
        if (begin < end) {
          pieces.add(new Piece(files.get(i).plain(), begin - start, end - start, DataFiles.name(files.get(i).given())));
        }
      }
      all.add(pieces);
    }
    return all;
  }

  /**
   * Returns the number of lines of the file before the first of this piece. Reads all bytes before it, a few gigabytes
   * per second; for messages.
   *
   * @param cancel called now and then with 0 bytes; may throw to cancel
   */
  long linesBefore(Preparation.ReadBytes cancel) throws IOException {
    if (from == 0) {
      return 0;
    }
    long lines = 1; // the line with the byte before the piece, which ends in this or another piece
    byte[] block = new byte[BLOCK_BYTES];
    try (InputStream in = Files.newInputStream(file)) {
      int n;
      for (long left = from - 1; left > 0 && (n = in.read(block, 0, (int) Math.min(block.length, left))) >= 0; left -= n) {
        for (int at = Ascii.find((byte) '\n', block, 0, n); at < n; at = Ascii.find((byte) '\n', block, at + 1, n)) {
          lines++;
        }
        cancel.done(0);
      }
    }
    return lines;
  }

  private static long share(long total, int part, int parts) {
    return total / parts * part + total % parts * part / parts;
  }
}
