package io.regatta.data.image;

import java.awt.image.BufferedImage;

/** The way of an image of any size to the floats of an example, without random choices. Immutable; any thread. */
public interface ImageInput {

  /** Returns the input of networks for photographs: {@code [3, side, side]}, as test images of {@link ImageFiles}. */
  static ImageInput photo(int side) {
    return new ImageTransform(side, false);
  }

  /** Returns the input of networks for grey images: {@code [1, side, side]}, as those of {@link IdxImages}. */
  static ImageInput grey(int side) {
    return new GreyInput(side);
  }

  int channels();

  int height();

  int width();

  /** Writes {@code channels × height × width} floats to {@code out}, from {@code at} on. */
  void write(BufferedImage image, float[] out, int at);
}
