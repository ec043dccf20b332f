package io.regatta.rendezvous;

import static io.regatta.rendezvous.VirtualGroups.payloads;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.google.protobuf.ByteString;
import io.regatta.core.error.RegattaException;
import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.core.error.RegattaException.NotOwner;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.PeerLost;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.core.exchange.Wait;
import io.regatta.core.memory.HeapBudget;
import io.regatta.protocol.rendezvous.GatherReply;
import io.regatta.protocol.rendezvous.JoinReply;
import io.regatta.protocol.rendezvous.JoinRequest;
import io.regatta.protocol.rendezvous.Member;
import io.regatta.rendezvous.VirtualGroups.Answer;
import io.regatta.rendezvous.VirtualGroups.Views;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Stories of one group on a clock that only the test moves. */
class GroupsTest {

  /** When those are known to live who are heard. */
  private static final long LATER = 700;

  private static List<String> states(Views watch) {
    return watch.last().getMembersList().stream().map(Member::getState).toList();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8})
  void whenAllHaveComeInAnyOrder_thenAllAreAnsweredWithOneView(int worldSize) {
    VirtualGroups g = new VirtualGroups();
    List<Integer> order = new ArrayList<>(IntStream.range(0, worldSize).boxed().toList());
    Collections.shuffle(order, new Random(worldSize));
    List<Answer<JoinReply>> answers = new ArrayList<>();
    for (int rank : order) {
      assertThat(answers).noneMatch(Answer::isDone);
      answers.add(g.join(worldSize, rank));
    }
    for (int i = 0; i < worldSize; i++) {
      JoinReply reply = answers.get(i).value;
      assertThat(reply.getRank()).isEqualTo(order.get(i));
      assertThat(reply.getView()).isEqualTo(answers.get(0).value.getView());
      assertThat(reply.getLeaseMs()).isEqualTo(VirtualGroups.LEASE);
    }
    assertThat(answers.get(0).value.getView().getMembersList()).extracting(Member::getRank)
        .isEqualTo(IntStream.range(0, worldSize).boxed().toList());
  }

  @Test
  void whenSomeTakeAnyRank_thenTheNamedOnesGetTheirsAndTheOthersTheRest() {
    VirtualGroups g = new VirtualGroups();
    Answer<JoinReply> first = g.join(4, -1);
    Answer<JoinReply> zero = g.join(4, 0);
    Answer<JoinReply> second = g.join(4, -1);
    Answer<JoinReply> two = g.join(4, 2);
    assertThat(List.of(first, zero, second, two)).extracting(a -> a.value.getRank()).containsExactly(1, 0, 3, 2);
  }

  @Test
  void whenARankIsHeld_thenTheSecondJoinIsRefusedAndNamesTheHolder() {
    VirtualGroups g = new VirtualGroups();
    g.join(2, 1, "host-a:77", 60_000);
    assertThatThrownBy(() -> g.join(2, 1, "host-b:88", 60_000)).isInstanceOf(Conflict.class)
        .hasMessageContaining("rank 1 of group g").hasMessageContaining("host-a:77").hasMessageContaining("take another");
    g.join(2, 0);
    g.pass(100);
    Answer<JoinReply> second = g.join(2, 1, "host-b:88", 60_000);
    Answer<JoinReply> any = g.join(2, -1);
    assertThatThrownBy(() -> g.join(2, -1)).isInstanceOf(Conflict.class).hasMessageContaining("as many newcomers wait");
    assertThatThrownBy(() -> g.join(3, 2)).isInstanceOf(Conflict.class).hasMessageContaining("world size 2");
    g.pass(100);
    assertThat(List.of(second, any)).as("the holders may be dead").noneMatch(Answer::isDone);
    assertThat(g.groups.waits().toString()).contains("host-b:88").contains("rank 1");
    g.heartbeat(1);
    g.pass(300);
    assertThat(second.isDone()).as("it may have sent that before it died").isFalse();
    g.pass(200);
    g.heartbeat(1);
    g.pass(100);
    assertThat(second.error).isInstanceOf(Conflict.class).hasMessageContaining("rank 1 of group g is held: rank 1 (host-a:77");
    assertThat(any.isDone()).as("rank 0 has not been heard").isFalse();
    g.heartbeat(0);
    g.pass(100);
    assertThat(any.error).isInstanceOf(Conflict.class).hasMessageContaining("full");
  }

  @Test
  void whenAKilledMemberIsStartedAgain_thenItGetsItsRankWithItsFormerLifesLease() {
    VirtualGroups g = VirtualGroups.formed(3);
    Views views = g.watch();
    g.pass(1000);
    Answer<JoinReply> again = g.join(3, 1);
    Answer<JoinReply> any = g.join(3, -1);
    for (int beats = 0; beats < 4; beats++) {
      g.pass(2000);
      g.heartbeat(0, 2);
    }
    assertThat(List.of(again, any)).noneMatch(Answer::isDone);
    g.pass(1200);
    assertThat(again.value.getRank()).isEqualTo(1);
    assertThat(again.value.getView().getMembersList()).allMatch(m -> m.getState().equals("active"));
    assertThat(views.ended).as("the same group, for the others live").isFalse();
    assertThat(any.error).as("all three live now").isInstanceOf(Conflict.class).hasMessageContaining("full");
  }

  @Test
  void whenAMemberLeaves_thenWhoWaitsForItsRankGetsItOnceTheOthersAreHeard() {
    VirtualGroups g = VirtualGroups.formed(2);
    g.pass(100);
    Answer<JoinReply> next = g.join(2, 1);
    g.leave(1);
    assertThat(next.isDone()).as("rank 0 may be dead: then this is another group's member").isFalse();
    g.pass(600);
    g.heartbeat(0);
    g.pass(100);
    assertThat(next.value.getRank()).isEqualTo(1);
  }

  @Test
  void whenAllAreKilledAndStartedAgain_thenTheyFormAnotherGroup() {
    VirtualGroups g = VirtualGroups.formed(2);
    Views views = g.watch();
    long last = views.last().getGeneration();
    g.pass(3000);
    g.heartbeat(0);
    g.pass(1000);
    Answer<JoinReply> zero = g.join(2, 0);
    Answer<JoinReply> gone = g.join(2, -1);
    gone.gone.run();
    Answer<JoinReply> one = g.join(2, 1);
    g.pass(8000);
    assertThat(views.last().getMembers(1).getState()).isEqualTo("lost");
    assertThat(List.of(zero, one)).as("rank 0 has a lease still").noneMatch(Answer::isDone);
    g.pass(1200);
    assertThat(List.of(zero, one)).extracting(a -> a.value.getRank()).containsExactly(0, 1);
    assertThat(views.ended).as("those who follow learn that all of the former lives are gone").isTrue();
    assertThat(zero.value.getView().getGeneration()).isGreaterThan(last + 2);
    assertThat(g.groups.size()).isOne();
  }

  @Test
  void whoWaitsForARankAndIsAloneThen_waitsForTheOthersOfTheNextGroup() {
    VirtualGroups g = VirtualGroups.formed(2);
    Answer<JoinReply> zero = g.join(2, 0, "trainer-0", 30_000);
    g.pass(11_000);
    assertThat(zero.isDone()).isFalse();
    assertThat(g.groups.waits().toString()).contains("rank 1").doesNotContain("rank 0");
    g.pass(20_000);
    assertThat(zero.error).isInstanceOf(PeerLost.class).hasMessageContaining("only 1 of 2");
    assertThat(g.groups.size()).isZero();
  }

  @Test
  void whoTakesAnyRank_leavesTheNamedOnesFree_alsoInAGroupThatHasFormed() {
    VirtualGroups g = VirtualGroups.formed(3);
    g.pass(100);
    Answer<JoinReply> any = g.join(3, -1);
    Answer<JoinReply> zero = g.join(3, 0);
    g.pass(11_000, 2);
    assertThat(List.of(any, zero)).extracting(a -> a.value.getRank()).containsExactly(1, 0);
  }

  @Test
  void whoWaitsForARank_goesAndEndsInTime() {
    VirtualGroups g = VirtualGroups.formed(1);
    Answer<JoinReply> late = g.join(1, 0, "late", 5_000);
    g.pass(5_000);
    assertThat(late.error).isInstanceOf(PeerLost.class).hasMessageContaining("rank 0 (trainer-0").hasMessageContaining("10.0 s");
    Answer<JoinReply> goes = g.join(1, 0);
    g.pass(5_000);
    goes.gone.run();
    g.pass(1_000);
    assertThat(g.groups.size()).as("its holder is lost, and nobody waits").isZero();
    assertThat(goes.isDone()).isFalse();
  }

  @Test
  void whenRankOrWorldSizeOrNameIsWrong_thenTheJoinIsRefusedAndNoGroupOpened() {
    VirtualGroups g = new VirtualGroups();
    assertThatThrownBy(() -> g.join(2, 2)).isInstanceOf(InvalidInput.class).hasMessageContaining("rank 2");
    assertThatThrownBy(() -> g.join(2, -2)).isInstanceOf(InvalidInput.class);
    assertThatThrownBy(() -> g.join(0, 0)).isInstanceOf(InvalidInput.class).hasMessageContaining("world size 0");
    assertThatThrownBy(() -> g.join(5000, 0)).isInstanceOf(InvalidInput.class).hasMessageContaining("4096");
    assertThatThrownBy(() -> g.join(2, 0, "", 1)).isInstanceOf(InvalidInput.class).hasMessageContaining("member");
    assertThat(g.groups.status("").getGroupsList()).isEmpty();
  }

  @Test
  void whenSomeDoNotCome_thenTheJoinEndsNamingThemAndTheRankIsFree() {
    VirtualGroups g = new VirtualGroups();
    Answer<JoinReply> zero = g.join(4, 0, "trainer-0", 5_000);
    Answer<JoinReply> two = g.join(4, 2, "trainer-2", 60_000);
    g.pass(4_900);
    assertThat(zero.isDone()).isFalse();
    g.pass(100);
    assertThat(zero.error).isInstanceOf(PeerLost.class).hasMessageContaining("only 2 of 4")
        .hasMessageContaining("missing ranks: 1, 3").hasMessageContaining("5.0 s")
        .hasMessageContaining("--ready-timeout").hasMessageNotContaining("trainer-0");
    assertThat(two.isDone()).isFalse();
    Answer<JoinReply> again = g.join(4, 0);
    g.join(4, 1);
    g.join(4, 3);
    assertThat(again.value.getRank()).isZero();
    assertThat(two.value.getRank()).isEqualTo(2);
  }

  @Test
  void whenAJoinOfAGroupThatIsNotElasticNamesAnIncarnation_thenItIsRefused() {
    VirtualGroups g = new VirtualGroups();
    g.join(3, 0);
    assertThatThrownBy(() -> g.groups.join(JoinRequest.newBuilder().setGroup("g").setWorldSize(3).setRank(0)
        .setMember("trainer-0")
        .setIncarnation(7).setTimeoutMs(60_000).build(), new Answer<JoinReply>())).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("not elastic").hasMessageContaining("incarnation 0, not 7");
    g.join(3, 1);
    assertThat(g.join(3, 2).value.getRank()).isEqualTo(2);
  }

  @Test
  void whenAMemberAsksAgainOverAnotherConnection_thenItsFormerCallIsOver() {
    VirtualGroups g = new VirtualGroups();
    Answer<JoinReply> first = reachable(g, 0);
    Answer<JoinReply> again = reachable(g, 0);
    assertThat(first.error).isInstanceOf(Cancelled.class).hasMessageContaining("asked again");
    Answer<JoinReply> one = g.join(2, 1);
    assertThat(again.value.getRank()).isZero();
    g.pass(11_000, 1);
    g.join(2, 0, "other", 60_000).gone.run();
    Answer<JoinReply> late = reachable(g, 0);
    Answer<JoinReply> later = reachable(g, 0);
    g.pass(LATER, 1);
    assertThat(late.error).isInstanceOf(Cancelled.class);
    assertThat(later.value.getRank()).isZero();
    assertThat(one.error).isNull();
  }

  private static Answer<JoinReply> reachable(VirtualGroups g, int rank) {
    Answer<JoinReply> answer = new Answer<>();
    g.groups.join(JoinRequest.newBuilder().setGroup("g").setWorldSize(2).setRank(rank)
        .setMember("trainer with pid 4711").setEndpoint("10.0.0.7:4000").setTimeoutMs(60_000).build(), answer);
    return answer;
  }

  @Test
  void whenTheLastLeaseAndAJoinEndAtOnce_thenWhoWaitedIsTakenToTheNextGroup() {
    VirtualGroups g = VirtualGroups.formed(1);
    Answer<JoinReply> next = g.join(1, 0, "next life", VirtualGroups.LEASE + VirtualGroups.TICK);
    g.pass(VirtualGroups.LEASE + VirtualGroups.TICK);
    assertThat(next.value.getRank()).isZero();
  }

  @Test
  void whenTheCallerOfAWaitingJoinHasGone_thenItsRankIsFreeAndAnEmptyGroupForgotten() {
    VirtualGroups g = new VirtualGroups();
    Answer<JoinReply> gone = g.join(2, 0, "first", 60_000);
    gone.gone.run();
    assertThat(g.groups.status("").getGroupsList()).isEmpty();
    Answer<JoinReply> zero = g.join(2, 0, "second", 60_000);
    g.join(2, 1);
    assertThat(zero.value.getView().getMembers(0).getMember()).isEqualTo("second");
    assertThat(gone.isDone()).isFalse();
  }

  @Test
  void whenAMemberSendsNoHeartbeat_thenItIsLostAfterTheLeaseAndWatchersAreTold() {
    VirtualGroups g = VirtualGroups.formed(3);
    Views watch = g.watch();
    long generation = watch.last().getGeneration();
    g.pass(VirtualGroups.LEASE, 0, 2);
    assertThat(states(watch)).containsExactly("active", "active", "active");
    g.pass(VirtualGroups.TICK, 0, 2);
    assertThat(states(watch)).containsExactly("active", "lost", "active");
    assertThat(watch.last().getGeneration()).isEqualTo(generation + 1);
    assertThat(watch.views).hasSize(2);
    assertThatThrownBy(() -> g.heartbeat(1)).isInstanceOf(StaleGeneration.class)
        .hasMessageContaining("rank 1 (trainer-1").hasMessageContaining("declared lost");
    assertThat(g.groups.heartbeat("g", 0, g.incarnation(0), 1)).isEqualTo(generation + 1);
  }

  @Test
  void whenTheHolderWasLostOrLeft_thenTheRankIsTakenAgainWithAHigherIncarnation() {
    VirtualGroups g = VirtualGroups.formed(3);
    Views watch = g.watch();
    long lost = g.incarnation(1);
    long left = g.incarnation(2);
    g.pass(VirtualGroups.LEASE + VirtualGroups.TICK, 0, 2);
    g.leave(2);
    Answer<JoinReply> one = g.join(3, 1, "trainer-1-again", 60_000);
    Answer<JoinReply> two = g.join(3, -1, "trainer-2-again", 60_000);
    g.pass(LATER, 0);
    assertThat(one.value.getIncarnation()).isGreaterThan(Math.max(lost, left));
    assertThat(two.value.getRank()).isEqualTo(2);
    assertThat(two.value.getIncarnation()).isGreaterThan(one.value.getIncarnation());
    assertThat(states(watch)).containsExactly("active", "active", "active");
    assertThatThrownBy(() -> g.groups.heartbeat("g", 1, lost, 0)).isInstanceOf(StaleGeneration.class)
        .hasMessageContaining("trainer-1-again");
    assertThatThrownBy(() -> g.groups.leave("g", 2, left)).isInstanceOf(StaleGeneration.class);
    assertThatThrownBy(() -> g.groups.heartbeat("g", 1, one.value.getIncarnation() + 99, 0))
        .isInstanceOf(StaleGeneration.class);
    assertThatThrownBy(() -> g.groups.heartbeat("g", 3, lost, 0)).isInstanceOf(InvalidInput.class);
  }

  @Test
  void whenTheLastMemberHasLeft_thenTheGroupIsForgottenAndItsWatchesEnd() {
    VirtualGroups g = VirtualGroups.formed(2);
    Views watch = g.watch();
    long generation = watch.last().getGeneration();
    g.leave(0);
    g.leave(0);
    assertThat(states(watch)).containsExactly("left", "active");
    Answer<Boolean> wait = new Answer<>();
    g.groups.await("g", List.of("never"), 60_000, wait);
    g.leave(1);
    assertThat(states(watch)).containsExactly("left", "left");
    assertThat(watch.ended).isTrue();
    assertThat(watch.brokenOff).isNull();
    assertThat(wait.error).isInstanceOf(StaleGeneration.class).hasMessageContaining("has ended");
    assertThat(g.groups.status("").getGroupsList()).isEmpty();
    assertThatThrownBy(() -> g.heartbeat(1)).isInstanceOf(StaleGeneration.class);
    assertThatThrownBy(g::watch).isInstanceOf(NotOwner.class).hasMessageContaining("no group g");
    assertThat(g.join(1, 0).value.getView().getGeneration()).isGreaterThan(generation + 2);
  }

  @Test
  void whenAllMembersAreLost_thenTheGroupIsForgotten() {
    VirtualGroups g = VirtualGroups.formed(2);
    Views watch = g.watch();
    g.pass(VirtualGroups.LEASE + VirtualGroups.TICK);
    assertThat(states(watch)).containsExactly("lost", "lost");
    assertThat(watch.ended).isTrue();
    assertThat(g.groups.status("").getGroupsList()).isEmpty();
  }

  @Test
  void whenTheRendezvousItselfStoodStill_thenNobodyIsDeclaredLostForIt() {
    VirtualGroups g = VirtualGroups.formed(2);
    Views watch = g.watch();
    g.pass(4_000);
    g.freeze(10 * VirtualGroups.LEASE);
    g.groups.expire();
    assertThat(states(watch)).containsExactly("active", "active");
    g.pass(VirtualGroups.LEASE - 4_000, 0);
    g.pass(VirtualGroups.TICK, 0);
    assertThat(states(watch)).containsExactly("active", "lost");
  }

  @Test
  void whenAllHaveGiven_thenEachGetsAllPayloadsInRankOrder() {
    VirtualGroups g = VirtualGroups.formed(3);
    Answer<GatherReply> two = g.gather(2, "k", "c");
    Answer<GatherReply> zero = g.gather(0, "k", "");
    assertThat(two.isDone()).isFalse();
    Answer<GatherReply> one = g.gather(1, "k", "b");
    for (Answer<GatherReply> answer : List.of(zero, one, two)) {
      assertThat(payloads(answer.value)).containsExactly("", "b", "c");
      assertThat(answer.value.getRanksList()).containsExactly(0, 1, 2);
    }
    assertThatThrownBy(() -> g.gather(0, "k", "")).isInstanceOf(Conflict.class).hasMessageContaining("is over");
  }

  @Test
  void whenAMemberLeavesOrIsLost_thenTheOthersGatherWithoutItButKeepWhatItGave() {
    VirtualGroups g = VirtualGroups.formed(4);
    Answer<GatherReply> zero = g.gather(0, "k", "a");
    g.gather(3, "k", "d");
    g.leave(1);
    g.leave(3);
    assertThat(zero.isDone()).isFalse();
    g.pass(VirtualGroups.LEASE + VirtualGroups.TICK, 0);
    assertThat(payloads(zero.value)).containsExactly("a", "d");
    assertThat(zero.value.getRanksList()).containsExactly(0, 3);
  }

  @Test
  void whenAMemberJoinsAfterAGatherWasOpened_thenItIsNotWaitedFor() {
    VirtualGroups g = VirtualGroups.formed(3);
    Answer<GatherReply> zero = g.gather(0, "k", "a");
    g.leave(1);
    g.join(3, 1, "new life", 60_000);
    g.pass(LATER, 0, 2);
    assertThat(zero.isDone()).isFalse();
    g.gather(2, "k", "c");
    assertThat(zero.value.getRanksList()).containsExactly(0, 2);
    assertThatThrownBy(() -> g.gather(1, "k", "b")).isInstanceOf(Conflict.class)
        .hasMessageContaining("rank 1 (new life) joined after it had begun");
  }

  @Test
  void whenAGatherTimesOut_thenItFailsAlikeForAllNamingWhoIsMissing() {
    VirtualGroups g = VirtualGroups.formed(3);
    g.groups.heartbeat("g", 1, g.incarnation(1), 402);
    Answer<GatherReply> zero = g.gather(0, "k", "a");
    g.pass(20_000, 0, 1, 2);
    Answer<GatherReply> two = g.gather(2, "k", "c");
    g.pass(10_000, 0, 1, 2);
    for (Answer<GatherReply> answer : List.of(zero, two)) {
      assertThat(answer.error).isInstanceOf(PeerLost.class).hasMessageContaining("gather k of group g")
          .hasMessageContaining("30.0 s").hasMessageContaining("given by ranks [0, 2]")
          .hasMessageContaining("missing rank 1 (trainer-1, last seen 0.0 s ago, step 402)");
    }
    assertThatThrownBy(() -> g.gather(1, "k", "b")).isInstanceOf(PeerLost.class).hasMessageContaining("timed out");
  }

  @Test
  void howeverManyGathersHaveEnded_thenANewcomerIsToldThatTheGroupIsUnderWay() {
    VirtualGroups g = VirtualGroups.formed(2);
    g.gather(0, "start", "");
    g.gather(1, "start", "");
    for (int i = 0; i < 2 * RendezvousConfig.defaults().limits().gathers(); i++) {
      g.gather(0, "k" + i, "");
      g.gather(1, "k" + i, "");
    }
    g.leave(1);
    g.join(2, 1, "new life", 60_000);
    g.pass(LATER, 0);
    assertThatThrownBy(() -> g.gather(1, "start", "")).isInstanceOf(Conflict.class)
        .hasMessageContaining("joined after it had begun");
    assertThat(g.gather(1, "k0", "").isDone()).as("the oldest others are forgotten").isFalse();
  }

  @Test
  void whenAGatherHasNoTimeout_thenItWaitsAsLongAsThoseLiveThatItWaitsFor() {
    VirtualGroups g = VirtualGroups.formed(3);
    Answer<GatherReply> patient = g.gather(0, "k", "a", 0);
    g.gather(2, "k", "c", 0);
    g.pass(2 * 3_600_000, 0, 1, 2); // twice rendezvous.max_wait_ms
    assertThat(patient.isDone()).isFalse();
    assertThat(g.groups.waits()).hasSize(2).allSatisfy(wait -> assertThat(wait.waitsFor()).hasSize(1));
    g.pass(VirtualGroups.LEASE + VirtualGroups.TICK, 0, 2);
    assertThat(payloads(patient.value)).containsExactly("a", "c");
  }

  @Test
  void whenAMemberGivesTheSameAgain_thenTheSecondCallIsAnsweredAndAnotherPayloadIsRefused() {
    VirtualGroups g = VirtualGroups.formed(2);
    Answer<GatherReply> lost = g.gather(0, "k", "a");
    Answer<GatherReply> again = g.gather(0, "k", "a");
    assertThat(lost.error).isInstanceOf(Cancelled.class);
    assertThatThrownBy(() -> g.gather(0, "k", "x")).isInstanceOf(Conflict.class);
    Answer<GatherReply> one = g.gather(1, "k", "b");
    assertThat(payloads(again.value)).containsExactly("a", "b");
    assertThat(one.value).isEqualTo(again.value);
  }

  @Test
  void whenTheCallerOfAGatherHasGone_thenItsPayloadStays() {
    VirtualGroups g = VirtualGroups.formed(2);
    Answer<GatherReply> gone = g.gather(0, "k", "a");
    gone.gone.run();
    Answer<GatherReply> one = g.gather(1, "k", "b");
    assertThat(payloads(one.value)).containsExactly("a", "b");
    assertThat(gone.isDone()).isFalse();
  }

  @Test
  void whenAnAnswerLeadsToTheNextCall_thenTheStateIsAlreadyConsistent() {
    VirtualGroups g = VirtualGroups.formed(2);
    List<RegattaException> errors = new ArrayList<>();
    g.groups.watch("g", new Watcher() {
      @Override
      public void changed(Views views) {
        io.regatta.protocol.rendezvous.GroupView view = views.since(0);
        if (view.getMembers(0).getState().equals("left") && view.getMembers(1).getState().equals("active")) {
          g.leave(1);
        }
      }

      @Override
      public void end(RegattaException reason) {
        try {
          g.groups.heartbeat("g", 1, g.incarnation(1), 0);
        } catch (RegattaException e) {
          errors.add(e);
        }
      }
    });
    g.leave(0);
    assertThat(g.groups.status("").getGroupsList()).isEmpty();
    assertThat(errors).singleElement().isInstanceOf(StaleGeneration.class);
  }

  @Test
  void whenSomethingWaits_thenWaitsSaysForWhom() {
    VirtualGroups g = VirtualGroups.formed(2);
    g.groups.heartbeat("g", 1, g.incarnation(1), 7);
    g.gather(0, "epoch-3/auc", "");
    g.groups.await("g", List.of("ready"), 1_000, new Answer<>());
    g.pass(500, 0, 1);
    List<String> sentences = g.groups.waits().stream().map(w -> w.sentence(VirtualGroups.START + 500)).toList();
    assertThat(sentences).containsExactly(
        "rank 0 waits at group g for rank 1 (last step 7), gather epoch-3/auc, since 0.5 s",
        "a caller waits at group g for key ready (nothing seen yet), wait for keys, since 0.5 s");
    assertThat(g.groups.waits().get(0).waitsFor()).extracting(Wait.Peer::lastSeenMillis)
        .containsExactly(VirtualGroups.START + 500);
  }

  @Test
  void whenTheStoreIsUsed_thenWaitsCountersAndDeletesWork() {
    VirtualGroups g = VirtualGroups.formed(1);
    Answer<Boolean> wait = new Answer<>();
    g.groups.await("g", List.of("a", "b"), 60_000, wait);
    g.groups.set("g", "a", ByteString.copyFromUtf8("1"));
    assertThat(g.groups.delete("g", "a")).isTrue();
    assertThat(g.groups.delete("g", "a")).isFalse();
    g.groups.set("g", "b", ByteString.EMPTY);
    assertThat(wait.isDone()).isFalse();
    assertThat(g.groups.add("g", "a", 5)).isEqualTo(5);
    assertThat(wait.value).isTrue();
    assertThat(g.groups.add("g", "a", -7)).isEqualTo(-2);
    assertThat(g.groups.get("g", "a")).hasValue(ByteString.copyFromUtf8("-2"));
    assertThat(g.groups.get("g", "none")).isEmpty();
    assertThatThrownBy(() -> g.groups.add("g", "b", 1)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("no decimal number");
    g.groups.add("g", "a", 3);
    assertThatThrownBy(() -> g.groups.add("g", "a", Long.MAX_VALUE)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("overflow");
    Answer<Boolean> late = new Answer<>();
    g.groups.await("g", List.of("a", "never"), 1_000, late);
    g.pass(1_000, 0);
    assertThat(late.error).isInstanceOf(PeerLost.class).hasMessageContaining("nobody has set never");
  }

  @Test
  void whenALimitIsReached_thenTheRequestIsRefusedNamingIt() {
    VirtualGroups g = new VirtualGroups(VirtualGroups.SMALL);
    g.join(2, 0);
    g.join(2, 1);
    assertThatThrownBy(() -> g.groups.join(io.regatta.protocol.rendezvous.JoinRequest.newBuilder().setGroup("other")
        .setWorldSize(1).setMember("m").build(), new Answer<>())).isInstanceOf(Overloaded.class)
        .hasMessageContaining("limits.groups");
    g.watch();
    assertThatThrownBy(g::watch).isInstanceOf(Overloaded.class).hasMessageContaining("limits.watchers");
    assertThatThrownBy(() -> g.gather(0, "k", "12345")).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("limits.payload_bytes");
    Answer<GatherReply> open = g.gather(0, "k", "1234");
    assertThatThrownBy(() -> g.gather(0, "l", "")).isInstanceOf(Overloaded.class)
        .hasMessageContaining("limits.gathers");
    assertThatThrownBy(() -> g.gather(1, "k", "123")).isInstanceOf(Overloaded.class)
        .hasMessageContaining("limits.gather_bytes");
    g.gather(1, "k", "12");
    assertThat(payloads(open.value)).containsExactly("1234", "12");
    g.groups.set("g", "a", ByteString.copyFromUtf8("1234"));
    assertThatThrownBy(() -> g.groups.set("g", "b", ByteString.EMPTY)).isInstanceOf(Overloaded.class)
        .hasMessageContaining("limits.keys");
    assertThatThrownBy(() -> g.groups.set("g", "a", ByteString.copyFromUtf8("12345"))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("limits.value_bytes");
    assertThatThrownBy(() -> g.groups.set("g", "a".repeat(21), ByteString.EMPTY)).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("limits.names");
    g.groups.await("g", List.of("x"), 1, new Answer<>());
    assertThatThrownBy(() -> g.groups.await("g", List.of("x"), 1, new Answer<>())).isInstanceOf(Overloaded.class)
        .hasMessageContaining("limits.waits");
    assertThatThrownBy(() -> g.lease(0, List.of("a", "b", "c"))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("limits.items");
  }

  @Test
  void whenTheRendezvousStops_thenEverythingThatWaitsIsTold() {
    VirtualGroups g = VirtualGroups.formed(2);
    Views watch = g.watch();
    Answer<GatherReply> gather = g.gather(0, "k", "");
    g.groups.close();
    assertThat(gather.error).isInstanceOf(PeerLost.class).hasMessageContaining("shutting down");
    assertThat(watch.brokenOff).isSameAs(gather.error);
  }

  /** Pulls wait for room, a gather cannot: a server that hosts the rendezvous may be full of other jobs' answers. */
  @Test
  void whenAnswersTakeAllTheirMemory_thenSmallGathersAreAnsweredAllTheSame() {
    VirtualGroups g = VirtualGroups.formed(2);
    long others = HeapBudget.ANSWERS.limit();
    HeapBudget.ANSWERS.add(others);
    long taken = HeapBudget.ANSWERS.taken();
    try {
      Answer<GatherReply> zero = g.gather(0, "barrier", "0");
      Answer<GatherReply> one = g.gather(1, "barrier", "1");
      assertThat(List.of(zero, one)).allSatisfy(answer -> assertThat(answer.error).isNull());
      assertThat(HeapBudget.ANSWERS.taken()).isEqualTo(taken);
    } finally {
      HeapBudget.ANSWERS.giveBack(others);
    }
  }

  /** Its connection, say, throws at a write: before or after the answer's memory has been given back. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void whenOneCannotBeAnswered_thenTheOthersAre_andTheReplysMemoryIsGivenBack(boolean sentBefore) {
    VirtualGroups g = VirtualGroups.formed(3);
    long taken = HeapBudget.ANSWERS.taken();
    List<Runnable> unsent = new ArrayList<>();
    g.groups.gather(VirtualGroups.giving(0, g.incarnation(0), "k"), (reply, error, sent) -> {
      if (sentBefore) {
        sent.run();
      }
      throw new IllegalStateException("closed");
    });
    g.groups.gather(VirtualGroups.giving(1, g.incarnation(1), "k"), (reply, error, sent) -> unsent.add(sent));
    Answer<GatherReply> two = g.gather(2, "k", "");
    assertThat(two.value).isNotNull();
    assertThat(HeapBudget.ANSWERS.taken()).as("it is still being sent to rank 1").isGreaterThan(taken);
    unsent.get(0).run();
    assertThat(HeapBudget.ANSWERS.taken()).isEqualTo(taken);
  }

  @Test
  void whenOneCannotBeToldThatAGatherHasFailed_thenTheOthersAreTold() {
    VirtualGroups g = VirtualGroups.formed(3);
    g.groups.gather(VirtualGroups.giving(0, g.incarnation(0), "k"), (reply, error, sent) -> {
      throw new IllegalStateException("closed");
    });
    Answer<GatherReply> one = g.gather(1, "k", "");
    g.pass(30_000, 0, 1, 2);
    assertThat(one.error).isInstanceOf(PeerLost.class).hasMessageContaining("timed out");
  }
}
