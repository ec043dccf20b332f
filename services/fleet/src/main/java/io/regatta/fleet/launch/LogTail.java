package io.regatta.fleet.launch;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

/** The end of a log. Stateless. */
final class LogTail {

  private static final int BYTES = 16 * 1024;

  private LogTail() {}

  /** Returns the last lines, within some kilobytes; one line with the reason if the log cannot be read. */
  static List<String> of(Path log, int lines) {
    try (RandomAccessFile file = new RandomAccessFile(log.toFile(), "r")) {
      long from = Math.max(0, file.length() - BYTES);
      byte[] end = new byte[(int) (file.length() - from)];
      file.seek(from);
      file.readFully(end);
      List<String> all = new String(end, StandardCharsets.UTF_8).lines().toList();
      return all.subList(Math.max(0, all.size() - lines), all.size());
    } catch (IOException e) {
      return List.of("(" + log + " cannot be read: " + e.getMessage() + ")");
    }
  }
}
