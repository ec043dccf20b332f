package io.regatta.data.image;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.BadLines;
import io.regatta.data.DataCursor;
import io.regatta.data.FileSource;
import io.regatta.data.Layout;
import io.regatta.data.SlotBatch;
import io.regatta.data.file.DataFiles;
import io.regatta.data.file.FileQueue;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;

/** A source of image files without labels: each file is an example. Any thread may use it. */
public final class ImagesToPredict implements FileSource<Path> {

  private static final List<String> SUFFIXES = List.of(".png", ".jpg", ".jpeg", ".gif", ".bmp");

  private final ImageInput input;
  private final Layout layout;
  private final List<Path> files;
  private final BadLines bad;

  /**
   * Creates a source.
   *
   * @param bad policy for files that are no images
   */
  public ImagesToPredict(ImageInput input, List<Path> files, BadLines bad) {
    this.input = input;
    this.files = files.stream().map(DataFiles::readable).toList();
    this.bad = bad;
    layout = new Layout(input.channels() * input.height() * input.width(), 0);
  }

  /** Returns true if the name of a file is that of an image. */
  public static boolean isImage(Path file) {
    String name = file.getFileName().toString().toLowerCase(Locale.ROOT);
    return SUFFIXES.stream().anyMatch(name::endsWith);
  }

  @Override
  public String name() {
    return "images";
  }

  @Override
  public Layout layout() {
    return layout;
  }

  @Override
  public long size() {
    return files.size();
  }

  @Override
  public List<Path> files() {
    return files;
  }

  @Override
  public Cursor<Path> open(FileQueue queue, DataCursor place) {
    return new Cursor<>() {
      @Override
      public Path next() {
        int number = queue.take();
        return number < 0 ? null : queue.file(number);
      }

      @Override
      public void close() {
        // holds no file open
      }
    };
  }

  @Override
  public boolean parse(Path file, SlotBatch into, int row) {
    try {
      input.write(EncodedImage.decode(Files.readAllBytes(file), Long.MAX_VALUE), into.dense(), row * layout.dense());
    } catch (IOException e) {
      throw DataFiles.unreadable(file, e);
    } catch (InvalidInput e) {
      return bad.reportFile(DataFiles.name(file), e.getMessage());
    }
    into.labels()[row] = Float.NaN;
    return true;
  }
}
