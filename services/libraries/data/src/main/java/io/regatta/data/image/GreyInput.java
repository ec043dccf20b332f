package io.regatta.data.image;

import java.awt.Graphics2D;
import java.awt.RenderingHints;
import java.awt.image.BufferedImage;
import java.awt.image.Raster;

/**
 * The whole image, scaled (bilinear) to a square of grey pixels, each {@code value / 127.5 - 1}. The grey value of a
 * colour is its luma (ITU-R BT.601). Those of a grey image of that size are its own. Immutable; any thread.
 *
 * @param side pixels of the square's sides
 */
record GreyInput(int side) implements ImageInput {

  private static final int BITS = 8;

  @Override
  public int channels() {
    return 1;
  }

  @Override
  public int height() {
    return side;
  }

  @Override
  public int width() {
    return side;
  }

  @Override
  public void write(BufferedImage image, float[] out, int at) {
    BufferedImage scaled = new BufferedImage(side, side, BufferedImage.TYPE_INT_RGB);
    Graphics2D graphics = scaled.createGraphics();
    try {
      graphics.setRenderingHint(RenderingHints.KEY_INTERPOLATION, RenderingHints.VALUE_INTERPOLATION_BILINEAR);
      graphics.drawImage(isGrey(image) ? asColours(image) : image, 0, 0, side, side, null);
    } finally {
      graphics.dispose();
    }
    int[] rgb = scaled.getRGB(0, 0, side, side, null, 0, side);
    for (int i = 0; i < rgb.length; i++) {
      int red = rgb[i] >> 16 & 0xff;
      int green = rgb[i] >> 8 & 0xff;
      int blue = rgb[i] & 0xff;
      int grey = red == green && green == blue ? red : Math.round(0.299f * red + 0.587f * green + 0.114f * blue);
      out[at + i] = grey / 127.5f - 1;
    }
  }

  private static boolean isGrey(BufferedImage image) {
    return image.getRaster().getNumBands() <= 2 && image.getSampleModel().getSampleSize(0) == BITS
        && image.getColorModel().getNumColorComponents() == 1;
  }

  /** Returns the image with its own values: Java would convert them from a linear grey to sRGB. */
  private static BufferedImage asColours(BufferedImage image) {
    BufferedImage colours = new BufferedImage(image.getWidth(), image.getHeight(), BufferedImage.TYPE_INT_RGB);
    Raster raster = image.getRaster();
    for (int y = 0; y < image.getHeight(); y++) {
      for (int x = 0; x < image.getWidth(); x++) {
        colours.setRGB(x, y, raster.getSample(x, y, 0) * 0x010101);
      }
    }
    return colours;
  }
}
