package io.regatta.load.dense;

import java.nio.FloatBuffer;

/** The peers' trainer: copies the values of a pull to their places. Owned by one thread. */
final class CopyPieces extends FloatPieces {
  private final float[] values;

  CopyPieces(float[] values) {
    this.values = values;
  }

  @Override
  void floats(FloatBuffer floats, int at) {
    floats.get(values, at, floats.remaining());
  }
}
