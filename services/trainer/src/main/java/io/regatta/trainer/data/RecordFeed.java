package io.regatta.trainer.data;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;

/**
 * The records of one worker's batches of one epoch: shuffles the source's records by buffer, cuts them into windows,
 * and takes this worker's part of each ({@link LoaderOptions#shard(int, int)}). One thread at a time.
 */
final class RecordFeed<R> implements AutoCloseable {

  private final SlotSource.Cursor<R> cursor;
  private final LoaderOptions options;
  private final Random random;
  private final List<R> shuffled = new ArrayList<>();
  private int nextShuffled;

  RecordFeed(SlotSource<R> source, LoaderOptions options, int epoch) {
    this.cursor = source.open();
    this.options = options;
    this.random = new Random(options.seed() * 0x9E3779B97F4A7C15L + epoch);
  }

  /** Records of this worker's next batch, or null at the end. */
  List<R> next() {
    List<R> window = new ArrayList<>();
    while (window.size() < options.window()) {
      R record = options.shuffleBuffer() > 0 ? nextShuffled() : cursor.next();
      if (record == null) {
        break;
      }
      window.add(record);
    }
    boolean full = window.size() == options.window();
    if (window.isEmpty() || (!full && options.dropLast())) {
      return null;
    }
    int from = (int) options.partStart(window.size());
    int to = (int) options.partEnd(window.size());
    return from == to ? null : new ArrayList<>(window.subList(from, to));
  }

  private R nextShuffled() {
    if (nextShuffled == shuffled.size()) {
      shuffled.clear();
      nextShuffled = 0;
      R record = cursor.next();
      while (record != null) {
        shuffled.add(record);
        record = shuffled.size() < options.shuffleBuffer() ? cursor.next() : null;
      }
      Collections.shuffle(shuffled, random);
    }
    return nextShuffled < shuffled.size() ? shuffled.get(nextShuffled++) : null;
  }

  @Override
  public void close() {
    cursor.close();
  }
}
