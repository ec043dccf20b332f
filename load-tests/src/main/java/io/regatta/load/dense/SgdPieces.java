package io.regatta.load.dense;

import java.nio.FloatBuffer;

/**
 * The peers' shard: applies SGD straight from the bytes of a gradient, in slices that may be cut in the middle of a
 * float, without a copy in memory. Blocks that stay in the first-level cache let HotSpot vectorize the loop, which it
 * does only if both arrays are read from the same index on. Owned by one thread.
 */
final class SgdPieces extends FloatPieces {
  private static final int BLOCK = 2048;

  private final float[] weights;
  private final float[] w = new float[BLOCK];
  private final float[] g = new float[BLOCK];

  SgdPieces(float[] weights) {
    this.weights = weights;
  }

  @Override
  void floats(FloatBuffer floats, int at) {
    int to = at;
    while (floats.hasRemaining()) {
      int n = Math.min(BLOCK, floats.remaining());
      floats.get(g, 0, n);
      System.arraycopy(weights, to, w, 0, n);
      step(w, g, n);
      System.arraycopy(w, 0, weights, to, n);
      to += n;
    }
  }

  private static void step(float[] w, float[] g, int n) {
    for (int i = 0; i < n; i++) {
      w[i] -= DenseTask.RATE * g[i];
    }
  }
}
