package io.regatta.core.collective.schedule;

/**
 * All-reduce by recursive doubling (Thakur, Rabenseifner, Gropp, "Optimization of collective communication operations
 * in MPICH", 2005). In step k, ranks whose numbers differ in bit k exchange the whole vector, and both reduce it.
 * Between two ranks it is one exchange. It is for short vectors: log2 p steps, but the whole vector in each.
 *
 * <p>If p is not a power of two, the ranks from the largest power below it send their vectors to the first ranks
 * before, and receive the result afterwards. The order of additions is that of the tree over rank numbers. Both
 * partners add the same two vectors, so all ranks end with the same bits. This requires that elements are sent as they
 * are: with a narrower wire the partners would not add the same. Pure functions.
 */
final class RecursiveDoubling {

  private RecursiveDoubling() {}

  static void allReduce(Schedule to, int size, int ranks, int me, int most) {
    Blocks blocks = new Blocks(size, 1, most);
    int n = blocks.first(1);
    int power = Integer.highestOneBit(ranks);
    int extra = ranks - power;
    for (int b = 0; b < n && me >= power; b++) {
      blocks.sendCopied(to, me - power, b);
    }
    for (int b = 0; b < n && me < extra; b++) {
      blocks.reduce(to, me + power, b, false);
    }
    for (int bit = 1; bit < power && me < power; bit <<= 1) {
      for (int b = 0; b < n; b++) {
        blocks.sendCopied(to, me ^ bit, b);
        blocks.reduce(to, me ^ bit, b, bit << 1 == power);
      }
    }
    for (int b = 0; b < n && me < extra; b++) {
      blocks.send(to, me + power, b);
    }
    for (int b = 0; b < n && me >= power; b++) {
      blocks.copy(to, me - power, b);
    }
  }
}
