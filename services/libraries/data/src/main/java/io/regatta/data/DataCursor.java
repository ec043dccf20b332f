package io.regatta.data;

/**
 * A place in a data set, between two batches, from which reading can go on: small enough for a snapshot, and plain values
 * only, so that any format can carry it. With ordered reading and the same files and options, what is read from here on is
 * what an unbroken run would have read. Immutable.
 *
 * @param pass number of the pass over the data, from 0
 * @param file index of the file in which the shuffle buffer (without one: the next record) begins; -1 where the source is
 *     not made of files
 * @param name of that file, to notice another list of files; empty without one
 * @param offset bytes of the file before that place, after decompression and {@code pipe_command}; 0 where it is not known
 * @param records lines of the file before that place (of Parquet: rows; without files: records)
 * @param buffer number of the shuffle buffer in its pass, from 0
 * @param taken records of the buffer that are behind this place, over all workers
 * @param batches of the beginning of a pass: batches that each worker has read from there on, of data that are its own, or all
 *     that it had before the workers met again; 0 in a place that says itself what has been read
 */
public record DataCursor(int pass, int file, String name, long offset, long records, long buffer, long taken, long batches) {

  /** A place that says itself what has been read. */
  public DataCursor(int pass, int file, String name, long offset, long records, long buffer, long taken) {
    this(pass, file, name, offset, records, buffer, taken, 0);
  }

  /** The beginning of a pass. */
  public static DataCursor startOf(int pass) {
    return new DataCursor(pass, -1, "", 0, 0, 0, 0);
  }

  /** So many batches of each worker behind the beginning of a pass. */
  public static DataCursor behind(long batches, int pass) {
    return new DataCursor(pass, -1, "", 0, 0, 0, 0, batches);
  }

  /** Whether it is the beginning of a pass. */
  public boolean beginsPass() {
    return equals(startOf(pass));
  }

  /** The same file and offset of a source, as part of another pass, buffer and count. */
  DataCursor in(int ofPass, long inBuffer, long takenThere) {
    return new DataCursor(ofPass, file, name, offset, records, inBuffer, takenThere);
  }
}
