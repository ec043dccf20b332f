package io.regatta.core.retrieval;

import io.regatta.core.error.RegattaException.InvalidInput;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.util.Arrays;

/**
 * Estimates of the probability that an item is in a batch, from a stream of batches. The estimate is the inverse of the
 * mean distance between two batches with the item, where newer distances count more. The first distance is that from the
 * beginning. Source: algorithm 2 of Yi et al., "Sampling-Bias-Corrected Neural Modeling for Large Corpus Item
 * Recommendations", RecSys 2019. It hashes items into arrays; this class keeps each item, in about 24 bytes. Not
 * thread-safe; one owner.
 */
public final class ItemFrequencies {

  private static final int FIRST_ROOM = 1024;

  private final double rate;
  private final Long2IntOpenHashMap numbers = new Long2IntOpenHashMap();
  private long[] last = new long[FIRST_ROOM];
  private double[] distance = new double[FIRST_ROOM];
  private long batches;

  /** @param rate weight of the newest distance, in (0, 1) */
  public ItemFrequencies(double rate) {
    if (!(rate > 0 && rate < 1)) {
      throw new InvalidInput("the weight of the newest distance must be between 0 and 1, not " + rate);
    }
    this.rate = rate;
    numbers.defaultReturnValue(-1);
  }

  /** Counts a batch; an item may occur in it several times, and counts once. */
  public void add(long[] items) {
    batches++;
    for (long item : items) {
      int number = numbers.get(item);
      if (number < 0) {
        number = numbers.size();
        numbers.put(item, number);
        if (number == last.length) {
          last = Arrays.copyOf(last, 2 * number);
          distance = Arrays.copyOf(distance, 2 * number);
        }
        distance[number] = batches;
      } else if (last[number] < batches) {
        distance[number] = (1 - rate) * distance[number] + rate * (batches - last[number]);
      }
      last[number] = batches;
    }
  }

  /** Returns the estimate for an item that has occurred, in (0, 1]; 1 for others. */
  public double probability(long item) {
    int number = numbers.get(item);
    return number < 0 ? 1 : 1 / distance[number];
  }
}
