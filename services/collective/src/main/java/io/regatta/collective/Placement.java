package io.regatta.collective;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;

/**
 * Which ranks are near to each other, for an all-reduce in two levels: those of one process, where a message is handed over
 * and not sent, if any process has several; else those of one host. Pure functions, the same at all ranks.
 */
final class Placement {

  private Placement() {}

  /**
   * Of each rank the first rank that is near to it.
   *
   * @param endpoints {@code host:port} by rank
   * @param processes by rank, the same for ranks of one process; 0: not known, none is near
   */
  static int[] of(List<String> endpoints, long[] processes) {
    int[] byProcess = IntStream.range(0, processes.length)
        .map(r -> processes[r] == 0 ? r : first(processes, processes[r])).toArray();
    if (Arrays.stream(byProcess).distinct().count() < byProcess.length) {
      return byProcess;
    }
    List<String> hosts = hosts(endpoints);
    return hosts.stream().mapToInt(hosts::indexOf).toArray();
  }

  /** How many ranks are on the host of this one, itself too. */
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
