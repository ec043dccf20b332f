package io.regatta.data;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.file.DataFiles;
import io.regatta.data.file.FileQueue;
import java.nio.file.Path;
import java.util.List;

/**
 * A source made of files, which several cursors can read side by side.
 *
 * @param <R> a record not yet parsed
 */
public interface FileSource<R> extends SlotSource<R> {

  /** The files in order. */
  List<Path> files();

  /**
   * Reads the files that {@code queue} still has, perhaps together with other cursors.
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
      throw new InvalidInput(name() + ": reading is to go on in file " + place.file() + ", " + place.name()
          + ", but that number is now " + there + "; give the same files in the same order as before");
    }
    return open(new FileQueue(files(), place.file()), place);
  }
}
