package io.regatta.core.group;

import java.util.Arrays;
import java.util.List;

/**
 * The assignment of ranks to the members of a new generation. Stateless. A member of the generation before keeps its
 * rank if there still is one of this number, and else takes a free one. Then a newcomer gets the rank that it asks for,
 * if that is free. The rest get the free ranks in the order in which they joined.
 */
public final class Seating {

  /**
   * One member, in the order of joining.
   *
   * @param before its rank in the generation before, -1: it is new
   * @param wanted the rank that it asks for, -1: any
   */
  public record Candidate(int before, int wanted) {}

  private Seating() {}

  /**
   * Returns the ranks 0 to n-1 of n members, each assigned once.
   *
   * @param candidates in the order in which they joined; no two had the same rank before
   * @return by index in the list
   */
  public static int[] ranks(List<Candidate> candidates) {
    int[] ranks = new int[candidates.size()];
    boolean[] taken = new boolean[candidates.size()];
    Arrays.fill(ranks, -1);
    for (int i = 0; i < ranks.length; i++) {
      take(ranks, taken, i, candidates.get(i).before());
    }
    for (int i = 0; i < ranks.length; i++) {
      take(ranks, taken, i, candidates.get(i).wanted());
    }
    int free = 0;
    for (int i = 0; i < ranks.length; i++) {
      while (ranks[i] < 0) {
        take(ranks, taken, i, free++);
      }
    }
    return ranks;
  }

  private static void take(int[] ranks, boolean[] taken, int candidate, int rank) {
    if (ranks[candidate] < 0 && rank >= 0 && rank < ranks.length && !taken[rank]) {
      ranks[candidate] = rank;
      taken[rank] = true;
    }
  }
}
