package io.regatta.rendezvous;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

class UnreachablePairsTest {

  /**
   * With any reports, repeated: in the end the remaining members can all reach each other, and no member leaves that is
   * in no pair.
   */
  @Property
  void thoseWhoAreLeftReachEachOther(@ForAll @Size(max = 12) List<@IntRange(max = 35) Integer> pairs) {
    Set<Long> members = new TreeSet<>(Set.of(0L, 1L, 2L, 3L, 4L, 5L));
    UnreachablePairs severed = new UnreachablePairs();
    for (int attempt = 1; attempt <= 6 * UnreachablePairs.ATTEMPTS; attempt++) {
      pairs.stream().filter(pair -> members.contains((long) pair / 6)).forEach(pair -> severed.says(pair / 6, List.of((long) pair % 6)));
      Optional<UnreachablePairs.Excess> excess = severed.excess(members);
      assertThat(excess.isPresent() && attempt % UnreachablePairs.ATTEMPTS != 0).as("only after so many").isFalse();
      excess.ifPresent(who -> {
        assertThat(who.others()).isNotEmpty().isSubsetOf(members).doesNotContain(who.incarnation());
        members.remove(who.incarnation());
      });
    }
    for (int pair : pairs) {
      assertThat(pair / 6 == pair % 6 || !members.contains((long) pair / 6) || !members.contains((long) pair % 6)).isTrue();
    }
    assertThat(severed.pairs()).isEmpty();
  }

  /** Each time another pair, as when members that give a generation up look unreachable to others. */
  @Test
  void whoIsNotInWhatIsSaidEachTimeNeedNotGo() {
    UnreachablePairs severed = new UnreachablePairs();
    long[][] pairs = {{0, 1}, {2, 3}, {0, 2}, {1, 3}};
    for (int attempt = 0; attempt < 10 * UnreachablePairs.ATTEMPTS; attempt++) {
      long[] pair = pairs[attempt % pairs.length];
      severed.says(pair[0], List.of(pair[1]));
      assertThat(severed.excess(Set.of(0L, 1L, 2L, 3L))).isEmpty();
    }
  }

  /** One pair is never reported twice, but the same member is in each report. */
  @Test
  void whomAnotherCannotReachEachTimeMustGo() {
    UnreachablePairs severed = new UnreachablePairs();
    for (long by = 1; by < UnreachablePairs.ATTEMPTS; by++) {
      severed.says(by, List.of(0L));
      assertThat(severed.excess(Set.of(0L, 1L, 2L, 3L))).isEmpty();
    }
    severed.says(0, List.of(3L));
    assertThat(severed.excess(Set.of(0L, 1L, 2L, 3L))).hasValueSatisfying(who -> assertThat(who.incarnation()).isZero());
  }
}
