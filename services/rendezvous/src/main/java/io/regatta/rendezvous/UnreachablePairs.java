package io.regatta.rendezvous;

import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Members of an elastic group who live, and some of whom cannot reach each other, so that generations in which both are come to
 * nothing. Nobody can tell from here which end of such a pair is at fault, and not all that is said is so: a member that gives a
 * generation up may look unreachable to others for a moment. So nobody must go but who has been at an end of something said in each of
 * several generations in a row; of those the one who has been in most of it, which is whom the majority cannot reach, or who reaches
 * nobody; of several the one that more has been said of by others, and then the one that came later. One at a time: then the rest try
 * again.
 * Owned by the group's {@link ElasticFormation}, on its thread.
 */
final class UnreachablePairs {

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

  /** Who must go, and whom it cannot reach. */
  record Excess(long incarnation, Set<Long> others) {}

  /** Since the last generation formed. */
  private final Set<Pair> latest = new LinkedHashSet<>();
  /** In how many attempts in a row until the latest one each has been at an end of what was said. */
  private final Map<Long, Integer> inARow = new LinkedHashMap<>();
  /** In how many of those each pair was said: of one of its ends at least. */
  private final Map<Pair, Integer> said = new LinkedHashMap<>();

  /** A member that has completed nothing in the generation that ends, says so of others. */
  void says(long by, Collection<Long> unreachable) {
    unreachable.stream().filter(to -> to != by).forEach(to -> latest.add(new Pair(by, to)));
  }

  /**
   * The next generation is to form of these.
   *
   * @return who must go for it; nobody as long as it is to be tried with all
   */
  Optional<Excess> excess(Set<Long> members) {
    latest.removeIf(pair -> !members.contains(pair.by) || !members.contains(pair.to));
    Set<Long> named = latest.stream().flatMap(pair -> Stream.of(pair.by, pair.to)).collect(Collectors.toCollection(TreeSet::new));
    inARow.keySet().retainAll(named);
    said.keySet().removeIf(pair -> !members.contains(pair.by) || !members.contains(pair.to)
        || !inARow.containsKey(pair.by) && !inARow.containsKey(pair.to));
    named.forEach(of -> inARow.merge(of, 1, Integer::sum));
    latest.forEach(pair -> said.merge(pair, 1, Integer::sum));
    latest.clear();
    if (attempts() < ATTEMPTS) {
      return Optional.empty();
    }
    long worst = named.stream().filter(of -> inARow.get(of) == ATTEMPTS).max(Comparator
        .comparingInt((Long of) -> times(pair -> pair.has(of)))
        .thenComparingInt(of -> times(pair -> pair.to == of))
        .thenComparingLong(of -> of)).orElseThrow();
    Set<Long> others = said.keySet().stream().filter(pair -> pair.has(worst)).map(pair -> pair.other(worst))
        .collect(Collectors.toCollection(TreeSet::new));
    forget();
    return Optional.of(new Excess(worst, others));
  }

  private int times(Predicate<Pair> of) {
    return said.entrySet().stream().filter(entry -> of.test(entry.getKey())).mapToInt(Map.Entry::getValue).sum();
  }

  private void forget() {
    said.clear();
    inARow.clear();
  }

  /** Who cannot reach whom, in the latest attempts; empty if the last generation did not come to nothing. */
  List<Pair> pairs() {
    return List.copyOf(said.keySet());
  }

  /** How many attempts in a row have come to nothing with the same one in what was said. */
  int attempts() {
    return inARow.values().stream().mapToInt(Integer::intValue).max().orElse(0);
  }
}
