package io.regatta.rendezvous;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

class SeveredTest {

  /** Whoever says what: those who are left can all reach each other, and nobody goes who is in no pair. */
  @Property
  void thoseWhoAreLeftReachEachOther(@ForAll @Size(max = 12) List<@IntRange(max = 35) Integer> pairs) {
    Set<Long> members = new TreeSet<>(Set.of(0L, 1L, 2L, 3L, 4L, 5L));
    Severed severed = new Severed();
    Map<Long, Set<Long>> excess = Map.of();
    for (int attempt = 1; attempt <= Severed.ATTEMPTS; attempt++) {
      assertThat(excess).isEmpty();
      pairs.forEach(pair -> severed.says(pair / 6, List.of((long) pair % 6)));
      excess = severed.excess(members);
    }
    Set<Long> gone = excess.keySet();
    for (int pair : pairs) {
      long by = pair / 6;
      long to = pair % 6;
      assertThat(by == to || gone.contains(by) || gone.contains(to)).isTrue();
    }
    assertThat(excess.values()).noneMatch(Set::isEmpty);
    assertThat(severed.pairs()).isEmpty();
  }
}
