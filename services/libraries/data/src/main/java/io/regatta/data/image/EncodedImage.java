package io.regatta.data.image;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Iterator;
import java.util.List;
import java.util.Locale;
import javax.imageio.ImageIO;
import javax.imageio.ImageReader;
import javax.imageio.stream.ImageInputStream;
import javax.imageio.stream.MemoryCacheImageInputStream;

/** The decoding of images in memory. Stateless. */
public final class EncodedImage {

  private static final List<String> FORMATS = List.of("jpeg", "png", "gif", "bmp");

  private EncodedImage() {}

  /** Returns the reader of one of the formats; null if the image is of another one. */
  private static ImageReader reader(ImageInputStream in) throws IOException {
    for (Iterator<ImageReader> readers = ImageIO.getImageReaders(in); readers.hasNext(); ) {
      ImageReader reader = readers.next();
      if (FORMATS.contains(reader.getFormatName().toLowerCase(Locale.ROOT))) {
        return reader;
      }
      reader.dispose();
    }
    return null;
  }

  /**
   * Decodes an image. Takes as long as the image is large.
   *
   * @param maxPixels most pixels; more are refused before they are decoded
   * @throws InvalidInput if it is larger, damaged, or of no known format
   */
  public static BufferedImage decode(byte[] bytes, long maxPixels) {
    try (ImageInputStream in = new MemoryCacheImageInputStream(new ByteArrayInputStream(bytes))) {
      ImageReader reader = reader(in);
      if (reader == null) {
        throw new InvalidInput("is not an image of a known format (JPEG, PNG, GIF, BMP)");
      }
      try {
        reader.setInput(in, true, true);
        long pixels = (long) reader.getWidth(0) * reader.getHeight(0);
        if (pixels > maxPixels) {
          throw new InvalidInput("has " + reader.getWidth(0) + " x " + reader.getHeight(0) + " pixels; at most "
              + maxPixels
              + " are decoded");
        }
        return reader.read(0);
      } finally {
        reader.dispose();
      }
    } catch (InvalidInput e) {
      throw e;
    } catch (IOException | RuntimeException e) { // ImageIO's readers throw both for damaged files
      throw new InvalidInput("cannot be read as an image: " + e, e);
    }
  }
}
