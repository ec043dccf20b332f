package io.regatta.data.image;

import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.util.SplittableRandom;

/**
 * The transformation of a decoded image of any size to the pixels of a square network input. The image is cropped and
 * scaled (bilinear). ImageNet's mean is subtracted from each channel, which is then divided by the deviation. All red
 * values come first, then green, then blue.
 *
 * <p>For training the crop is random as in Szegedy et al., "Going deeper with convolutions" (2015), section 6. It has 8
 * to 100 % of the area at a ratio of 3/4 to 4/3, and is mirrored half of the time. For tests it is the center square of
 * 7/8 of the shorter side (224 of 256). Immutable; any thread may use it.
 *
 * @param side pixels of the input's sides
 * @param augment true for random crops
 */
record ImageTransform(int side, boolean augment) implements ImageInput {

  private static final float[] MEAN = {0.485f, 0.456f, 0.406f};
  private static final float[] DEVIATION = {0.229f, 0.224f, 0.225f};
  private static final int TRIES = 10;
  private static final double MIDDLE = 224.0 / 256;

  /** A crop of an image, in pixels. */
  record Part(int x, int y, int width, int height, boolean mirrored) {}

  @Override
  public int channels() {
    return MEAN.length;
  }

  @Override
  public int height() {
    return side;
  }

  @Override
  public int width() {
    return side;
  }

  /** Writes the center crop, whether or not others are random. */
  @Override
  public void write(BufferedImage image, float[] out, int at) {
    write(image, middle(image.getWidth(), image.getHeight()), out, at);
  }

  /** Returns the number of floats of a transformed image. */
  int size() {
    return MEAN.length * side * side;
  }

  /** Writes the pixels to {@code out[at .. at + size())}. */
  void apply(BufferedImage image, SplittableRandom random, float[] out, int at) {
    write(image, augment ? drawn(image.getWidth(), image.getHeight(), random) : middle(image.getWidth(), image.getHeight()), out, at);
  }

  private void write(BufferedImage image, Part part, float[] out, int at) {
    BufferedImage scaled = new BufferedImage(side, side, BufferedImage.TYPE_INT_RGB);
    Graphics2D graphics = scaled.createGraphics();
    try {
      graphics.setRenderingHint(RenderingHints.KEY_INTERPOLATION, RenderingHints.VALUE_INTERPOLATION_BILINEAR);
      int left = part.mirrored() ? side : 0;
      graphics.drawImage(image, left, 0, side - left, side, part.x(), part.y(), part.x() + part.width(),
          part.y() + part.height(), null);
    } finally {
      graphics.dispose();
    }
    int[] rgb = scaled.getRGB(0, 0, side, side, null, 0, side);
    for (int c = 0; c < MEAN.length; c++) {
      int shift = 16 - 8 * c;
      for (int i = 0; i < rgb.length; i++) {
        out[at++] = ((rgb[i] >> shift & 0xff) / 255f - MEAN[c]) / DEVIATION[c];
      }
    }
  }

  static Part drawn(int width, int height, SplittableRandom random) {
    double ratioMax = Math.log(4.0 / 3);
    for (int i = 0; i < TRIES; i++) {
      double area = random.nextDouble(0.08, 1) * width * height;
      double ratio = Math.exp(random.nextDouble(-ratioMax, ratioMax));
      int w = (int) Math.round(Math.sqrt(area * ratio));
      int h = (int) Math.round(Math.sqrt(area / ratio));
      if (w >= 1 && h >= 1 && w <= width && h <= height) {
        return new Part(random.nextInt(width - w + 1), random.nextInt(height - h + 1), w, h, random.nextBoolean());
      }
    }
    int square = Math.min(width, height);
    return new Part((width - square) / 2, (height - square) / 2, square, square, random.nextBoolean());
  }

  static Part middle(int width, int height) {
    int square = Math.max(1, (int) Math.round(Math.min(width, height) * MIDDLE));
    return new Part((width - square) / 2, (height - square) / 2, square, square, false);
  }
}
