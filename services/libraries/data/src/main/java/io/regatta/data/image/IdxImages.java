package io.regatta.data.image;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.data.IndexedSource;
import io.regatta.data.Layout;
import io.regatta.data.SlotBatch;
import io.regatta.data.file.DataFiles;
import io.regatta.data.file.FileBytes;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.file.Path;

/**
 * Grey images and their labels in the idx files of MNIST, compressed ({@code .gz}) or not, held in memory as bytes. The
 * features of an example are its pixels row by row, each {@code value / 127.5 - 1} as in PaddlePaddle's reader; the
 * label is its class. Immutable; any thread may use it.
 */
public final class IdxImages extends IndexedSource {

  private static final int IMAGES_MAGIC = 0x0803;
  private static final int LABELS_MAGIC = 0x0801;
  /** Most bytes of pixels in a file, so that a damaged one cannot claim all memory. */
  private static final long PIXELS_MAX = 1L << 30;

  private final String name;
  private final int rows;
  private final int columns;
  private final byte[] pixels;
  private final byte[] labels;

  private IdxImages(String name, int rows, int columns, byte[] pixels, byte[] labels) {
    this.name = name;
    this.rows = rows;
    this.columns = columns;
    this.pixels = pixels;
    this.labels = labels;
  }

  /**
   * Reads a file of images and the file of their labels.
   *
   * @param classes number of classes; labels are smaller
   * @throws InvalidInput naming the file and what is wrong with it
   */
  public static IdxImages read(Path images, Path labels, int classes) {
    byte[] its = labels(labels, classes);
    try (DataInputStream in = open(images)) {
      magic(images, in, IMAGES_MAGIC, "images");
      int count = in.readInt();
      int rows = in.readInt();
      int columns = in.readInt();
      long bytes = (long) count * rows * columns;
      if (count < 0 || rows < 1 || columns < 1 || bytes > PIXELS_MAX) {
        throw new InvalidInput(images + " claims " + count + " images of " + rows + " x " + columns + " pixels; it is damaged");
      }
      if (count != its.length) {
        throw new InvalidInput(images + " has " + count + " images, but " + labels + " has " + its.length
            + " labels; give two files of the same data set");
      }
      byte[] pixels = new byte[(int) bytes];
      in.readFully(pixels);
      return new IdxImages(images.getFileName().toString(), rows, columns, pixels, its);
    } catch (EOFException e) {
      throw new InvalidInput(images + " ends before its last image; download it again", e);
    } catch (IOException e) {
      throw DataFiles.unreadable(images, e);
    }
  }

  private static byte[] labels(Path file, int classes) {
    try (DataInputStream in = open(file)) {
      magic(file, in, LABELS_MAGIC, "labels");
      int count = in.readInt();
      if (count < 0 || count > PIXELS_MAX) {
        throw new InvalidInput(file + " claims " + count + " labels; it is damaged");
      }
      byte[] labels = new byte[count];
      in.readFully(labels);
      for (int i = 0; i < count; i++) {
        if ((labels[i] & 0xff) >= classes) {
          throw new InvalidInput(file + ": label " + i + " is " + (labels[i] & 0xff) + ", the network has " + classes
              + " classes, from 0");
        }
      }
      return labels;
    } catch (EOFException e) {
      throw new InvalidInput(file + " ends before its last label; download it again", e);
    } catch (IOException e) {
      throw DataFiles.unreadable(file, e);
    }
  }

  private static DataInputStream open(Path file) throws IOException {
    return new DataInputStream(FileBytes.unpacked(DataFiles.readable(file)));
  }

  private static void magic(Path file, DataInputStream in, int wanted, String what) throws IOException {
    int magic = in.readInt();
    if (magic != wanted) {
      throw new InvalidInput(String.format("%s begins with %08x; an idx file of %s begins with %08x", file, magic, what,
          wanted));
    }
  }

  /** Returns the height of an image in pixels. */
  public int rows() {
    return rows;
  }

  public int columns() {
    return columns;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Layout layout() {
    return new Layout(rows * columns, 0);
  }

  @Override
  public long size() {
    return labels.length;
  }

  @Override
  public boolean parse(Example example, SlotBatch into, int row) {
    int n = rows * columns;
    int from = example.index() * n;
    int to = row * n;
    float[] out = into.dense();
    for (int i = 0; i < n; i++) {
      out[to + i] = (pixels[from + i] & 0xff) / 127.5f - 1;
    }
    into.labels()[row] = labels[example.index()] & 0xff;
    return true;
  }
}
