package io.regatta.collective.join;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.collective.Joining;
import io.regatta.collective.join.MembershipRecord.Entry;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.RunEnded;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

class MembershipRecordTest {
  private static Joining joining(String group, int min, int max, int rank) {
    return new Joining(group, min, max, rank, "m" + rank, "h:" + (rank + 2), Duration.ofSeconds(9), Duration.ZERO);
  }

  /** Members come, go and re-form at random: generations only grow, and ranks are 0 to n-1 within the allowed sizes. */
  @Property(tries = 200)
  void everyGenerationIsWholeAndNewer(@ForAll @IntRange(min = 1, max = 4) int min, @ForAll @IntRange(max = 3) int more,
      @ForAll Random random) {
    int max = min + more;
    MembershipRecord roll = MembershipRecord.of(joining("g", min, max, -1));
    long generation = roll.generation();
    for (int step = 0; step < 60; step++) {
      List<Entry> all = roll.everybody().toList();
      Entry one = all.isEmpty() ? null : all.get(random.nextInt(all.size()));
      boolean members = !roll.members().isEmpty();
      int what = random.nextInt(4);
      if (what == 0 && all.size() < max) {
        roll = roll.enter("id" + step, joining("g", min, max, -1));
      } else if (what == 1 && one != null) {
        roll = roll.without(List.of(one.id()));
      } else if (what == 2 && members) {
        roll = roll.reform(roll.members().get(random.nextInt(roll.members().size())).id());
      }
      roll = MembershipRecord.decode(roll.encode());
      if (roll.isReady(random.nextBoolean())) {
        List<Entry> waiting = roll.waiting();
        roll = roll.form(0);
        assertThat(roll.isWhole()).isTrue();
        assertThat(roll.members()).hasSizeBetween(min, max).extracting(Entry::rank)
            .isEqualTo(IntStream.range(0, waiting.size()).boxed().toList());
        for (Entry before : waiting) {
          if (!before.isNew() && before.rank() < waiting.size()) {
            assertThat(roll.member(before.id()).orElseThrow().rank()).as("keeps its rank").isEqualTo(before.rank());
          }
        }
      }
      assertThat(roll.generation()).isGreaterThanOrEqualTo(generation);
      generation = roll.generation();
    }
  }

  @Test
  void givenRanksAreKeptAndTheOthersFillTheRest() {
    MembershipRecord roll = MembershipRecord.of(joining("g", 4, 4, -1));
    for (int wanted : List.of(-1, 2, -1, 0)) {
      roll = roll.enter("id" + roll.waiting().size(), joining("g", 4, 4, wanted));
    }
    assertThat(roll.isReady(false)).isTrue();
    assertThat(roll.form(77).members()).extracting(Entry::id).containsExactly("id3", "id0", "id1", "id2");
    assertThat(roll.form(77).generation()).isEqualTo(77);
  }

  @Test
  void whoWantsTheRankOfALivingMemberDoesNotGetIt_thoughItComesFirst() {
    MembershipRecord formed = MembershipRecord.of(joining("g", 2, 4, -1)).enter("a", joining("g", 2, 4, -1)).enter("b", joining("g", 2, 4, 1)).form(5);
    assertThatThrownBy(() -> formed.enter("c", joining("g", 2, 4, 1))).as("b has asked for it").isInstanceOf(Conflict.class);
    MembershipRecord next = formed.enter("d", joining("g", 2, 4, 0)).reform("b").reform("a").form(6);
    assertThat(next.members()).extracting(Entry::id).as("a keeps what it has").containsExactly("a", "b", "d");
    MembershipRecord fixed = MembershipRecord.of(joining("g", 2, 2, -1)).enter("a", joining("g", 2, 2, -1)).enter("b", joining("g", 2, 2, -1)).form(5);
    assertThatThrownBy(() -> fixed.without(List.of("b")).enter("c", joining("g", 2, 2, 0))).isInstanceOf(Conflict.class)
        .hasMessageContaining("rank 0");
    assertThat(fixed.without(List.of("b")).enter("c", joining("g", 2, 2, 1)).reform("a").form(6).members())
        .extracting(Entry::id).containsExactly("a", "c");
  }

