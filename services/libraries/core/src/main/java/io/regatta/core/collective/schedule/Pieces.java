package io.regatta.core.collective.schedule;

/**
 * A range of elements that is sent to one peer in one or more messages of at most {@code most} elements. Pure
 * functions.
 */
final class Pieces {

  private Pieces() {}

  private static int pieces(int count, int most) {
    return Math.max(1, (int) (((long) count + most - 1) / most));
  }

  /** Appends the sends; returns the last step. */
  static int send(Schedule to, int peer, int from, int count, int most, int after) {
    Parts parts = new Parts(count, pieces(count, most));
    int last = after;
    for (int i = 0; i < parts.ranks(); i++) {
      last = to.send(peer, from + parts.from(i), parts.length(i), after);
    }
    return last;
  }

  /**
   * Appends the copies; returns the last step, after which all are there because one peer's messages keep their order.
   */
  static int copy(Schedule to, int peer, int from, int count, int most, int after) {
    Parts parts = new Parts(count, pieces(count, most));
    int last = after;
    for (int i = 0; i < parts.ranks(); i++) {
      last = to.copy(peer, from + parts.from(i), parts.length(i), after);
    }
    return last;
  }

  /** Appends the reductions; returns the last step, after which all are there. */
  static int reduce(Schedule to, int peer, int from, int count, int most, int after, boolean completes) {
    Parts parts = new Parts(count, pieces(count, most));
    int last = after;
    for (int i = 0; i < parts.ranks(); i++) {
      last = to.reduce(peer, from + parts.from(i), parts.length(i), after, completes);
    }
    return last;
  }
}
