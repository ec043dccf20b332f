package io.regatta.trainer.prepare;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.trainer.data.DataFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * The lines of a text file whose first bytes are in {@code [from, to)}. Immutable, any thread.
 *
 * @param from offset in bytes
 * @param to offset in bytes
 */
public record Piece(Path file, long from, long to) {

  /**
   * Cuts files, one behind the other, into parts of about as many bytes; a part may be empty if there are few lines.
   *
   * @return for each part its pieces, in order
   */
  static List<List<Piece>> parts(List<Path> files, int parts) throws IOException {
    long[] ends = new long[files.size()];
    long total = 0;
    for (int i = 0; i < ends.length; i++) {
      if (files.get(i).getFileName().toString().endsWith(".gz")) {
        throw new InvalidInput(files.get(i) + " is compressed and cannot be cut side by side; uncompress it first: gunzip -k "
            + files.get(i));
      }
      total += Files.size(DataFiles.readable(files.get(i)));
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
          pieces.add(new Piece(files.get(i), begin - start, end - start));
        }
      }
      all.add(pieces);
    }
    return all;
  }

  private static long share(long total, int part, int parts) {
    return total / parts * part + total % parts * part / parts;
  }
}