  @Test
  void aSmallGroupWaitsUntilNobodyElseComes_survivorsDoNot() {
    MembershipRecord roll = MembershipRecord.of(joining("g", 2, 4, -1));
    List<MembershipRecord> steps = new ArrayList<>(List.of(roll));
    for (String id : List.of("a", "b", "c")) {
      roll = roll.enter(id, joining("g", 2, 4, -1));
      steps.add(roll);
    }
    assertThat(steps.get(1).isReady(true)).as("below the minimum").isFalse();
    assertThat(roll.isReady(false)).isFalse();
    assertThat(roll.isReady(true)).isTrue();
    MembershipRecord broken = roll.form(5).without(List.of("a")).reform("b");
    assertThat(broken.isReady(true)).as("c has still to come").isFalse();
    assertThat(broken.missing()).contains("of generation 7 of group g these have not come").contains("rank 2 m-1 at h:1")
        .contains("For them wait rank 1 m-1 at h:1; look at what they do");
    assertThat(broken.reform("c").isReady(false)).isTrue();
    MembershipRecord last = broken.without(List.of("c"));
    assertThat(last.isReady(true)).as("one of at least two").isFalse();
    assertThat(last.end().isReady(false)).as("another, who is gone, was at its end").isTrue();
    assertThat(broken.end().isReady(true)).as("c lives, and has still to come").isFalse();
    assertThat(broken.reform("c").form(0).members()).extracting(Entry::id).containsExactly("c", "b");
  }

  @Test
  void whoCannotHaveASeatIsToldWhyAndWhatToDo() {
    MembershipRecord roll = MembershipRecord.of(joining("g", 2, 2, -1)).enter("a", joining("g", 2, 2, 1));
    assertThatThrownBy(() -> roll.enter("x", joining("other", 2, 2, -1))).isInstanceOf(Conflict.class)
        .hasMessageContaining("group g (m1 at h:3)").hasMessageContaining("scope of its own");
    assertThatThrownBy(() -> roll.enter("x", joining("g", 1, 2, -1))).isInstanceOf(Conflict.class)
        .hasMessageContaining("world size 2, and").hasMessageContaining("joins with 1 to 2");
    assertThatThrownBy(() -> roll.enter("x", joining("g", 2, 2, 1))).isInstanceOf(Conflict.class)
        .hasMessageContaining("rank 1 of group g is held by m1 at h:3").hasMessageContaining("take another");
    assertThatThrownBy(() -> roll.enter("x", new Joining("g", 2, 2, -1, "x", "127.0.0.1:7", Duration.ofSeconds(9),
        Duration.ZERO))).isInstanceOf(Conflict.class).hasMessageContaining("x publishes 127.0.0.1:7")
        .hasMessageContaining("m1 at h:3").hasMessageContaining("Configure the host");
    MembershipRecord full = roll.enter("b", joining("g", 2, 2, -1)).form(0);
    assertThatThrownBy(() -> full.enter("x", joining("g", 2, 2, -1))).isInstanceOf(Conflict.class)
        .hasMessageContaining("full").hasMessageContaining("too late").hasMessageContaining("wait until one");
    assertThat(roll.missing()).contains("only 1 of 2 members").contains("missing ranks: 0").contains("Start the missing");
  }

  private static Joining ofRun(String id) {
    return joining("g", 1, 2, -1).ofRun(id);
  }

  @Test
  void when_a_run_has_ended_with_success_then_its_newcomers_are_told_so_and_other_runs_begin() {
    MembershipRecord left = MembershipRecord.of(ofRun("run-1")).enter("a", ofRun("run-1")).enter("b", ofRun("run-2")).form(5).without(List.of("a"))
        .succeed(1000);
    MembershipRecord over = MembershipRecord.decode(left.without(List.of("b")).encode());
    for (MembershipRecord each : List.of(left, over)) {
      for (String id : List.of("run-1", "run-2")) {
        assertThatThrownBy(() -> each.enter("c", ofRun(id))).isInstanceOf(RunEnded.class).hasMessageContaining(id);
      }
    }
    MembershipRecord next = over.enter("c", ofRun("run-3"));
    assertThat(next.waiting()).hasSize(1);
    assertThatThrownBy(() -> next.enter("d", ofRun("run-1"))).as("also while the next one runs").isInstanceOf(RunEnded.class);
    assertThat(over.enter("c", joining("g", 1, 2, -1)).waiting()).as("without an id").hasSize(1);
  }

