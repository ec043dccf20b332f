package io.regatta.data.image;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.util.Iterator;
import javax.imageio.ImageIO;
import javax.imageio.ImageReader;
import javax.imageio.stream.ImageInputStream;
import javax.imageio.stream.MemoryCacheImageInputStream;

/** The decoding of images in memory. Stateless. */
public final class EncodedImage {

  private EncodedImage() {}

  /**
   * Decodes an image. Takes as long as the image is large.
   *
   * @param maxPixels most pixels; more are refused before they are decoded
   * @throws InvalidInput if it is larger, damaged, or of no known format
   */
  public static BufferedImage decode(byte[] bytes, long maxPixels) {
    try (ImageInputStream in = new MemoryCacheImageInputStream(new ByteArrayInputStream(bytes))) {
      Iterator<ImageReader> readers = ImageIO.getImageReaders(in);
      if (!readers.hasNext()) {
        throw new InvalidInput("is not an image of a known format (JPEG, PNG, GIF, BMP)");
      }
      ImageReader reader = readers.next();
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
