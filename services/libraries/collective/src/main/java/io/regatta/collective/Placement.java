package io.regatta.collective;

import io.regatta.core.collective.schedule.Reach;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The placement of a generation's ranks relative to each other: a pure function, the same at all ranks. Immutable; the
 * array must not be changed.
 *
 * @param near for each rank the first rank that is near to it, for an all-reduce in two levels. Ranks of one process
 *     are near, since messages pass in-process, if any process has several; else those of one host
 * @param reach of all of them
 */
record Placement(int[] near, Reach reach) {

  /**
   * Returns the placement of these ranks.
   *
   * @param endpoints {@code host:port} by rank
   * @param processes by rank, the same for ranks of one process; 0: not known, none is near
   */
  static Placement of(List<String> endpoints, long[] processes) {
    int[] byProcess = IntStream.range(0, processes.length)
        .map(r -> processes[r] == 0 ? r : first(processes, processes[r])).toArray();
    List<String> hosts = hosts(endpoints);
    int[] byHost = hosts.stream().mapToInt(hosts::indexOf).toArray();
    boolean together = Arrays.stream(byProcess).distinct().count() < byProcess.length;
    return new Placement(together ? byProcess : byHost,
        areAlike(byProcess) ? Reach.PROCESS : areAlike(byHost) ? Reach.MACHINE : Reach.NETWORK);
  }

  private static boolean areAlike(int[] places) {
    return Arrays.stream(places).allMatch(place -> place == 0);
  }

  /** Returns how many ranks are on the host of this one, itself included. */
  static int onHostOf(List<String> endpoints, int rank) {
    List<String> hosts = hosts(endpoints);
    return Collections.frequency(hosts, hosts.get(rank));
  }

  private static List<String> hosts(List<String> endpoints) {
    return endpoints.stream().map(e -> e.substring(0, Math.max(0, e.lastIndexOf(':')))).toList();
  }

  private static int first(long[] processes, long process) {
    int r = 0;
    while (processes[r] != process) {
      r++;
    }
    return r;
  }
}
