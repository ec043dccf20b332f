package io.regatta.core.collective.schedule;

/**
 * All-reduce by recursive halving and doubling (Rabenseifner, "Optimization of collective reduction operations", 2004;
 * Gloo's halving-doubling). It is a reduce-scatter in log2 p steps, each with half the elements of the one before, and
 * an all-gather the same way back. It sends as few bytes as a ring, in 2 log2 p steps instead of 2 (p - 1).
 *
 * <p>If p is not a power of two, the ranks from the largest power below it send their vectors to the first ranks
 * before, and receive the result afterwards. Each element is reduced by one rank, first with the most distant partner,
 * then with nearer ones. Pure functions.
 */
final class Halving {

  private Halving() {}

  static void allReduce(Schedule to, int size, int ranks, int me, int most) {
    int power = Integer.highestOneBit(ranks);
    int extra = ranks - power;
    if (me >= power) {
      int sent = Pieces.send(to, me - power, 0, size, most, Step.NOTHING);
      Pieces.copy(to, me - power, 0, size, most, sent);
      return;
    }
    int last = Step.NOTHING;
    if (me < extra) {
      last = Pieces.reduce(to, me + power, 0, size, most, last, false);
    }
    int steps = Integer.numberOfTrailingZeros(power);
    int[] from = new int[steps + 1];
    int[] until = new int[steps + 1];
    until[0] = size;
    for (int s = 0; s < steps; s++) {
      int bit = power >> s + 1;
      int middle = from[s] + (until[s] - from[s]) / 2;
      boolean lower = (me & bit) == 0;
      from[s + 1] = lower ? from[s] : middle;
      until[s + 1] = lower ? middle : until[s];
      int given = lower ? middle : from[s];
      Pieces.send(to, me ^ bit, given, (lower ? until[s] : middle) - given, most, last);
      last = Pieces.reduce(to, me ^ bit, from[s + 1], until[s + 1] - from[s + 1], most, last, s == steps - 1);
    }
    for (int s = steps - 1; s >= 0; s--) {
      int peer = me ^ power >> s + 1;
      Pieces.send(to, peer, from[s + 1], until[s + 1] - from[s + 1], most, last);
      boolean lower = (me & power >> s + 1) == 0;
      int missing = lower ? until[s + 1] : from[s];
      last = Pieces.copy(to, peer, missing, (lower ? until[s] : from[s + 1]) - missing, most, last);
    }
    if (me < extra) {
      Pieces.send(to, me + power, 0, size, most, last);
    }
  }
}
