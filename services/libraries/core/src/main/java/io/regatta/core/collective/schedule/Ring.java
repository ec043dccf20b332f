package io.regatta.core.collective.schedule;

/**
 * The ring of Patarasuk and Yuan, "Bandwidth optimal all-reduce algorithms for clusters of workstations" (2009), as in
 * Gloo and Horovod. Each rank sends to the next and receives from the one before; 2 (p - 1) / p of the vector passes
 * each link. Parts are cut into blocks, so that a block is forwarded while the next one arrives. Part k is added
 * starting with rank k + 1, then k + 2, and so on cyclically to rank k, which ends with it. Pure functions.
 */
final class Ring {

  private Ring() {}

  /** Appends a reduce-scatter over these ranks: the one at index {@code me} ends with part {@code me}. */
  static void reduceScatter(Schedule to, Blocks blocks, int[] ranks, int me) {
    int p = ranks.length;
    for (int s = 0; s < p - 1; s++) {
      int sent = Math.floorMod(me - 1 - s, p);
      for (int b = blocks.first(sent); b < blocks.first(sent + 1); b++) {
        blocks.send(to, ranks[(me + 1) % p], b);
      }
      int taken = Math.floorMod(me - 2 - s, p);
      for (int b = blocks.first(taken); b < blocks.first(taken + 1); b++) {
        blocks.reduce(to, ranks[Math.floorMod(me - 1, p)], b, s == p - 2);
      }
    }
  }

  /** Appends an all-gather over these ranks: each has its own part, and ends with all. */
  static void allGather(Schedule to, Blocks blocks, int[] ranks, int me) {
    int p = ranks.length;
    for (int s = 0; s < p - 1; s++) {
      int sent = Math.floorMod(me - s, p);
      for (int b = blocks.first(sent); b < blocks.first(sent + 1); b++) {
        blocks.send(to, ranks[(me + 1) % p], b);
      }
      int taken = Math.floorMod(me - 1 - s, p);
      for (int b = blocks.first(taken); b < blocks.first(taken + 1); b++) {
        blocks.copy(to, ranks[Math.floorMod(me - 1, p)], b);
      }
    }
  }
}
