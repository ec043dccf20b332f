package io.regatta.core.collective.schedule;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * All-reduce in two levels, for hosts with several ranks. Horovod and NCCL call it hierarchical. Pure functions. The
 * lowest rank of each host, its leader, reduces the vectors of its host in rank order. The leaders do a {@link Ring}
 * among themselves, and each sends the result to its host. All is done block by block, so that the levels overlap. With
 * one host, a central rank reduces for all, as an aggregator does.
 */
final class Hierarchy {

  private Hierarchy() {}

  /**
   * Appends an all-reduce.
   *
   * @param hostOf a number for the host of each rank
   */
  static void allReduce(Schedule to, int size, int[] hostOf, int me, int most) {
    TreeMap<Integer, List<Integer>> hosts = new TreeMap<>(); // by leader
    for (int r = 0; r < hostOf.length; r++) {
      hosts.computeIfAbsent(leader(hostOf, r), l -> new ArrayList<>()).add(r);
    }
    int[] leaders = hosts.keySet().stream().mapToInt(Integer::intValue).toArray();
    Blocks blocks = new Blocks(size, leaders.length, most);
    int leader = leader(hostOf, me);
    int place = hosts.headMap(leader).size();
    if (me != leader) {
      for (int b : order(blocks, leaders.length, place - 1)) {
        blocks.send(to, leader, b);
      }
      for (int b : order(blocks, leaders.length, place)) {
        blocks.copy(to, leader, b);
      }
      return;
    }
    List<Integer> members = hosts.get(me);
    for (int b : order(blocks, leaders.length, place - 1)) {
      for (int i = 1; i < members.size(); i++) {
        blocks.reduce(to, members.get(i), b, leaders.length == 1 && i == members.size() - 1);
      }
    }
    Ring.reduceScatter(to, blocks, leaders, place);
    Ring.allGather(to, blocks, leaders, place);
    for (int b : order(blocks, leaders.length, place)) {
      for (int i = 1; i < members.size(); i++) {
        blocks.send(to, members.get(i), b);
      }
    }
  }

  /** Returns the lowest rank of a rank's host. */
  private static int leader(int[] hostOf, int rank) {
    int first = 0;
    while (hostOf[first] != hostOf[rank]) {
      first++;
    }
    return first;
  }

  /**
   * Returns all blocks in the order in which a leader's ring needs them, or has them: from this part downwards,
   * cyclically.
   */
  private static List<Integer> order(Blocks blocks, int parts, int start) {
    List<Integer> order = new ArrayList<>();
    for (int s = 0; s < parts; s++) {
      int part = Math.floorMod(start - s, parts);
      for (int b = blocks.first(part); b < blocks.first(part + 1); b++) {
        order.add(b);
      }
    }
    return order;
  }
}
