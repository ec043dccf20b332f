package io.regatta.data;

import io.regatta.core.feature.InputRow;
import io.regatta.data.file.FileQueue;
import java.util.List;

/**
 * A format of files of rows with named columns. Immutable; any thread.
 *
 * @param <R> a row not yet parsed; immutable
 */
public interface RowFormat<R> {

  /**
   * The position of a row.
   *
   * @param file its name in messages
   * @param fileNumber its number among the files that are read, from 0
   * @param line of the file in which the row begins, from 1
   */
  record Place(String file, int fileNumber, long line) {}

  /** Returns the name for threads and messages. */
  String name();

  /** Returns the columns of an {@link InputRow}, in order. */
  List<String> columns();

  /**
   * Returns a cursor over the rows of the files that are left in {@code queue}.
   *
   * @param place its pass, and where to begin in the queue's first file; {@link DataCursor#startOf}: at its beginning
   */
  SlotSource.Cursor<R> open(FileQueue queue, DataCursor place);

  /**
   * Reads a row into {@code into}, and sets all its values.
   *
   * @return false if the row is bad and skipped
   * @throws io.regatta.core.error.RegattaException.InvalidInput if it is bad and the policy is to fail
   */
  boolean read(R row, InputRow into, BadLines badLines);

  /** Returns the position of a row, without parsing it. */
  Place place(R row);
}
