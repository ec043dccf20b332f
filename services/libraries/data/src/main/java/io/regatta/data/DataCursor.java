package io.regatta.data;

/**
 * A position in a data set, between two batches, from which reading can resume. It is small enough for a snapshot, and
 * holds plain values only, so that any format can carry it. With ordered reading and the same files and options,
 * reading from here yields what an uninterrupted run would have read. Immutable.
 *
 * @param pass number of the pass over the data, from 0
 * @param file index of the file in which the shuffle buffer (without one: the next record) begins; -1 if the source is
 *     not made of files
 * @param name of that file, to detect a changed list of files; empty without one
 * @param offset bytes of the file before that position, after decompression and {@code pipe_command}; 0 if unknown
 * @param records lines of the file before that position (Parquet: rows; without files: records)
 * @param buffer number of the shuffle buffer in its pass, from 0
 * @param taken records of the buffer before this position, over all workers
 * @param batches at the beginning of a pass only: batches that each worker has read since then, from data of its own,
 *     or all that it had read before the workers resumed together; 0 if the other fields say what was read
 */
public record DataCursor(int pass, int file, String name, long offset, long records, long buffer, long taken, long batches) {

  /** Creates a position whose fields say by themselves what was read. */
  public DataCursor(int pass, int file, String name, long offset, long records, long buffer, long taken) {
    this(pass, file, name, offset, records, buffer, taken, 0);
  }

  /** Returns the beginning of a pass. */
  public static DataCursor startOf(int pass) {
    return new DataCursor(pass, -1, "", 0, 0, 0, 0);
  }

  /** Returns the position after the given number of batches of each worker since the beginning of a pass. */
  public static DataCursor behind(long batches, int pass) {
    return new DataCursor(pass, -1, "", 0, 0, 0, 0, batches);
  }

  /** Returns true if this is the beginning of a pass. */
  public boolean beginsPass() {
    return equals(startOf(pass));
  }

  /** Returns the same file and offset with another pass, buffer and count. */
  DataCursor in(int ofPass, long inBuffer, long takenThere) {
    return new DataCursor(ofPass, file, name, offset, records, inBuffer, takenThere);
  }
}
