package io.regatta.trainer.djl;

import java.nio.FloatBuffer;
import java.util.BitSet;

/**
 * What the ranks of an elastic job tell each other with the first bucket of a step: floats behind the gradients, each of which is
 * summed over the ranks. Places only; a model thread's.
 *
 * @param at of its first float
 * @param maxRanks that there may be
 * @param variables of the model
 */
record ElasticHeader(int at, int maxRanks, int variables) {

  /** How many ranks step, and their weights in full batches. */
  private static final int STEPPING = 0;
  private static final int WEIGHT = 1;
  /** How many know of somebody who waits for the next generation, and how many have no batch left. */
  private static final int NEWCOMERS = 2;
  private static final int FINISHED = 3;
  /** For each rank whether it has trained its next batch; then for each variable how many ranks have a gradient of it. */
  private static final int TRAINED = 4;

  int size() {
    return TRAINED + maxRanks + variables;
  }

  /** Begins what this rank says: nothing yet. */
  void clear(FloatBuffer floats) {
    for (int i = 0; i < size(); i++) {
      floats.put(at + i, 0);
    }
  }

  void steps(FloatBuffer floats, double weight, BitSet fresh) {
    floats.put(at + STEPPING, 1);
    floats.put(at + WEIGHT, (float) weight);
    fresh.stream().forEach(variable -> floats.put(counts() + variable, 1));
  }

  void trains(FloatBuffer floats, int rank) {
    floats.put(at + TRAINED + rank, 1);
  }

  void newcomers(FloatBuffer floats) {
    floats.put(at + NEWCOMERS, 1);
  }

  void finished(FloatBuffer floats) {
    floats.put(at + FINISHED, 1);
  }

  // ---- of the sum

  double stepping(FloatBuffer floats) {
    return floats.get(at + STEPPING);
  }

  double weight(FloatBuffer floats) {
    return floats.get(at + WEIGHT);
  }

  boolean anyNewcomers(FloatBuffer floats) {
    return floats.get(at + NEWCOMERS) > 0;
  }

  boolean allFinished(FloatBuffer floats, int ranks) {
    return floats.get(at + FINISHED) == ranks;
  }

  BitSet trained(FloatBuffer floats) {
    BitSet trained = new BitSet();
    for (int rank = 0; rank < maxRanks; rank++) {
      trained.set(rank, floats.get(at + TRAINED + rank) > 0);
    }
    return trained;
  }

  /** Where the counts of variables begin. */
  int counts() {
    return at + TRAINED + maxRanks;
  }
}
