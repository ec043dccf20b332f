package io.regatta.data;

/**
 * A data set that can be read from the beginning any number of times. Reading has two stages: finding the next record
 * (cheap, in file order, one thread at a time) and parsing it (any number of threads).
 *
 * @param <R> a record not yet parsed, such as a line or a row number; immutable
 */
public interface SlotSource<R> {

  /** Returns the name for threads and messages, such as a file name. */
  String name();

  Layout layout();

  /** Returns the number of records, or -1 if finding it would mean reading much. */
  long size();

  /** Starts reading at the first record. One thread at a time uses the cursor. */
  Cursor<R> open();

  /**
   * Starts reading at the position of an earlier cursor of this source. A source whose cursors know more than their
   * number of records seeks directly.
   *
   * @param place its file, offset and records count
   */
  default Cursor<R> open(DataCursor place) {
    return passOver(open(), place.records());
  }

  /** Skips the given number of records and returns the cursor; closes it if that fails. */
  static <R> Cursor<R> passOver(Cursor<R> cursor, long records) {
    moveOrClose(cursor, () -> {
      for (long passed = 0; passed < records && cursor.next() != null; passed++) {
        // skips a record that was read before
      }
    });
    return cursor;
  }

  /** Moves a cursor that has no owner yet, and closes it if that fails. */
  static void moveOrClose(Cursor<?> cursor, Runnable move) {
    try {
      move.run();
    } catch (RuntimeException | Error e) {
      try {
        cursor.close();
      } catch (RuntimeException closing) {
        e.addSuppressed(closing);
      }
      throw e;
    }
  }

  /**
   * Parses a record into row {@code row} of {@code into}. Several threads may call it at a time. It sets every position
   * of the row, whatever the row held before.
   *
   * @return false if the record is bad and the policy is to skip it: the row is then undefined
   * @throws io.regatta.core.error.RegattaException.InvalidInput if it is bad and the policy is to fail
   */
  boolean parse(R record, SlotBatch into, int row);

  /** A reader's position in a source. */
  interface Cursor<R> extends AutoCloseable {

    /** Returns the next record, or null at the end. */
    R next();

    /**
     * Returns the position of the next record: file, offset and records count; null if only the records can be counted.
     */
    default DataCursor place() {
      return null;
    }

    /**
     * Returns the bytes already read of the files that this cursor has opened, as stored on disk. Those before the
     * position where it began in the first one are included. Returns 0 if they are not counted. For progress, not
     * exact. Any thread.
     */
    default long bytesBehind() {
      return 0;
    }

    /**
     * Cancels a {@link #next} that waits for another process (a command): it soon ends with an exception. Any thread.
     */
    default void cancel() {}

    @Override
    void close();
  }
}
