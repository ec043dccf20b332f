package io.regatta.core.collective;

/**
 * All-reduce by aggregators, which have no vectors of their own: each rank sends its vector to them, block by block, and gets
 * the sum. Block b is aggregator {@code b mod k}'s, who reduces the ranks' blocks in rank order. Each rank sends and takes the
 * vector once, whatever the number of ranks, where a ring has it sent almost twice; an aggregator takes and sends p / k of it. As
 * the parameter servers of BytePS (Jiang et al., "A unified architecture for accelerating distributed DNN training", 2020).
 *
 * <p>Ranks are numbers 0 to p - 1, and aggregators those from p on. Pure functions.
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
