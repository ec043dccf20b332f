package io.regatta.rendezvous;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.StaleGeneration;
import io.regatta.protocol.rendezvous.JoinReply;
import io.regatta.protocol.rendezvous.JoinRequest;
import io.regatta.protocol.rendezvous.Member;
import io.regatta.rendezvous.VirtualGroups.Answer;
import io.regatta.rendezvous.VirtualGroups.Views;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Members of an elastic group of 1 to 4 who say of others that they cannot reach them; on a clock that only the test moves. */
class ElasticFormationTest {
  private static final long ANSWER = RendezvousConfig.defaults().answerMs();

  private final VirtualGroups g = new VirtualGroups();
  private final List<One> all = new ArrayList<>();
  private One a;
  private One b;
  private One c;
  private One d;

  /** One member. */
  private final class One {
    private final String name;
    private Answer<JoinReply> join = new Answer<>();
    private long incarnation;
    private Views views;
    private Runnable stream;

    One(String name) {
      this.name = name;
      join(JoinRequest.newBuilder());
      all.add(this);
    }

    private void join(JoinRequest.Builder how) {
      Answer<JoinReply> answer = new Answer<>();
      join = answer;
      join.gone = g.groups.join(how.setGroup("g").setMinWorldSize(1).setWorldSize(4).setRank(-1).setMember(name)
          .setEndpoint(name + ":1").setTimeoutMs(60_000).setSettleMs(1000).setIncarnation(incarnation).build(), answer);
    }

    /** Ends the generation. */
    void again(One... unreachable) {
      JoinRequest.Builder how = JoinRequest.newBuilder().setInVain(true);
      List.of(unreachable).forEach(other -> how.addUnreachable(other.incarnation));
      join(how);
    }

    void follow() {
      incarnation = join.value.getIncarnation();
      views = new Views();
      stream = g.groups.watch("g", incarnation, views);
    }

    void beat() {
      g.groups.heartbeat("g", join.value == null ? 0 : join.value.getRank(), incarnation, 0);
    }

    boolean isAsked() {
      return views.last().getAskedList().contains(incarnation);
    }

    List<String> others() {
      return join.value.getView().getMembersList().stream().map(Member::getMember).toList();
    }
  }

  @BeforeEach
  void begin() {
    a = new One("a");
    b = new One("b");
    c = new One("c");
    d = new One("d");
    all.forEach(One::follow);
  }

  @Test
  void whomAMemberCannotReachIsAsked_andLostAtOnceIfItDoesNotAnswer() {
    a.again(c);
    b.again();
    d.again();
    assertThat(c.isAsked()).isTrue();
    assertThat(b.isAsked()).isFalse();
    g.pass(ANSWER);
    assertThat(a.join.isDone()).isFalse();
    g.pass(2 * VirtualGroups.TICK);
    assertThat(a.others()).containsExactly("a", "b", "d");
    assertThatThrownBy(c::beat).isInstanceOf(StaleGeneration.class);
  }

  @Test
  void aLieEndsNobody() {
    a.again(c);
    b.again();
    d.again();
    c.beat();
    g.pass(10 * ANSWER);
    assertThat(a.join.isDone()).as("c lives, and is waited for").isFalse();
    c.again();
    assertThat(a.others()).containsExactly("a", "b", "c", "d");
  }

  @Test
  void ofTwoWhoDieTogetherTheOtherIsAskedForItsStreamBroke() {
    d.stream.run();
    a.again(c);
    assertThat(d.isAsked()).isFalse();
    b.again();
    g.pass(ANSWER + 2 * VirtualGroups.TICK);
    assertThat(a.others()).containsExactly("a", "b");
  }

  @Test
  void aStreamThatBreaksIsNoReasonByItself_andOneThatBreaksLaterIs() {
    d.stream.run();
    g.pass(5 * ANSWER);
    d.beat();
    a.again(c);
    b.again();
    d.beat(); // it gives one when its stream breaks
    c.stream.run();
    g.pass(ANSWER + 2 * VirtualGroups.TICK);
    d.again();
    assertThat(a.others()).containsExactly("a", "b", "d");
  }

  @Test
  void whoNeverFollowedTheGroupCannotBeAsked_andIsLeftToItsLease() {
    g.groups.leave("g", 3, d.incarnation);
    One e = new One("e");
    a.again();
    b.again();
    c.again();
    e.incarnation = e.join.value.getIncarnation();
    a.again(e);
    b.again();
    c.again();
    g.pass(4 * ANSWER);
    e.beat();
    e.again();
    assertThat(a.others()).containsExactly("a", "b", "c", "e");
  }

  @Test
  void whoLivesOnWithoutAStreamCannotBeAskedEither() {
    d.stream.run();
    g.pass(2 * ANSWER);
    d.beat();
    a.again(d);
    b.again();
    c.again();
    g.pass(4 * ANSWER);
    d.beat();
    d.again();
    assertThat(a.others()).containsExactly("a", "b", "c", "d");
  }

  @Test
  void whoIsLostHearsSo_whateverHasFormedSince() {
    a.again(d);
    b.again();
    c.again();
    g.pass(ANSWER + 2 * VirtualGroups.TICK);
    assertThat(a.others()).containsExactly("a", "b", "c");
    assertThatThrownBy(d::again).as("it joins with the rank that it wants: any").isInstanceOf(StaleGeneration.class)
        .hasMessageContaining("Join again");
  }

