package io.regatta.rendezvous;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.error.RegattaException;
import io.regatta.protocol.rendezvous.GatherReply;
import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.protocol.rendezvous.JoinReply;
import io.regatta.protocol.rendezvous.LeaseReply;
import io.regatta.protocol.rendezvous.Member;
import io.regatta.rendezvous.VirtualGroups.Answer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;

/** Invariants for any calls of members in any order, and any silence. */
class GroupsPropertyTest {
  private static final List<String> ITEMS = List.of("a", "b", "c", "d", "e");

  @Property(tries = 500)
  void whateverMembersDo_theInvariantsHoldAndEveryCallIsAnsweredOnce(
      @ForAll @IntRange(min = 1, max = 4) int worldSize,
      @ForAll @Size(max = 80) List<@IntRange(min = 0, max = 999) Integer> actions) {
    VirtualGroups g = new VirtualGroups();
    List<Answer<?>> waiting = new ArrayList<>();
    Invariants invariants = new Invariants();
    Map<Long, String> held = new HashMap<>();
    int keys = 0;
    for (int action : actions) {
      int rank = action % worldSize;
      try {
        switch (action / 100) {
          case 0, 1, 2 -> waiting.add(g.join(worldSize, action % 7 == 0 ? -1 : rank, "m" + waiting.size(), 20_000));
          case 3 -> g.leave(rank);
          case 4 -> g.pass(1_000, activeRanks(g, action));
          case 5 -> g.pass(VirtualGroups.LEASE + VirtualGroups.TICK, activeRanks(g, action));
          case 6, 7 -> waiting.add(g.gather(rank, "key-" + (keys++ / worldSize), "p" + rank));
          default -> {
            String mine = held.remove(g.incarnation(rank));
            LeaseReply reply = mine == null ? g.lease(rank, ITEMS) : g.lease(rank, ITEMS, mine);
            if (!reply.getItem().isEmpty()) {
              held.put(g.incarnation(rank), reply.getItem());
            }
          }
        }
      } catch (RegattaException refused) {
        assertThat(refused).hasMessageContaining("group");
      }
      g.groups.status("").getGroupsList().forEach(invariants::check);
      assertThat(activeHeldItems(g, held)).doesNotHaveDuplicates();
    }
    g.pass(60_000, activeRanks(g, 0));
    g.groups.close();
    assertThat(waiting).allMatch(Answer::isDone);
    for (Answer<?> answer : waiting) {
      if (answer.value instanceof JoinReply reply) {
        assertThat(invariants.incarnations.add(reply.getIncarnation())).as("issued once").isTrue();
      }
      if (answer.value instanceof GatherReply reply) {
        assertThat(reply.getRanksList()).isSorted().doesNotHaveDuplicates();
      }
    }
    assertThat(g.groups.status("").getGroupsList()).isEmpty();
    assertThat(g.groups.waits()).isEmpty();
  }

  private static final class Invariants {
    final Set<Long> incarnations = new HashSet<>();
    private final Map<Integer, Long> highest = new HashMap<>();
    private long generation;

    void check(GroupView view) {
      assertThat(view.getGeneration()).isGreaterThanOrEqualTo(generation);
      generation = view.getGeneration();
      for (Member member : view.getMembersList()) {
        assertThat(view.getMembers(member.getRank())).isSameAs(member);
        assertThat(member.getIncarnation()).isGreaterThanOrEqualTo(highest.getOrDefault(member.getRank(), 0L));
        highest.put(member.getRank(), member.getIncarnation());
      }
    }
  }

  /** Those of the active ranks whose bit in the mask is 0: the others fall silent. */
  private static int[] activeRanks(VirtualGroups g, int mask) {
    return g.groups.status("").getGroupsList().stream().flatMap(v -> v.getMembersList().stream())
        .filter(m -> m.getState().equals("active")).mapToInt(Member::getRank)
        .filter(r -> (mask >> r & 1) == 0).toArray();
  }

  private static List<String> activeHeldItems(VirtualGroups g, Map<Long, String> held) {
    List<String> items = new ArrayList<>();
    g.groups.status("").getGroupsList().stream().flatMap(v -> v.getMembersList().stream())
        .filter(m -> m.getState().equals("active")).forEach(m -> {
          if (held.containsKey(m.getIncarnation())) {
            items.add(held.get(m.getIncarnation()));
          }
        });
    return items;
  }
}
