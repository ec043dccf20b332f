package io.regatta.core.collective;

/**
 * The barrier of Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization" (1988), as Gloo's: in step k each
 * rank tells the one 2^k behind it and hears of the one 2^k before it; log2 p steps for any p. Pure functions.
 */
final class Dissemination {

  private Dissemination() {}

  static void barrier(Schedule to, int ranks, int me) {
    int last = Step.NOTHING;
    for (int distance = 1; distance < ranks; distance <<= 1) {
      to.send((me + distance) % ranks, 0, 0, last);
      last = to.copy(Math.floorMod(me - distance, ranks), 0, 0, last);
    }
  }
}