  /** Its member has trained nothing. */
  @Test
  void when_a_newcomer_of_another_run_has_only_waited_then_its_run_has_not_ended_with_success() {
    MembershipRecord waits = MembershipRecord.of(ofRun("run-1")).enter("a", ofRun("run-1")).form(5).enter("b", ofRun("run-2"));
    MembershipRecord ended = MembershipRecord.decode(waits.end().encode());
    assertThat(ended.awaitsEnd(ofRun("run-1"))).isTrue();
    assertThat(ended.awaitsEnd(ofRun("run-2"))).as("nothing of its run ends").isFalse();
    MembershipRecord succeeded = MembershipRecord.decode(ended.without(List.of("a")).succeed(1000).encode());
    assertThat(succeeded.late(ofRun("run-2"))).isInstanceOf(Conflict.class);
    assertThat(succeeded.without(List.of("b")).enter("c", ofRun("run-2")).waiting()).as("it can begin").hasSize(1);
    MembershipRecord both = waits.reform("a").form(6).succeed(1000);
    assertThat(both.late(ofRun("run-2"))).as("it was let in").isInstanceOf(RunEnded.class);
  }

  @Test
  void when_a_run_has_ended_without_success_then_it_may_begin_again() {
    MembershipRecord over = MembershipRecord.of(ofRun("run-1")).enter("a", ofRun("run-1")).form(5).without(List.of("a")).end();
    assertThat(over.enter("b", ofRun("run-1")).waiting()).hasSize(1);
  }

  @Test
  void remembersEndedRunsForADayAndNoMoreThanItsLimit() {
    Runs runs = Runs.NONE;
    for (int i = 0; i <= Runs.LIMIT; i++) {
      runs = runs.anew().with("run-" + i).succeed(1000);
    }
    assertThat(runs.ended()).hasSize(Runs.LIMIT);
    assertThat(runs.hasEnded("run-0")).isFalse();
    assertThat(runs.hasEnded("run-1")).isTrue();
    assertThat(runs.anew().with("last").succeed(1001 + 86_400_000).ended()).extracting(Runs.Ended::id).containsExactly("last");
  }

  /**
   * If a record is split in two, and each part loses the members of the other in any order, at most one part continues.
   */
  @Property(tries = 300)
  void noMoreThanOnePartOfASplitHasAMajority(@ForAll @IntRange(min = 1, max = 9) int members, @ForAll Random random) {
    MembershipRecord whole = MembershipRecord.of(joining("g", 1, 9, -1));
    for (int i = 0; i < members; i++) {
      whole = whole.enter("id" + i, joining("g", 1, 9, -1));
    }
    whole = whole.form(0);
    if (random.nextBoolean()) {
      whole = whole.without(List.of("id" + random.nextInt(members))); // left before
    }
    List<List<String>> parts = List.of(new ArrayList<>(), new ArrayList<>());
    whole.everybody().forEach(entry -> parts.get(random.nextInt(2)).add(entry.id()));
    MembershipRecord near = whole.lose(parts.get(1));
    MembershipRecord far = MembershipRecord.decode(whole.lose(parts.get(0)).encode());
    assertThat(parts.get(0).isEmpty() || parts.get(1).isEmpty() || near.hasMajority() != far.hasMajority())
        .as("exactly one of %s continues", parts).isTrue();
    if (!parts.get(0).isEmpty() && near.hasMajority()) {
      MembershipRecord formed = near;
      for (String id : parts.get(0)) {
        formed = formed.reform(id);
      }
      assertThat(formed.form(0).hasMajority()).as("the next generation begins to count anew").isTrue();
    }
  }
}
