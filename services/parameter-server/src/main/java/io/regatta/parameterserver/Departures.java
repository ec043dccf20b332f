package io.regatta.parameterserver;

import io.regatta.core.error.RegattaException.PeerLost;
import java.util.Collection;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * The trainers of one job that have left on their own, and whether one of them reported that the run has ended with
 * success. Owned by the event loop of its shard until the job is over there, then by that of its server.
 */
final class Departures {

  /** A listener for each trainer that leaves, and for whether its run has ended with success. */
  interface Taker {
    void left(String job, int rank, boolean succeeded);
  }

  private boolean succeeded;
  private final Set<Integer> withoutSuccess = new TreeSet<>();

  void left(int rank, boolean withSuccess) {
    succeeded |= withSuccess;
    if (!withSuccess) {
      withoutSuccess.add(rank);
    }
  }

  /** Returns true if no trainer has left on its own. */
  boolean isEmpty() {
    return !succeeded && withoutSuccess.isEmpty();
  }

  /**
   * Returns why a job that is over has failed, from the reports of all shards of a server; empty if it has not. A
   * trainer that succeeds has counted what the others did not train, or its job accepts that.
   */
  static Optional<PeerLost> failure(String job, Collection<Departures> ofShards) {
    if (ofShards.stream().anyMatch(each -> each.succeeded)) {
      return Optional.empty();
    }
    TreeSet<Integer> ranks = ofShards.stream().flatMap(each -> each.withoutSuccess.stream())
        .collect(Collectors.toCollection(TreeSet::new));
    return Optional.of(new PeerLost("no trainer of job " + job + " has ended with success: " + named(ranks)
        + " left before the end of their programs, or without some of their data"));
  }

  private static String named(TreeSet<Integer> ranks) {
    String last = String.valueOf(ranks.last());
    return ranks.size() == 1 ? "trainer " + last + " has" : "trainers " + ranks.headSet(ranks.last()).stream()
        .map(String::valueOf).collect(Collectors.joining(", ")) + " and " + last + " have";
  }
}
