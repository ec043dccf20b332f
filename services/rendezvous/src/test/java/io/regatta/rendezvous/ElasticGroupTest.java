package io.regatta.rendezvous;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.protocol.rendezvous.GatherReply;
import io.regatta.protocol.rendezvous.GatherRequest;
import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.protocol.rendezvous.JoinReply;
import io.regatta.protocol.rendezvous.JoinRequest;
import io.regatta.protocol.rendezvous.Member;
import io.regatta.rendezvous.VirtualGroups.Answer;
import io.regatta.rendezvous.VirtualGroups.Views;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Stories of one elastic group of 2 to 4 members on a clock that only the test moves. */
class ElasticGroupTest {
  private static final long SETTLE = 3000;

  private final VirtualGroups g = new VirtualGroups();

  private Answer<JoinReply> join(String member, int rank, long incarnation) {
    return join(member, rank, incarnation, 2, 4);
  }

  private Answer<JoinReply> join(String member, int rank, long incarnation, int min, int max) {
    return join(member, rank, incarnation, min, max, false);
  }

  private Answer<JoinReply> join(String member, int rank, long incarnation, int min, int max, boolean ending) {
    return join(JoinRequest.newBuilder().setMinWorldSize(min).setWorldSize(max).setRank(rank).setMember(member)
        .setTimeoutMs(20_000).setIncarnation(incarnation).setEnding(ending));
  }

  private Answer<JoinReply> join(JoinRequest.Builder how) {
    Answer<JoinReply> answer = new Answer<>();
    answer.gone = g.groups.join(how.setGroup("g").setEndpoint(how.getMember() + ":1").setSettleMs(SETTLE).build(), answer);
    return answer;
  }

  private Answer<JoinReply> atTheEnd(Answer<JoinReply> member) {
    return join("again", member.value.getRank(), member.value.getIncarnation(), 2, 4, true);
  }

  private Answer<JoinReply> again(Answer<JoinReply> member) {
    return join("again", member.value.getRank(), member.value.getIncarnation());
  }

  private void beat(long millis, List<Answer<JoinReply>> alive) {
    for (long passed = 0; passed < millis; passed += 1000) {
      g.pass(1000);
      alive.forEach(m -> g.groups.heartbeat("g", m.value.getRank(), m.value.getIncarnation(), 0));
    }
  }

  private static List<String> endpoints(JoinReply reply) {
    return reply.getView().getMembersList().stream().map(Member::getEndpoint).toList();
  }

  @Test
  void whenTheMaximumHasCome_thenItFormsAtOnce_andWithFewerWhenNobodyElseComes() {
    Answer<JoinReply> a = join("a", -1, 0);
    Answer<JoinReply> b = join("b", 0, 0);
    g.pass(SETTLE - 100);
    Answer<JoinReply> c = join("c", -1, 0);
    g.pass(SETTLE - 100);
    assertThat(List.of(a, b, c)).noneMatch(Answer::isDone);
    g.pass(200);
    assertThat(List.of(a, b, c)).extracting(m -> m.value.getRank()).containsExactly(1, 0, 2);
    assertThat(endpoints(a.value)).containsExactly("b:1", "a:1", "c:1");
    assertThat(b.value.getView()).isEqualTo(a.value.getView());
    assertThat(a.value.getView().getWorldSize()).isEqualTo(3);

    VirtualGroups full = new VirtualGroups();
    assertThat(full.join(2, 0).isDone()).as("a group that is not elastic").isFalse();
  }

