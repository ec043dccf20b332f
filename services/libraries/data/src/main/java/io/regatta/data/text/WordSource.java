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
 * Text whose lines, as numbers of a dictionary's words, become any number of records each. Files whose names end in
 * {@code .gz} are unpacked. Immutable but for what a subclass draws; any thread.
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

  /** The records of one line after the other of one pass. Used by one thread. */
  interface Lines<R> {
    /** Adds the records of a line, {@link Dictionary#BEGIN} and {@link Dictionary#END} included. */
    void records(int[] line, ArrayDeque<R> out);
  }

  /** What makes the records of a pass. */
  abstract Lines<R> lines(int pass);

  @Override
  public List<Path> files() {
    return files;
  }

  @Override
  public Cursor<R> open(FileQueue queue, DataCursor place) {
    return new Words(new TextLines(queue, dictionary), lines(place.pass()));
  }

  /** Records are counted, whatever file they are of: a line has many, and what is drawn depends on those before. */
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
