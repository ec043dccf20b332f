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
 * generation up may look unreachable to others for a moment. So it is the one who has been in most of what was said over several
 * generations in a row that must go, which is whom the majority cannot reach, or who reaches nobody; of several the one that more has
 * been said of by others, and then the one that came later. One at a time: then the rest try again.
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

  /** Who must go, and whom it cannot reach. */
  record Excess(long incarnation, Set<Long> others) {}

  /** Since the last generation formed; and in how many attempts of those in a row. */
  private final Set<Pair> latest = new LinkedHashSet<>();
  private final Map<Pair, Integer> said = new LinkedHashMap<>();
  private int attempts;

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
    said.keySet().removeIf(pair -> !members.contains(pair.by) || !members.contains(pair.to));
    if (latest.isEmpty()) {
      forget();
      return Optional.empty();
    }
    latest.forEach(pair -> said.merge(pair, 1, Integer::sum));
    latest.clear();
    attempts++;
    if (attempts < ATTEMPTS) {
      return Optional.empty();
    }
    long worst = said.keySet().stream().flatMap(pair -> Stream.of(pair.by, pair.to)).max(Comparator
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
    attempts = 0;
  }

  /** Who cannot reach whom, in the attempts so far; empty if the last generation did not come to nothing. */
  List<Pair> pairs() {
    return List.copyOf(said.keySet());
  }

  int attempts() {
    return attempts;
  }
}