  @Test
  void whenAMemberIsLost_thenTheOthersFormTheNextGenerationAtOnce_keepingRanksAndLives() {
    List<Answer<JoinReply>> first = List.of(join("a", -1, 0), join("b", -1, 0), join("c", -1, 0), join("d", -1, 0));
    Views views = g.watch();
    beat(9000, first.subList(1, 4));
    Answer<JoinReply> c = again(first.get(2));
    assertThat(c.isDone()).as("a still holds its lease, b and d have not come").isFalse();
    assertThat(views.last().getGeneration()).as("over for all").isGreaterThan(first.get(0).value.getView().getGeneration());
    beat(3000, first.subList(1, 4));
    assertThat(views.last().getMembers(0).getState()).isEqualTo("lost");
    Answer<JoinReply> b = again(first.get(1));
    assertThat(b.isDone()).isFalse();
    Answer<JoinReply> d = again(first.get(3));
    assertThat(endpoints(d.value)).containsExactly("d:1", "b:1", "c:1");
    assertThat(List.of(b, c, d)).extracting(m -> m.value.getRank()).containsExactly(1, 2, 0);
    assertThat(d.value.getIncarnation()).isEqualTo(first.get(3).value.getIncarnation());
    g.groups.heartbeat("g", 3, d.value.getIncarnation(), 0); // sent before it knew of its new rank
    assertThatThrownBy(() -> again(first.get(0))).isInstanceOf(StaleGeneration.class).hasMessageContaining("Join again");
  }

  @Test
  void newcomersAreSeenAndTakenInWithTheNextGeneration() {
    Answer<JoinReply> a = join("a", -1, 0);
    Answer<JoinReply> b = join("b", -1, 0);
    g.pass(SETTLE);
    Views views = g.watch();
    Answer<JoinReply> c = join("c", -1, 0);
    assertThat(c.isDone()).isFalse();
    GroupView seen = views.last();
    assertThat(seen.getWaitingList()).containsExactly("c at c:1");
    assertThat(seen.getGeneration()).as("nothing has changed yet").isEqualTo(a.value.getView().getGeneration());
    Answer<GatherReply> open = new Answer<>();
    g.groups.gather(GatherRequest.newBuilder().setGroup("g").setRank(0).setIncarnation(a.value.getIncarnation())
        .setKey("k").setPayload(ByteString.EMPTY).build(), VirtualGroups.to(open));
    Answer<JoinReply> next = again(a);
    assertThat(open.isDone()).isFalse();
    again(b);
    assertThat(open.error).isInstanceOf(StaleGeneration.class);
    assertThat(c.value.getRank()).isEqualTo(2);
    assertThat(c.value.getView()).isEqualTo(next.value.getView());
    assertThat(c.value.getView().getWaitingList()).isEmpty();
  }

  @Test
  void belowTheMinimumTheRestWaitUntilItIsMetAgain() {
    Answer<JoinReply> a = join("a", -1, 0);
    Answer<JoinReply> b = join("b", -1, 0);
    g.pass(SETTLE);
    g.groups.leave("g", b.value.getRank(), b.value.getIncarnation());
    Answer<JoinReply> alone = again(a);
    beat(2 * SETTLE, List.of(a));
    assertThat(alone.isDone()).isFalse();
    Answer<JoinReply> c = join("c", -1, 0);
    assertThat(endpoints(alone.value)).containsExactly("a:1", "c:1");
    assertThat(c.value.getRank()).isEqualTo(1);
  }

  @Test
  void belowTheMinimumAMemberWaitsAsLongAsItSays_beyondTheLongestWaitOfWhoIsNoMember() {
    Answer<JoinReply> a = join("a", -1, 0);
    Answer<JoinReply> b = join("b", -1, 0);
    g.pass(SETTLE);
    g.groups.leave("g", b.value.getRank(), b.value.getIncarnation());
    Answer<JoinReply> alone = join(JoinRequest.newBuilder().setMinWorldSize(2).setWorldSize(4).setRank(-1).setMember("a")
        .setTimeoutMs(Long.MAX_VALUE).setIncarnation(a.value.getIncarnation()));
    beat(2 * RendezvousConfig.defaults().maxWaitMs(), List.of(a));
    assertThat(alone.isDone()).isFalse();
    assertThat(g.groups.waits()).hasSize(1);
    Answer<JoinReply> c = join("c", -1, 0);
    assertThat(endpoints(alone.value)).containsExactly("a:1", "c:1");
    g.groups.leave("g", c.value.getRank(), c.value.getIncarnation());
    Answer<JoinReply> again = join(JoinRequest.newBuilder().setMinWorldSize(2).setWorldSize(4).setRank(-1).setMember("a")
        .setTimeoutMs(Long.MAX_VALUE).setIncarnation(a.value.getIncarnation()));
    g.pass(VirtualGroups.LEASE + 2 * VirtualGroups.TICK);
    assertThat(again.error).as("it lives by its heartbeats only").isInstanceOf(StaleGeneration.class);
  }

