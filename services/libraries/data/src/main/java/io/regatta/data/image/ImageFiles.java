package io.regatta.data.image;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.hash.Mix64;
import io.regatta.data.BadLines;
import io.regatta.data.IndexedSource;
import io.regatta.data.Layout;
import io.regatta.data.SlotBatch;
import io.regatta.data.file.DataFiles;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.SplittableRandom;

/**
 * A source of image files as examples of {@code 3 × side × side} floats. The reader threads decode and transform them
 * anew in every pass. Random choices for an image are a function of (seed, pass, number). Any thread may use it.
 */
public final class ImageFiles extends IndexedSource {

  private final String name;
  private final List<ImageFolders.Image> images;
  private final ImageTransform transform;
  private final long seed;
  private final BadLines bad;

  /**
   * Creates a source.
   *
   * @param name for threads and messages
   * @param augment true for training: random crops, mirrored half of the time; else the center crop of each image
   * @param bad policy for files that are no images
   */
  public ImageFiles(String name, List<ImageFolders.Image> images, int side, boolean augment, long seed, BadLines bad) {
    this.name = name;
    this.images = List.copyOf(images);
    transform = new ImageTransform(side, augment);
    this.seed = seed;
    this.bad = bad;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Layout layout() {
    return new Layout(transform.size(), 0);
  }

  @Override
  public long size() {
    return images.size();
  }

  @Override
  public boolean parse(Example example, SlotBatch into, int row) {
    ImageFolders.Image image = images.get(example.index());
    BufferedImage decoded;
    try {
      decoded = EncodedImage.decode(Files.readAllBytes(image.file()), Long.MAX_VALUE);
    } catch (IOException e) {
      return bad.reportFile(DataFiles.name(image.file()), "cannot be read as an image: " + e);
    } catch (InvalidInput e) {
      return bad.reportFile(DataFiles.name(image.file()), e.getMessage());
    }
    SplittableRandom random = new SplittableRandom(
        Mix64.mix(seed + Mix64.GOLDEN * ((long) example.pass() << 32 | example.index())));
    transform.apply(decoded, random, into.dense(), row * transform.size());
    into.labels()[row] = image.label();
    return true;
  }
}
