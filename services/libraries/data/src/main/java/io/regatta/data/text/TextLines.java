package io.regatta.data.text;

import io.regatta.data.Line;
import io.regatta.data.LineCursor;
import io.regatta.data.file.FileQueue;

/** A reader of the lines of text files as numbers of a dictionary's words. Used by one thread at a time. */
final class TextLines implements AutoCloseable {

  private final LineCursor cursor;
  private final Dictionary dictionary;

  TextLines(FileQueue files, Dictionary dictionary) {
    cursor = new LineCursor(files, null, null);
    this.dictionary = dictionary;
  }

  /** Returns the next line, {@link Dictionary#BEGIN} and {@link Dictionary#END} included, or null at the end. */
  int[] next() {
    Line line = cursor.next();
    return line == null ? null : dictionary.numbers(line);
  }

  /** Returns the bytes read by its cursor. */
  long bytesBehind() {
    return cursor.bytesBehind();
  }

  void cancel() {
    cursor.cancel();
  }

  @Override
  public void close() {
    cursor.close();
  }
}
