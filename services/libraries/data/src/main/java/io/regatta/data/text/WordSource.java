package io.regatta.data.text;

import io.regatta.data.DataCursor;
import io.regatta.data.FileSource;
import io.regatta.data.SlotSource;
import io.regatta.data.file.DataFiles;
import io.regatta.data.file.FileQueue;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;

/**
 * A source of text whose lines, as numbers of a dictionary's words, become any number of records each. Files whose
 * names end in {@code .gz} are decompressed. Immutable except for random state of a subclass; any thread may use it.
 *
 * @param <R> a record
 */
abstract class WordSource<R> implements FileSource<R> {

  final Dictionary dictionary;
  private final List<Path> files;

  WordSource(List<Path> files, Dictionary dictionary) {
    this.files = List.copyOf(files);
    this.dictionary = dictionary;
    this.files.forEach(DataFiles::readable);
  }

  /** A maker of the records of a pass, line after line. Used by one thread. */
  interface Lines<R> {
    /** Adds the records of a line, {@link Dictionary#BEGIN} and {@link Dictionary#END} included. */
    void records(int[] line, ArrayDeque<R> out);
  }

  /** Returns the maker of a pass's records. */
  abstract Lines<R> lines(int pass);

  @Override
  public List<Path> files() {
    return files;
  }

  @Override
  public Cursor<R> open(FileQueue queue, DataCursor place) {
    return new Words(new TextLines(queue, dictionary), lines(place.pass()));
  }

  /**
   * Opens a cursor at a record count, over all files: a line has many records, and random choices depend on those
   * before.
   */
  @Override
  public Cursor<R> open(DataCursor place) {
    return SlotSource.passOver(open(new FileQueue(files, 0), place), place.records());
  }

  private final class Words implements Cursor<R> {

    private final TextLines text;
    private final Lines<R> lines;
    private final ArrayDeque<R> ready = new ArrayDeque<>();

    Words(TextLines text, Lines<R> lines) {
      this.text = text;
      this.lines = lines;
    }

    @Override
    public R next() {
      while (ready.isEmpty()) {
        int[] line = text.next();
        if (line == null) {
          return null;
        }
        lines.records(line, ready);
      }
      return ready.poll();
    }

    @Override
    public long bytesBehind() {
      return text.bytesBehind();
    }

    @Override
    public void cancel() {
      text.cancel();
    }

    @Override
    public void close() {
      text.close();
    }
  }
}