  @Test
  void whileTheRendezvousStandsStillNobodysTimeToAnswerPasses() {
    a.again(c);
    g.freeze(4 * ANSWER);
    g.groups.expire();
    c.beat();
    g.pass(4 * ANSWER);
    b.again();
    d.again();
    c.again();
    assertThat(a.others()).containsExactly("a", "b", "c", "d");
  }

  private void attempt(One by, One... unreachable) {
    for (One one : all) {
      one.again(one == by ? unreachable : new One[0]);
    }
  }

  @Test
  void whomTheMajorityCannotReachMustGo_onceSoManyGenerationsHaveComeToNothing() {
    for (int attempt = 0; attempt < UnreachablePairs.ATTEMPTS; attempt++) {
      assertThat(a.join.isDone()).isTrue();
      a.again(b);
      d.again(b);
      c.again();
      b.again();
    }
    assertThat(b.join.error).isInstanceOf(StaleGeneration.class).hasMessageContaining("rank 0 (a at a:1")
        .hasMessageContaining("rank 3 (d at d:1").hasMessageContaining("cannot reach each other");
    assertThat(a.others()).containsExactly("a", "d", "c");
    assertThatThrownBy(b::beat).isInstanceOf(StaleGeneration.class);
  }

  @Test
  void whoReachesNobodyMustGo_thoughItNamesTheOthers() {
    for (int attempt = 0; attempt < UnreachablePairs.ATTEMPTS; attempt++) {
      attempt(a, b, c, d);
    }
    assertThat(a.join.error).isInstanceOf(StaleGeneration.class);
    assertThat(b.others()).containsExactlyInAnyOrder("b", "c", "d");
  }

  @Test
  void betweenTwoItIsTheLaterOne_andAGenerationThatWasNotInVainBeginsTheCountAnew() {
    for (int attempt = 0; attempt < UnreachablePairs.ATTEMPTS - 1; attempt++) {
      attempt(a, d);
    }
    attempt(a);
    for (int attempt = 0; attempt < UnreachablePairs.ATTEMPTS; attempt++) {
      assertThat(a.join.value).isNotNull();
      a.again(d);
      b.again();
      c.again();
      d.again(a);
    }
    assertThat(a.others()).containsExactly("a", "b", "c");
    assertThat(d.join.error).isInstanceOf(StaleGeneration.class);
  }

  /** A member that gives a generation up breaks its streams: others may take it for unreachable once. */
  @Test
  void whatIsSaidOnceEndsNobody() {
    for (int attempt = 0; attempt < UnreachablePairs.ATTEMPTS; attempt++) {
      a.again(attempt == 0 ? new One[] {b, d} : new One[] {d});
      b.again(attempt == 0 ? new One[] {c, d} : new One[] {d});
      c.again();
      d.again();
    }
    assertThat(d.join.error).isInstanceOf(StaleGeneration.class);
    assertThat(a.others()).containsExactly("a", "b", "c");
  }

  @Test
  void whoJoinsAgainTakesItsOwnPlace() {
    a.again();
    Answer<JoinReply> first = a.join;
    a.again();
    assertThat(first.error).isInstanceOf(Cancelled.class);
    One e = new One("e");
    Answer<JoinReply> before = e.join;
    e.again(); // without an incarnation
    assertThat(before.error).isInstanceOf(Cancelled.class);
    g.groups.leave("g", 3, d.incarnation);
    b.again();
    c.again();
    assertThat(a.others()).containsExactly("a", "b", "c", "e");
    assertThat(e.join.value.getRank()).isEqualTo(3);
  }

  @Test
  void aNewcomerWaitsAsLongAsTheOthersGoOn_andIsRefusedOnceTheRunHasEnded() {
    g.groups.leave("g", 3, d.incarnation);
    One e = new One("e");
    for (int minute = 0; minute < 20; minute++) {
      for (int second = 0; second < 60; second += 5) {
        g.pass(5000);
        List.of(a, b, c).forEach(One::beat);
      }
    }
    assertThat(e.join.isDone()).isFalse();
    g.groups.leave("g", 0, a.incarnation, true, false);
    assertThat(e.join.error).isInstanceOf(Conflict.class).hasMessageContaining("the run of group g has ended");
    assertThatThrownBy(() -> new One("f")).isInstanceOf(Conflict.class).hasMessageContaining("has ended");
    b.again();
    c.again();
    assertThat(b.others()).as("those who are left may still have something to do together").hasSize(2);
    g.groups.leave("g", b.join.value.getRank(), b.incarnation, true, false);
    g.groups.leave("g", c.join.value.getRank(), c.incarnation, true, false);
    assertThat(g.groups.size()).isZero();
    One next = new One("next");
    g.pass(1200);
    assertThat(next.join.value.getRank()).as("the job is run anew").isZero();
  }

  @Test
  void whenAMemberFormsItsLastGeneration_thenNobodyNewIsLetIn() {
    g.groups.leave("g", 3, d.incarnation);
    One e = new One("e");
    a.join(JoinRequest.newBuilder().setEnding(true));
    assertThat(e.join.error).isInstanceOf(Conflict.class).hasMessageContaining("has ended");
    b.again();
    c.again();
    assertThat(a.others()).containsExactly("a", "b", "c");
  }
}
