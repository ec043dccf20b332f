package io.regatta.core.collective;

import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;

/**
 * All-reduce in two levels, for hosts with several ranks: the lowest rank of each host, its leader, reduces the vectors of
 * its host in rank order, the leaders do a {@link Ring} among themselves, and each gives the result to its host. Block by
 * block, so that the levels overlap. What Horovod and NCCL call hierarchical; with one host a central rank that reduces for
 * all, as an aggregator does. Pure functions.
 */
final class Hierarchy {

  private Hierarchy() {}

  /** @param hostOf of each rank, any number that is its host's */
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

  /** The lowest rank of a rank's host. */
  private static int leader(int[] hostOf, int rank) {
    int first = 0;
    while (hostOf[first] != hostOf[rank]) {
      first++;
    }
    return first;
  }

  /** All blocks in the order in which a leader's ring wants them, or has them: from this part downwards, round. */
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
