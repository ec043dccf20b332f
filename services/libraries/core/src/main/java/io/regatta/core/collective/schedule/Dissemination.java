package io.regatta.core.collective.schedule;

/**
 * The barrier of Hensgen, Finkel and Manber, "Two algorithms for barrier synchronization" (1988), as in Gloo. In step k
 * each rank sends a message to the rank 2^k after it, and receives one from the rank 2^k before it. It takes log2 p
 * steps for any p. Pure functions.
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
