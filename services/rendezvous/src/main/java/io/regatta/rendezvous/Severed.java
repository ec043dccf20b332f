package io.regatta.rendezvous;

import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Members of an elastic group who live, and some of whom cannot reach each other, so that generations in which both are come to
 * nothing. Nobody can tell from here which end of such a pair is at fault. So it is the fewest who must go for the others to go
 * on: one after the other who is in most pairs, which is whom the majority cannot reach, or who reaches nobody; of several the
 * one that more of the others have named, and then the one that came later. Greedy, so of many pairs not always the fewest.
 * Owned by the group's {@link Succession}, on its thread.
 */
final class Severed {

  /** Generations in a row that come to nothing before anybody must go: a connection may break, and be made the next time. */
  static final int ATTEMPTS = 3;

  /**
   * One end cannot reach the other.
   *
   * @param by incarnation of who says so
   */
  record Pair(long by, long to) {
    private boolean has(long incarnation) {
      return by == incarnation || to == incarnation;
    }

    private long other(long incarnation) {
      return by == incarnation ? to : by;
    }
  }

  /** Since the last generation formed, and in all attempts in a row. */
  private final Set<Pair> latest = new LinkedHashSet<>();
  private final Set<Pair> said = new LinkedHashSet<>();
  private int attempts;

  /** A member that has completed nothing in the generation that ends, says so of others. */
  void says(long by, Collection<Long> unreachable) {
    unreachable.stream().filter(to -> to != by).forEach(to -> latest.add(new Pair(by, to)));
  }

  /**
   * The next generation is to form of these.
   *
   * @return those who must go for it, each with those whom it cannot reach; nobody as long as it is to be tried with all
   */
  Map<Long, Set<Long>> excess(Set<Long> members) {
    latest.removeIf(pair -> !members.contains(pair.by) || !members.contains(pair.to));
    said.removeIf(pair -> !members.contains(pair.by) || !members.contains(pair.to));
    if (latest.isEmpty()) {
      said.clear();
      attempts = 0;
      return Map.of();
    }
    said.addAll(latest);
    latest.clear();
    attempts++;
    return attempts < ATTEMPTS ? Map.of() : cut();
  }

  private Map<Long, Set<Long>> cut() {
    Map<Long, Set<Long>> gone = new LinkedHashMap<>();
    while (!said.isEmpty()) {
      long worst = said.stream().flatMap(pair -> Stream.of(pair.by, pair.to)).max(Comparator
          .comparingInt((Long of) -> partners(of).size())
          .thenComparingLong(of -> said.stream().filter(pair -> pair.to == of).count())
          .thenComparingLong(of -> of)).orElseThrow();
      gone.put(worst, partners(worst));
      said.removeIf(pair -> pair.has(worst));
    }
    attempts = 0;
    return gone;
  }

  private Set<Long> partners(long incarnation) {
    return said.stream().filter(pair -> pair.has(incarnation)).map(pair -> pair.other(incarnation))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Who cannot reach whom, in the attempts so far; empty if the last generation did not come to nothing. */
  List<Pair> pairs() {
    return List.copyOf(said);
  }

  int attempts() {
    return attempts;
  }
}
