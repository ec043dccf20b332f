package io.regatta.core.collective.schedule;

/**
 * All-reduce by aggregators, which have no vectors of their own. Each rank sends its vector to them, block by block,
 * and receives the sum. Block b belongs to aggregator {@code b mod k}, which reduces the ranks' blocks in rank order.
 * Each rank sends and receives the vector once, whatever the number of ranks; in a ring it sends it almost twice. An
 * aggregator receives and sends p / k of it. The parameter servers of BytePS do the same (Jiang et al., "A unified
 * architecture for accelerating distributed DNN training", 2020).
 *
 * <p>Ranks are numbers 0 to p - 1, and aggregators those from p. Pure functions.
 */
final class Aggregated {

  private Aggregated() {}

  static void rank(Schedule to, int size, int ranks, int aggregators, int most) {
    Blocks blocks = new Blocks(size, 1, most);
    for (int b = 0; b < blocks.first(1); b++) {
      blocks.send(to, ranks + b % aggregators, b);
    }
    for (int b = 0; b < blocks.first(1); b++) {
      blocks.copy(to, ranks + b % aggregators, b);
    }
  }

  static void aggregator(Schedule to, int size, int ranks, int index, int aggregators, int most) {
    Blocks blocks = new Blocks(size, 1, most);
    for (int b = index; b < blocks.first(1); b += aggregators) {
      blocks.copy(to, 0, b);
      for (int r = 1; r < ranks; r++) {
        blocks.reduce(to, r, b, r == ranks - 1);
      }
      for (int r = 0; r < ranks; r++) {
        blocks.send(to, r, b);
      }
    }
  }
}
