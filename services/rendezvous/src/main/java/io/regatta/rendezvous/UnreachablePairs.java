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
 * Pairs of living members of an elastic group that cannot reach each other, so that generations with both fail. The
 * faulty end of such a pair cannot be determined here. Not every report is true, either: a member that gives a
 * generation up may look unreachable to others for a moment. A member therefore must leave only if it was an end of a
 * reported pair in each of several generations in a row. If there are several such members, the one in most reports
 * leaves: the majority cannot reach it, or it reaches nobody. In a tie it is the one that others have reported more
 * often, and then the one that joined later. One member leaves at a time; then the rest try again. Owned by the group's
 * {@link ElasticFormation}, on its thread.
 */
final class UnreachablePairs {

  /**
   * Number of failed generations in a row before a member must leave: a connection may break, and be made the next
   * time.
   */
  static final int ATTEMPTS = 3;

  /**
   * A report that one end cannot reach the other.
   *
   * @param by incarnation of the reporting member
   */
  record Pair(long by, long to) {
    private boolean has(long incarnation) {
      return by == incarnation || to == incarnation;
    }

    private long other(long incarnation) {
      return by == incarnation ? to : by;
    }
  }

  /** The member that must leave, and the members that it cannot reach. */
  record Excess(long incarnation, Set<Long> others) {}

  /** Reports since the last generation formed. */
  private final Set<Pair> latest = new LinkedHashSet<>();
  /** Number of attempts in a row, up to the latest, in which a member was an end of a reported pair. */
  private final Map<Long, Integer> inARow = new LinkedHashMap<>();
  /** Number of those attempts in which a pair was reported: at least one of its ends is counted above. */
  private final Map<Pair, Integer> said = new LinkedHashMap<>();

  /** Adds the report of a member that has completed nothing in the generation that ends. */
  void says(long by, Collection<Long> unreachable) {
    unreachable.stream().filter(to -> to != by).forEach(to -> latest.add(new Pair(by, to)));
  }

  /**
   * Decides before the next generation forms of these.
   *
   * @return the member that must leave; empty as long as all are to try again
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

  /** Returns the reported pairs of the latest attempts; empty if the last generation did not fail. */
  List<Pair> pairs() {
    return List.copyOf(said.keySet());
  }

  /** Returns how many attempts in a row have failed with the same member in a reported pair. */
  int attempts() {
    return inARow.values().stream().mapToInt(Integer::intValue).max().orElse(0);
  }
}
