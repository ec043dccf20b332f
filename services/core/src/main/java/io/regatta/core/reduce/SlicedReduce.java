package io.regatta.core.reduce;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.Arrays;
import java.util.List;

/**
 * One member's side of the reduction of an array that travels in slices, one after another, so that whoever reduces
 * holds one slice of each member at a time. Says what to give next and takes the answers; used by one thread.
 *
 * <p>All slices of a result come from the same members. When the answer to a slice names others than the first did
 * (one was lost in between), all members start again under new keys. They see the same answers and so decide alike;
 * every repetition costs a member, so it ends.
 */
public final class SlicedReduce {

  /** Values in a slice: 64 KiB. */
  public static final int SLICE = 8192;

  private final String key;
  private final double[] values;
  private final double[] result;
  private List<Integer> ranks = List.of();
  private int attempt;
  private int from;
  private boolean done;

  /** @param key the same on every member, used once; the keys of the slices begin with it */
  public SlicedReduce(String key, double[] values) {
    this.key = key;
    this.values = values;
    result = new double[values.length];
  }

  /** Whether the result is there; else a slice is to be given. */
  public boolean isDone() {
    return done;
  }

  /** Under which the next slice is to be given; that of the first is the key of the whole. */
  public String key() {
    return key + (attempt == 0 ? "" : "/again-" + attempt) + (from == 0 ? "" : "/from-" + from);
  }

  /** What is to be given next. Empty if there are no values at all: then it only waits for the others. */
  public double[] slice() {
    return Arrays.copyOfRange(values, from, Math.min(values.length, from + SLICE));
  }

  /**
   * Takes the answer to the slice.
   *
   * @param reduced as long as the slice
   * @param from whom: the ranks whose slices it is made of
   */
  public void answered(double[] reduced, List<Integer> from) {
    int length = Math.min(SLICE, values.length - this.from);
    if (done || reduced.length != length) {
      throw new InvalidInput("reduction " + key() + ": the answer has " + reduced.length + " values, the slice "
          + length);
    }
    if (this.from == 0) {
      ranks = List.copyOf(from);
    } else if (!ranks.equals(from)) {
      attempt++;
      this.from = 0;
      return;
    }
    System.arraycopy(reduced, 0, result, this.from, length);
    this.from += length;
    done = this.from == values.length;
  }

  /** The array over all who gave it, once done. */
  public double[] result() {
    return result;
  }
}
