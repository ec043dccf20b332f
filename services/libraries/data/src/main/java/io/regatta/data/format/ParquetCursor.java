package io.regatta.data.format;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.DataCursor;
import io.regatta.data.SlotSource;
import io.regatta.data.file.DataFiles;
import io.regatta.data.file.FileQueue;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Map;
import java.util.Set;
import org.apache.parquet.io.ParquetDecodingException;

/** A cursor over the rows of one file after another. Used by one thread at a time. */
final class ParquetCursor implements SlotSource.Cursor<ParquetSource.Row> {

  private final FileQueue queue;
  private final Map<String, Integer> places;
  private final Set<String> optional;
  private final boolean asRows;
  private int number = -1;
  private Path file;
  /** The local file that is read: the file itself, or a copy of it, which is deleted afterwards. */
  private Path localFile;
  private ParquetRows reader;
  private long read;
  /** Bytes of the files before the open one, and of that one up to the row that is read. */
  private volatile long bytesBefore;
  private volatile long bytesHere;
  private long size;
  private long rowsHere;

  /**
   * Creates a cursor at the beginning of the queue's first file.
   *
   * @param places index of each column in a row, by name
   * @param optional columns that a file may lack
   * @param asRows as of {@link ParquetRows}
   */
  ParquetCursor(FileQueue queue, Map<String, Integer> places, Set<String> optional, boolean asRows) {
    this.queue = queue;
    this.places = places;
    this.optional = optional;
    this.asRows = asRows;
  }

  @Override
  public ParquetSource.Row next() {
    try {
      Object[] next = null;
      while (reader == null || (next = reader.next()) == null) {
        if (!openNext()) {
          return null;
        }
      }
      read++;
      bytesHere = rowsHere == 0 ? 0 : (long) ((double) size * read / rowsHere);
      return new ParquetSource.Row(DataFiles.name(file), number, read, next);
    } catch (UncheckedIOException e) {
      throw DataFiles.unreadable(file, e.getCause());
    } catch (IOException e) {
      throw DataFiles.unreadable(file, e);
    } catch (ParquetDecodingException e) {
      throw new InvalidInput(DataFiles.fullName(file) + ", row " + (read + 1) + ": " + reason(e), e);
    } catch (RuntimeException e) { // thrown by the library if this is not a Parquet file
      throw e instanceof InvalidInput known ? known : new InvalidInput(DataFiles.fullName(file) + " cannot be read: "
          + reason(e), e);
    }
  }

  /**
   * Returns the reason in a message of the library. Some messages are only a number, or missing, and some hold a
   * schema of many lines.
   */
  private static String reason(RuntimeException e) {
    String said = e.getMessage();
    return (said == null || said.matches("-?\\d*") ? e.toString() : said).strip().replaceAll("\\s+", " ");
  }

  private boolean openNext() throws IOException {
    close();
    int taken = queue.take();
    if (taken < 0) {
      return false;
    }
    number = taken;
    file = queue.file(taken);
    read = 0;
    localFile = onThisMachine(file);
    reader = new ParquetRows(localFile, DataFiles.fullName(file), places, this::constant, asRows);
    size = Files.size(localFile);
    rowsHere = reader.size();
    return true;
  }

  /** Returns the value of a column that the file does not have; null if it needs one. */
  private ParquetRows.Constant constant(String column) {
    ParquetRows.Constant named = Partitions.of(file).get(column);
    return named == null && optional.contains(column) ? new ParquetRows.Constant(null) : named;
  }

  private static Path onThisMachine(Path file) throws IOException {
    if (file.getFileSystem() == FileSystems.getDefault()) {
      return file;
    }
    Path copy = Files.createTempFile("regatta-", ".parquet");
    try (InputStream in = Files.newInputStream(file)) {
      Files.copy(in, copy, StandardCopyOption.REPLACE_EXISTING);
      return copy;
    } catch (IOException | RuntimeException e) {
      Files.delete(copy);
      throw e;
    }
  }

  @Override
  public DataCursor place() {
    return number < 0 ? null : new DataCursor(0, number, DataFiles.name(file), 0, read, 0, 0);
  }

  @Override
  public long bytesBehind() {
    return bytesBefore + bytesHere;
  }

  @Override
  public void close() {
    bytesBefore += bytesHere;
    bytesHere = 0;
    try (Closeable copy = this::deleteCopy) { // deleted even if closing the reader fails
      if (reader != null) {
        reader.close();
      }
    } catch (IOException e) {
      throw DataFiles.unreadable(file, e);
    } finally {
      reader = null;
      localFile = null;
    }
  }

  private void deleteCopy() throws IOException {
    if (localFile != null && localFile != file) {
      Files.deleteIfExists(localFile);
    }
  }
}
