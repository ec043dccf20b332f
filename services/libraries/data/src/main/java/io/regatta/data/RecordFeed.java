package io.regatta.data;

import io.regatta.core.data.Spans;
import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Random;

/**
 * A feed of the records of one worker's batches of one pass. It shuffles the source's records by buffer, cuts them into
 * windows, and takes this worker's share of each ({@link LoaderOptions#shard(int, int)}). Which records are in a batch
 * is a function of the source, the options and the pass alone, wherever reading began. One thread uses it at a time.
 */
final class RecordFeed<R> implements AutoCloseable {

  /** The records of a batch, and the cursor after the window that they are part of. */
  record Cut<R>(List<R> records, DataCursor after) {}

  private final SlotSource.Cursor<R> cursor;
  private final LoaderOptions options;
  private final DataCursor from;
  private final List<R> shuffled = new ArrayList<>();
  /** Position in the source at which the buffer {@code shuffled} begins; null before the first one. */
  private DataCursor bufferStart;
  private long buffers;
  private int nextShuffled;
  private long records;
  /** The assigned batches, as positions in the order of the pass; null: windows are cut instead. */
  private final Iterator<Spans> dealt;
  /** Records of the last window, if it was too small. */
  private volatile int leftOut;
  /** Position of the next record in the order of the pass. */
  private long position;

  /** @param cursor just opened at {@code from}, and closed with this feed */
  RecordFeed(SlotSource.Cursor<R> cursor, LoaderOptions options, DataCursor from) {
    this(cursor, options, from, null);
  }

  /**
   * @param dealt the batches to cut, in ascending positions of the pass, which begins with {@code cursor}; null:
   *     windows
   */
  RecordFeed(SlotSource.Cursor<R> cursor, LoaderOptions options, DataCursor from, Iterator<Spans> dealt) {
    this.dealt = dealt;
    this.cursor = cursor;
    this.options = options;
    this.from = from;
    this.records = from.file() < 0 ? from.records() : 0;
    this.buffers = from.buffer();
  }

  /** Returns this worker's next batch, or null at the end. */
  Cut<R> next() {
    if (dealt != null) {
      return dealt.hasNext() ? new Cut<>(at(dealt.next()), null) : null;
    }
    List<R> window = new ArrayList<>();
    while (window.size() < options.window()) {
      R record = nextRecord();
      if (record == null) {
        break;
      }
      window.add(record);
    }
    if (window.size() < options.leastWindow()) {
      leftOut = window.size();
      return null;
    }
    int begin = (int) options.partStart(window.size());
    int end = (int) options.partEnd(window.size());
    return begin == end ? null : new Cut<>(new ArrayList<>(window.subList(begin, end)), place());
  }

  private R nextRecord() {
    return options.shuffleBuffer() > 0 ? nextShuffled() : nextOfSource();
  }

  /** Returns the records at these positions; those before them are skipped. */
  private List<R> at(Spans positions) {
    List<R> at = new ArrayList<>();
    for (int run = 0; run < positions.runs(); run++) {
      for (; position < positions.to(run); position++) {
        R record = nextRecord();
        if (record == null) {
          throw new InvalidInput("the data end at record " + position + ", before the last one that was counted; the files "
              + "have changed while they were read: start the job again");
        }
        if (position >= positions.from(run)) {
          at.add(record);
        }
      }
    }
    return at;
  }

  private DataCursor place() {
    return options.shuffleBuffer() > 0 ? bufferStart.in(from.pass(), buffers - 1, nextShuffled) : sourcePlace().in(from.pass(), 0, 0);
  }

  private DataCursor sourcePlace() {
    DataCursor place = cursor.place();
    return place != null ? place : new DataCursor(from.pass(), -1, "", 0, records, 0, 0);
  }

  private R nextOfSource() {
    R record = cursor.next();
    records += record == null ? 0 : 1;
    return record;
  }

  private R nextShuffled() {
    if (bufferStart == null) {
      fillBuffer();
      nextShuffled = (int) Math.min(from.taken(), shuffled.size());
    }
    if (nextShuffled == shuffled.size()) {
      fillBuffer();
    }
    return nextShuffled < shuffled.size() ? shuffled.get(nextShuffled++) : null;
  }

  /** Fills the next buffer, shuffled by a generator of its own, so that a feed can begin with any of them. */
  private void fillBuffer() {
    bufferStart = sourcePlace();
    shuffled.clear();
    nextShuffled = 0;
    R record = nextOfSource();
    while (record != null) {
      shuffled.add(record);
      record = shuffled.size() < options.shuffleBuffer() ? nextOfSource() : null;
    }
    Collections.shuffle(shuffled,
        new Random(options.seed() * 0x9E3779B97F4A7C15L + from.pass() + buffers * 0xD1B54A32D192ED03L));
    buffers++;
  }

  /**
   * Returns the records at the end of the pass that no worker gets because they are too few; 0 before the end. Any
   * thread.
   */
  int leftOut() {
    return leftOut;
  }

  /** Returns {@link SlotSource.Cursor#bytesBehind} of the source. */
  long bytesBehind() {
    return cursor.bytesBehind();
  }

  /** Cancels a wait of the cursor; see {@link SlotSource.Cursor#cancel}. Any thread. */
  void cancel() {
    cursor.cancel();
  }

  @Override
  public void close() {
    cursor.close();
  }
}
