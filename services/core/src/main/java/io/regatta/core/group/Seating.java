package io.regatta.core.group;

import java.util.Arrays;
import java.util.List;

/**
 * Which rank each member of a new generation gets. Whoever was in the generation before keeps its rank if there still is
 * one of this number, and else takes a free one; then a newcomer gets the rank that it wants if that is free, and the rest
 * get the free ones in the order in which they came. Stateless.
 */
public final class Seating {

  /**
   * One member, as it comes.
   *
   * @param before its rank in the generation before, -1: it is new
   * @param wanted the rank that it asks for, -1: any
   */
  public record Guest(int before, int wanted) {}

  private Seating() {}

  /**
   * The ranks 0 to n-1 of n members, each given once.
   *
   * @param guests in the order in which they came; no two were of one rank before
   * @return by place in the list
   */
  public static int[] ranks(List<Guest> guests) {
    int[] ranks = new int[guests.size()];
    boolean[] taken = new boolean[guests.size()];
    Arrays.fill(ranks, -1);
    for (int i = 0; i < ranks.length; i++) {
      take(ranks, taken, i, guests.get(i).before());
    }
    for (int i = 0; i < ranks.length; i++) {
      take(ranks, taken, i, guests.get(i).wanted());
    }
    int free = 0;
    for (int i = 0; i < ranks.length; i++) {
      while (ranks[i] < 0) {
        take(ranks, taken, i, free++);
      }
    }
    return ranks;
  }

  private static void take(int[] ranks, boolean[] taken, int guest, int rank) {
    if (ranks[guest] < 0 && rank >= 0 && rank < ranks.length && !taken[rank]) {
      ranks[guest] = rank;
      taken[rank] = true;
    }
  }
}