  @Test
  void atTheEndAllWhoLiveFormTheLastGenerations_beTheyFewerThanTheMinimum() {
    List<Answer<JoinReply>> first = List.of(join("a", -1, 0), join("b", -1, 0), join("c", -1, 0), join("d", -1, 0));
    g.groups.leave("g", 3, first.get(3).value.getIncarnation());
    Answer<JoinReply> a = atTheEnd(first.get(0));
    beat(15_000, first.subList(0, 2));
    assertThat(a.isDone()).as("b lives, and is waited for; c is lost").isFalse();
    Answer<JoinReply> b = again(first.get(1)); // does not know yet that it is at its end
    assertThat(endpoints(a.value)).containsExactly("a:1", "b:1");
    g.groups.leave("g", b.value.getRank(), b.value.getIncarnation());
    assertThat(endpoints(atTheEnd(a).value)).containsExactly("a:1");
  }

  @Test
  void whoIsLeftBehindTheEndFormsBelowTheMinimum_thoughWhoSaidSoIsGone() {
    List<Answer<JoinReply>> first = List.of(join("a", -1, 0), join("b", -1, 0), join("c", -1, 0), join("d", -1, 0));
    Answer<JoinReply> a = atTheEnd(first.get(0));
    beat(15_000, first.subList(1, 2)); // all others are killed; b does not know yet that it is at its end
    assertThat(a.error).isInstanceOf(StaleGeneration.class);
    Answer<JoinReply> b = again(first.get(1));
    assertThat(endpoints(b.value)).containsExactly("b:1");
  }

  @Test
  void whoWaitsInVainIsToldForWhom() {
    Answer<JoinReply> a = join("a", -1, 0);
    g.pass(20_000);
    assertThat(a.error).isInstanceOf(PeerLost.class).hasMessageContaining("only 1 of at least 2 members of group g");
    Answer<JoinReply> b = join("b", -1, 0);
    Answer<JoinReply> c = join("c", -1, 0);
    g.pass(SETTLE);
    Answer<JoinReply> late = join("late", -1, 0);
    beat(8000, List.of(b, c));
    Answer<JoinReply> next = again(b);
    beat(20_000, List.of(b, c));
    assertThat(next.error).isInstanceOf(PeerLost.class).hasMessageContaining("have not come to form its next generation")
        .hasMessageContaining("rank 1 (c at c:1");
    assertThat(late.isDone()).as("they live, and may let it in").isFalse();
  }

  @Test
  void whoWantsTheRankOfALivingMemberDoesNotGetIt_thoughItComesFirst() {
    Answer<JoinReply> a = join("a", -1, 0);
    Answer<JoinReply> b = join("b", 1, 0);
    g.pass(SETTLE);
    Answer<JoinReply> d = join("d", 0, 0); // a has it, and takes any
    Answer<JoinReply> nextB = join("b", 1, b.value.getIncarnation());
    Answer<JoinReply> nextA = join("a", -1, a.value.getIncarnation());
    assertThat(List.of(nextA, nextB, d)).extracting(m -> m.value.getRank()).containsExactly(0, 1, 2);
    assertThat(nextA.value.getIncarnation()).isEqualTo(a.value.getIncarnation());

    Views views = g.watch();
    Answer<JoinReply> same = join("same", 1, 0);
    assertThat(same.isDone()).as("b may be dead, and this its next life").isFalse();
    assertThat(views.last().getWaitingList()).as("nobody is to make room for it yet").isEmpty();
    beat(1000, List.of(nextA, nextB, d));
    g.pass(100);
    assertThat(same.error).as("b lives").isInstanceOf(Conflict.class)
        .hasMessageContaining("rank 1 of group g is held: rank 1 (b at b:1");

    Answer<JoinReply> again = join("again", 1, 0);
    beat(11_000, List.of(nextA, d));
    assertThat(again.isDone()).isFalse();
    assertThat(views.last().getWaitingList()).as("b is lost").containsExactly("again at again:1");
    again(nextA);
    again(d);
    assertThat(again.value.getRank()).isEqualTo(1);
  }

