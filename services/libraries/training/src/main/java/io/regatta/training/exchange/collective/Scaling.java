package io.regatta.training.exchange.collective;

import io.regatta.training.replica.Gradients;
import java.nio.FloatBuffer;

/** The scaling of gradients by a factor, in place. Stateless. */
final class Scaling {

  private static final int CHUNK = 4096;

  private Scaling() {}

  /** Scales the floats {@code [from .. to)}; a factor of 0 sets them to 0, whatever they were. */
  static void scale(FloatBuffer floats, int from, int to, double factor) {
    if (factor == 1) {
      return;
    }
    float by = (float) factor;
    float[] chunk = new float[Math.min(CHUNK, to - from)];
    for (int at = from; at < to; at += chunk.length) {
      int n = Math.min(chunk.length, to - at);
      floats.get(at, chunk, 0, n);
      for (int i = 0; i < n; i++) {
        chunk[i] = by == 0 ? 0 : chunk[i] * by;
      }
      floats.put(at, chunk, 0, n);
    }
  }
}
