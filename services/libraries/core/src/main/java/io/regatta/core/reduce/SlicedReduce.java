package io.regatta.core.reduce;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.Arrays;
import java.util.List;

/**
 * One member's side of the reduction of an array in slices, one after another. Used by one thread. The reducing process
 * thus holds one slice of each member at a time. This object returns the next slice to send and takes the answers.
 *
 * <p>All slices of a result must be from the same members. If the answer to a slice names other members than the first
 * did (one was lost in between), all members start again under new keys. They see the same answers and so decide alike;
 * every repetition costs a member, so it ends.
 */
public final class SlicedReduce {

  /** Number of values in a slice: 64 KiB. */
  public static final int SLICE = 8192;

  private final String key;
  private final double[] values;
  private final double[] result;
  private List<Integer> ranks = List.of();
  private int attempt;
  private int from;
  private boolean done;

  /**
   * Creates one member's side of a reduction.
   *
   * @param key the same on every member, used once; the keys of the slices begin with it
   */
  public SlicedReduce(String key, double[] values) {
    this.key = key;
    this.values = values;
    result = new double[values.length];
  }

  /** Returns true if the result is complete; otherwise a slice must be sent. */
  public boolean isDone() {
    return done;
  }

  /** Returns the key under which the next slice must be sent; that of the first is the key of the whole. */
  public String key() {
    return key + (attempt == 0 ? "" : "/again-" + attempt) + (from == 0 ? "" : "/from-" + from);
  }

  /**
   * Returns the next slice to send. It is empty if there are no values at all, and the member then only waits for the
   * others.
   */
  public double[] slice() {
    return Arrays.copyOfRange(values, from, Math.min(values.length, from + SLICE));
  }

  /**
   * Takes the answer to the slice.
   *
   * @param reduced as long as the slice
   * @param from the ranks whose slices it is made of
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

  /** Returns the array reduced over all members, once done. */
  public double[] result() {
    return result;
  }
}
