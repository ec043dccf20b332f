package io.regatta.data.text;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.Layout;
import io.regatta.data.SlotBatch;
import io.regatta.data.file.DataFiles;
import io.regatta.data.file.FileQueue;
import java.nio.file.Path;
import java.util.List;

/**
 * A source of the windows of {@code n} words from which a language model learns. The ids of an example are the numbers
 * of the first n − 1 words, its label is the number of the last, as in PaddlePaddle's word2vec. Lines stand between
 * {@code <s>} and {@code <e>}; a line with fewer than n words, these two included, has no window. Immutable; any thread
 * may use it.
 */
public final class NgramSource extends WordSource<NgramSource.Gram> {

  /** Files up to this many bytes in total are counted first, so that progress can be shown. */
  private static final long COUNTED_BYTES_MAX = 1L << 26;

  private final int n;
  private final long size;

  /** The {@code n} word numbers up to and including the one at {@code end}. */
  record Gram(int[] line, int end) {}

  /**
   * Creates a source.
   *
   * @param files read in this order; must exist
   * @param n words of a window, at least 2
   */
  public NgramSource(List<Path> files, Dictionary dictionary, int n) {
    super(files, dictionary);
    if (n < 2) {
      throw new InvalidInput("a window of " + n + " words: it needs at least 2, one to predict from the other");
    }
    this.n = n;
    long bytes = files.stream().mapToLong(DataFiles::size).sum();
    size = bytes <= COUNTED_BYTES_MAX ? count() : -1;
  }

  private long count() {
    long windows = 0;
    try (TextLines lines = new TextLines(new FileQueue(files(), 0), dictionary)) {
      for (int[] line = lines.next(); line != null; line = lines.next()) {
        windows += Math.max(0, line.length - n + 1);
      }
    }
    return windows;
  }

  @Override
  public String name() {
    return n + "-grams";
  }

  @Override
  public Layout layout() {
    return new Layout(0, n - 1);
  }

  @Override
  public long size() {
    return size;
  }

  @Override
  Lines<Gram> lines(int pass) {
    return (line, out) -> {
      for (int end = n - 1; end < line.length; end++) {
        out.add(new Gram(line, end));
      }
    };
  }

  @Override
  public boolean parse(Gram gram, SlotBatch into, int row) {
    for (int k = 0; k < n - 1; k++) {
      into.ids()[row * (n - 1) + k] = gram.line[gram.end - n + 1 + k];
    }
    into.labels()[row] = gram.line[gram.end];
    return true;
  }
}
