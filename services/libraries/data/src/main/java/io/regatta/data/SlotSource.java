package io.regatta.data;

/**
 * A data set that can be read from the beginning any number of times, split into finding the next record (cheap, in
 * file order, one thread at a time) and parsing it (any number of threads).
 *
 * @param <R> a record not yet parsed, such as a line or a row number; immutable
 */
public interface SlotSource<R> {

  /** Name for threads and messages, such as a file name. */
  String name();

  Layout layout();

  /** Number of records, or -1 if finding out would mean reading much. */
  long size();

  /** Starts reading at the first record; used by one thread at a time. */
  Cursor<R> open();

  /**
   * Starts reading at a place that a cursor of this source was at. A source whose cursors know more than their number of
   * records goes there directly.
   *
   * @param place its file, offset and records count
   */
  default Cursor<R> open(DataCursor place) {
    return passOver(open(), place.records());
  }

  /** The cursor behind so many more of its records; it is closed if that fails. */
  static <R> Cursor<R> passOver(Cursor<R> cursor, long records) {
    moveOrClose(cursor, () -> {
      for (long passed = 0; passed < records && cursor.next() != null; passed++) {
        // What was read before.
      }
    });
    return cursor;
  }

  /** Moves a cursor that nobody has yet: if that fails nobody gets it, and so nobody else closes it. */
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
   * Parses a record into row {@code row} of {@code into}; called by several threads at a time. Every place of the row is
   * set, whatever it held before.
   *
   * @return false if the record is bad and the policy is to skip it: the row is then undefined
   * @throws io.regatta.core.error.RegattaException.InvalidInput if it is bad and the policy is to fail
   */
  boolean parse(R record, SlotBatch into, int row);

  /** A position in a source. */
  interface Cursor<R> extends AutoCloseable {

    /** The next record, or null at the end. */
    R next();

    /** Where the next record begins: file, offset and records count; null if only the records can be counted. */
    default DataCursor place() {
      return null;
    }

    /**
     * Bytes that are behind in the files that this cursor has opened, as they lie on disk, what was before the beginning in
     * the first one as well; 0 where nobody counts. For progress, not exact. Any thread.
     */
    default long bytesBehind() {
      return 0;
    }

    /** From any thread: makes a {@link #next} that waits for somebody else (a command) end soon, with an exception. */
    default void cancel() {}

    @Override
    void close();
  }
}
