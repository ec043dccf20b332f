package io.regatta.data;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.file.DataFiles;
import io.regatta.data.file.FileQueue;
import java.nio.file.Path;
import java.util.List;

/**
 * A source made of files, which several cursors can read in parallel.
 *
 * @param <R> a record not yet parsed
 */
public interface FileSource<R> extends SlotSource<R> {

  /** Returns the files in order. */
  List<Path> files();

  /**
   * Returns a cursor over the files that are left in {@code queue}, which it may share with other cursors.
   *
   * @param place its pass, and where to begin in the queue's first file; {@link DataCursor#startOf}: at its beginning
   */
  Cursor<R> open(FileQueue queue, DataCursor place);

  @Override
  default Cursor<R> open() {
    return open(DataCursor.startOf(0));
  }

  @Override
  default Cursor<R> open(DataCursor place) {
    if (place.file() < 0) {
      return open(new FileQueue(files(), 0), place);
    }
    String there = place.file() < files().size() ? DataFiles.name(files().get(place.file())) : "none";
    if (!there.equals(place.name())) {
      throw new InvalidInput(name() + ": reading resumes in file number " + place.file() + ", " + place.name()
          + ", but that number is now " + there + "; give the same files in the same order as before");
    }
    return open(new FileQueue(files(), place.file()), place);
  }
}
