package io.regatta.data.generate;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.hash.Mix64;
import io.regatta.data.IndexedSource;
import io.regatta.data.Layout;
import io.regatta.data.SlotBatch;
import java.util.SplittableRandom;

/**
 * A source of generated images. Each class has a smooth pattern of its own: a grid of 4 x 4 normal values for each
 * channel, interpolated over the image. An image of the class is the pattern, brighter or darker, with noise. So the
 * classes can be learned. Each image is a pure function of (seed, number), and nothing is stored. Pixels are channel by
 * channel, row by row. Immutable; any thread may use it.
 */
public final class GeneratedImages extends IndexedSource {

  private static final int GRID = 4;

  private final String name;
  private final long seed;
  private final int first;
  private final int count;
  private final int classes;
  private final int channels;
  private final int side;
  /** Grids of values, {@code GRID × GRID}, by class and channel. */
  private final float[][] patterns;

  /**
   * Creates a source of the images {@code first .. first+count} of an endless sequence; classes take turns.
   *
   * @param name for threads and messages
   */
  public GeneratedImages(String name, long seed, int first, int count, int classes, int channels, int side) {
    if (count < 1 || classes < 2 || channels < 1 || side < GRID) {
      throw new InvalidInput("generated images: at least one image of two classes and " + GRID + " x " + GRID
          + " pixels, not " + count + " of " + classes + " and " + side + " x " + side);
    }
    this.name = name;
    this.seed = seed;
    this.first = first;
    this.count = count;
    this.classes = classes;
    this.channels = channels;
    this.side = side;
    patterns = new float[classes * channels][GRID * GRID];
    SplittableRandom random = new SplittableRandom(seed);
    for (float[] pattern : patterns) {
      for (int i = 0; i < pattern.length; i++) {
        pattern[i] = (float) random.nextGaussian();
      }
    }
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Layout layout() {
    return new Layout(channels * side * side, 0);
  }

  @Override
  public long size() {
    return count;
  }

  @Override
  public boolean parse(Example example, SlotBatch into, int row) {
    int number = first + example.index();
    int label = number % classes;
    SplittableRandom random = new SplittableRandom(Mix64.mix(seed + Mix64.GOLDEN * (number + 1L)));
    float brightness = (float) random.nextDouble(-0.5, 0.5);
    float[] out = into.dense();
    int at = row * layout().dense();
    for (int c = 0; c < channels; c++) {
      float[] pattern = patterns[label * channels + c];
      for (int y = 0; y < side; y++) {
        for (int x = 0; x < side; x++) {
          out[at++] = between(pattern, y, x) + brightness + (float) random.nextDouble(-1, 1);
        }
      }
    }
    into.labels()[row] = label;
    return true;
  }

  /** Returns the bilinear interpolation between the points of the grid. */
  private float between(float[] pattern, int y, int x) {
    float v = (float) y * (GRID - 1) / (side - 1);
    float u = (float) x * (GRID - 1) / (side - 1);
    int top = Math.min((int) v, GRID - 2);
    int left = Math.min((int) u, GRID - 2);
    float down = v - top;
    float right = u - left;
    int at = top * GRID + left;
    return (1 - down) * ((1 - right) * pattern[at] + right * pattern[at + 1])
        + down * ((1 - right) * pattern[at + GRID] + right * pattern[at + GRID + 1]);
  }
}