  @Test
  void aMemberWhoseRankANewcomerWantsFormsTheNextGenerationAllTheSame() {
    Answer<JoinReply> a = join("a", 0, 0);
    Answer<JoinReply> b = join("b", 1, 0);
    g.pass(SETTLE);
    Answer<JoinReply> same = join("same", 1, 0);
    g.pass(100);
    Answer<JoinReply> nextB = join("b", 1, b.value.getIncarnation());
    assertThat(same.error).isInstanceOf(Conflict.class);
    Answer<JoinReply> nextA = join("a", 0, a.value.getIncarnation());
    assertThat(List.of(nextA, nextB)).extracting(m -> m.value.getRank()).containsExactly(0, 1);
  }

  @Test
  void theNextLifeOfADeadMemberOfAFullGroupWaitsForItsSeat() {
    List<Answer<JoinReply>> first = List.of(join("a", 0, 0), join("b", 1, 0), join("c", 2, 0), join("d", 3, 0));
    Views views = g.watch();
    g.pass(100);
    Answer<JoinReply> again = join("d again", 3, 0);
    Answer<JoinReply> any = join("any", -1, 0);
    beat(5000, first.subList(0, 3));
    assertThat(List.of(again, any)).noneMatch(Answer::isDone);
    assertThat(views.last().getWaitingList()).isEmpty();
    beat(6000, first.subList(0, 3));
    assertThat(views.last().getMembers(3).getState()).isEqualTo("lost");
    assertThat(views.last().getWaitingList()).containsExactly("d again at d again:1");
    assertThat(any.error).as("the seat is taken, and the others live").isInstanceOf(Conflict.class).hasMessageContaining("full");
    first.subList(0, 3).forEach(this::again);
    assertThat(again.value.getRank()).isEqualTo(3);
    assertThat(again.value.getView().getWorldSize()).isEqualTo(4);
  }

  @Test
  void strangersAndLateOnesAreRefused() {
    List<Answer<JoinReply>> first = List.of("a", "b", "c", "d").stream().map(member -> join(member, -1, 0)).toList();
    Answer<JoinReply> late = join("e", -1, 0);
    assertThat(late.isDone()).as("one of them may be dead").isFalse();
    beat(1000, first);
    g.pass(100);
    assertThat(late.error).isInstanceOf(Conflict.class).hasMessageContaining("full")
        .hasMessageContaining("rank 0 (a at a:1").hasMessageContaining("wait until one");
    assertThatThrownBy(() -> join("e", -1, 0, 1, 4)).isInstanceOf(Conflict.class)
        .hasMessageContaining("world size 2 to 4 (elastic)").hasMessageContaining("1 to 4 (elastic)");
    assertThatThrownBy(() -> g.join(4, 0)).isInstanceOf(Conflict.class).hasMessageContaining("world size 4;");
    assertThatThrownBy(() -> join("e", 0, 77)).isInstanceOf(StaleGeneration.class);
    VirtualGroups other = new VirtualGroups();
    assertThatThrownBy(() -> other.groups.join(JoinRequest.newBuilder().setGroup("g").setMinWorldSize(3).setWorldSize(2)
        .setMember("x").build(), new Answer<>())).isInstanceOf(InvalidInput.class).hasMessageContaining("smallest");
    assertThat(other.groups.status("").getGroupsList()).isEmpty();
  }
}
