package io.regatta.rendezvous;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.error.RegattaException;
import io.regatta.protocol.client.KnownGroup;
import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.protocol.rendezvous.JoinReply;
import io.regatta.protocol.rendezvous.JoinRequest;
import io.regatta.protocol.rendezvous.Member;
import io.regatta.rendezvous.VirtualGroups.Answer;
import java.util.ArrayList;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

/** The differences that watchers are sent: they give the whole views, and cost what has changed. */
class ViewDifferencesTest {

  /** A watcher that is sent differences, and may be slow. */
  private static final class Differences implements Watcher {
    final KnownGroup known = new KnownGroup();
    boolean slow;
    boolean ended;
    long entries;
    private Views unsent;

    @Override
    public void changed(Views views) {
      unsent = views;
      if (!slow) {
        take();
      }
    }

    void take() {
      if (unsent == null) {
        return;
      }
      GroupView message = unsent.since(known.number());
      unsent = null;
      entries += message.getMembersCount();
      assertThat(known.apply(message)).as("no view is missed").isTrue();
    }

    @Override
    public void end(RegattaException reason) {
      take();
      ended = true;
    }
  }

  @Property(tries = 300)
  void differencesGiveTheWholeViews_whateverMembersDo(@ForAll @IntRange(min = 1, max = 5) int worldSize,
      @ForAll @Size(max = 80) List<@IntRange(min = 0, max = 999) Integer> actions) {
    VirtualGroups g = new VirtualGroups();
    List<Differences> watchers = new ArrayList<>();
    for (int action : actions) {
      int rank = action % worldSize;
      try {
        switch (action / 100) {
          case 0, 1, 2, 3 -> g.join(worldSize, action % 7 == 0 ? -1 : rank, "m" + action, 20_000);
          case 4, 5 -> g.leave(rank);
          case 6 -> g.heartbeat(rank);
          case 7 -> g.pass(VirtualGroups.LEASE + VirtualGroups.TICK, rank);
          case 8 -> watch(g, watchers);
          default -> slow(watchers, action);
        }
      } catch (RegattaException refused) {
        assertThat(refused).hasMessageContaining("group");
      }
      check(g, watchers);
    }
  }

  /** In an elastic group, whose ranks are given anew in each generation, and whose newcomers wait. */
  @Property(tries = 300)
  void differencesGiveTheWholeViews_whateverMembersOfAnElasticGroupDo(
      @ForAll @Size(max = 80) List<@IntRange(min = 0, max = 999) Integer> actions) {
    VirtualGroups g = new VirtualGroups();
    List<Differences> watchers = new ArrayList<>();
    List<Answer<JoinReply>> joins = new ArrayList<>();
    for (int action : actions) {
      Answer<JoinReply> one = joins.isEmpty() ? null : joins.get(action % joins.size());
      JoinReply seat = one == null ? null : one.value;
      try {
        switch (action / 100) {
          case 0, 1 -> joins.add(elastic(g, 0, "m" + joins.size()));
          case 2, 3 -> {
            if (seat != null) {
              joins.add(elastic(g, seat.getIncarnation(), "again"));
            }
          }
          case 4 -> {
            if (seat != null) {
              g.groups.leave("g", seat.getRank(), seat.getIncarnation());
            }
          }
          case 5 -> {
            if (one != null) {
              one.gone.run();
            }
          }
          case 6 -> g.pass(1_000);
          case 7 -> {
            for (Answer<JoinReply> each : joins) {
              if (each.value != null && each != one) {
                beat(g, each.value);
              }
            }
            g.pass(VirtualGroups.LEASE / 2);
          }
          case 8 -> watch(g, watchers);
          default -> slow(watchers, action);
        }
      } catch (RegattaException refused) {
        assertThat(refused.getMessage()).isNotEmpty();
      }
      check(g, watchers);
    }
  }

  private static Answer<JoinReply> elastic(VirtualGroups g, long incarnation, String member) {
    Answer<JoinReply> answer = new Answer<>();
    answer.gone = g.groups.join(JoinRequest.newBuilder().setGroup("g").setMinWorldSize(1).setWorldSize(4).setRank(-1)
        .setMember(member).setEndpoint(member + ":1").setTimeoutMs(20_000).setSettleMs(500).setIncarnation(incarnation).build(), answer);
    return answer;
  }

  private static void beat(VirtualGroups g, JoinReply seat) {
    try {
      g.groups.heartbeat("g", seat.getRank(), seat.getIncarnation(), 0);
    } catch (RegattaException gone) {
      assertThat(gone.getMessage()).isNotEmpty();
    }
  }

  private static void watch(VirtualGroups g, List<Differences> watchers) {
    if (watchers.size() < 8) {
      Differences watcher = new Differences();
      g.groups.watch("g", watcher);
      watchers.add(watcher);
    }
  }

  private static void slow(List<Differences> watchers, int action) {
    if (!watchers.isEmpty()) {
      Differences watcher = watchers.get(action % watchers.size());
      watcher.slow = !watcher.slow;
      if (!watcher.slow) {
        watcher.take();
      }
    }
  }

  private static void check(VirtualGroups g, List<Differences> watchers) {
    watchers.removeIf(watcher -> watcher.ended);
    List<GroupView> groups = g.groups.status("").getGroupsList();
    if (groups.isEmpty()) {
      return;
    }
    GroupView whole = groups.get(0);
    for (Differences watcher : watchers) {
      if (!watcher.slow) {
        GroupView view = watcher.known.view();
        assertThat(members(view)).isEqualTo(members(whole));
        assertThat(view.getGeneration()).isEqualTo(whole.getGeneration());
        assertThat(view.getWorldSize()).isEqualTo(whole.getWorldSize());
      }
      // Newcomers that give up are not announced: a member has them with the next change. Asking shows the same for both.
      KnownGroup asking = new KnownGroup();
      asking.apply(watcher.known.view());
      assertThat(asking.apply(g.groups.status("g", asking.number()).getGroups(0))).isTrue();
      assertThat(members(asking.view())).isEqualTo(members(whole));
      assertThat(asking.view().getWaitingList()).isEqualTo(whole.getWaitingList());
      assertThat(asking.view().getAskedList()).isEqualTo(whole.getAskedList());
    }
  }

  private static List<Member> members(GroupView view) {
    return view.getMembersList().stream().map(m -> m.toBuilder().clearLastStep().clearExamples().build()).toList();
  }

  @Test
  void eachWatcherIsSentTwoEntriesOfEachMember_whenAThousandLeaveOneByOne() {
    int members = 1000;
    VirtualGroups g = VirtualGroups.formed(members);
    List<Differences> watchers = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      Differences watcher = new Differences();
      g.groups.watch("g", watcher);
      watchers.add(watcher);
    }
    for (int rank = 0; rank < members; rank++) {
      g.leave(rank);
    }
    for (Differences watcher : watchers) {
      assertThat(watcher.ended).isTrue();
      assertThat(watcher.known.members()).allMatch(m -> m.getState().equals("left"));
      assertThat(watcher.entries).as("entries sent").isEqualTo(2L * members);
    }
  }

  @Test
  void aWatcherGetsTheWholeView_whenTheOneItHasIsOfAnotherLifeOfTheGroup() {
    VirtualGroups g = VirtualGroups.formed(2);
    GroupView whole = g.groups.status("g").getGroups(0);
    assertThat(g.groups.status("g", whole.getNumber()).getGroups(0).getMembersList()).isEmpty();
    assertThat(g.groups.status("g", whole.getNumber() + 1).getGroups(0)).as("of the future").isEqualTo(whole);
    assertThat(g.groups.status("g", 1).getGroups(0)).as("from before it was opened").isEqualTo(whole);
  }

  @Test
  void aDifferenceIsRefused_whenAViewWasMissed() {
    KnownGroup known = new KnownGroup();
    assertThat(known.apply(GroupView.newBuilder().setNumber(5).setSince(4).build())).isFalse();
    known.apply(GroupView.newBuilder().setNumber(5).setWorldSize(1).addMembers(Member.newBuilder().setState("active")).build());
    assertThat(known.apply(GroupView.newBuilder().setNumber(7).setSince(6).build())).isFalse();
    assertThat(known.number()).isEqualTo(5);
    GroupView late = GroupView.newBuilder().setNumber(4).setSince(3).setWorldSize(1)
        .addMembers(Member.newBuilder().setState("lost")).build();
    assertThat(known.apply(late)).as("an old one changes nothing").isTrue();
    assertThat(known.members()).singleElement().matches(m -> m.getState().equals("active"));
  }
}
