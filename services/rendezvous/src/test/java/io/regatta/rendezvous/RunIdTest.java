package io.regatta.rendezvous;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.Overloaded;
import io.regatta.core.error.RegattaException.RunEnded;
import io.regatta.protocol.rendezvous.JoinReply;
import io.regatta.protocol.rendezvous.JoinRequest;
import io.regatta.protocol.rendezvous.Member;
import io.regatta.rendezvous.VirtualGroups.Answer;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Newcomers to groups whose run has ended, in fixed groups (smallest size 0) and elastic ones, on virtual time. */
class RunIdTest {
  private final VirtualGroups virtual = new VirtualGroups();
  private final Groups groups = virtual.groups;

  private Answer<JoinReply> join(String group, int min, int rank, String runId) {
    return join(groups, group, min, rank, runId);
  }

  private static Answer<JoinReply> join(Groups groups, String group, int min, int rank, String runId) {
    Answer<JoinReply> answer = new Answer<>();
    answer.gone = groups.join(JoinRequest.newBuilder().setGroup(group).setWorldSize(2).setMinWorldSize(min)
        .setRank(rank)
        .setMember("trainer-" + rank).setTimeoutMs(60_000).setSettleMs(3000).setRunId(runId).build(), answer);
    return answer;
  }

  private List<Answer<JoinReply>> formed(int min, String... runIds) {
    return List.of(join("job", min, 0, runIds[0]), join("job", min, 1, runIds[runIds.length - 1]));
  }

  /** Lets time pass in which this one sends heartbeats. */
  private void beat(Answer<JoinReply> member, long millis) {
    for (long passed = 0; passed < millis; passed += VirtualGroups.TICK) {
      virtual.freeze(VirtualGroups.TICK);
      groups.heartbeat("job", member.value.getRank(), member.value.getIncarnation(), 0);
      groups.expire();
    }
  }

  private void leave(Answer<JoinReply> member, boolean succeeded) {
    groups.leave("job", member.value.getRank(), member.value.getIncarnation(), succeeded, succeeded);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void when_the_run_has_ended_with_success_then_its_newcomer_is_told_so(int min) {
    formed(min, "run-1").forEach(member -> leave(member, true));
    assertThat(groups.size()).isZero();
    assertThatThrownBy(() -> join("job", min, 1, "run-1")).isInstanceOf(RunEnded.class).hasMessageContaining("run-1")
        .hasMessageContaining("job").hasMessageContaining("nothing is left to do");
    assertThat(groups.size()).as("it has opened no group").isZero();
    assertThat(formed(min, "run-2")).as("another run begins").allMatch(Answer::isDone);
  }

  /** A rendezvous whose lifetime is that of a job ends then; servers are members of a group of their own. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void when_a_job_has_ended_with_success_and_nobody_is_left_then_the_rendezvous_is_done(int min) {
    assertThat(groups.isDone()).as("nobody has come yet").isFalse();
    formed(min, "run-0").forEach(member -> leave(member, false));
    assertThat(groups.isDone()).as("that one failed").isFalse();
    List<Answer<JoinReply>> servers = List.of(join("servers", 0, 0, ""), join("servers", 0, 1, ""));
    formed(min, "run-1").forEach(member -> leave(member, true));
    assertThat(groups.isDone()).as("the servers are still there").isFalse();
    servers.forEach(server -> groups.leave("servers", server.value.getRank(), server.value.getIncarnation(), true, false));
    assertThat(groups.isDone()).isTrue();
    Answer<JoinReply> next = join("servers", 0, 0, "");
    assertThat(groups.isDone()).as("another job is about to begin").isFalse();
    next.gone.run();
    assertThat(groups.isDone()).isTrue();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void when_each_machine_has_its_own_id_then_all_of_them_have_ended(int min) {
    formed(min, "launch-a", "launch-b").forEach(member -> leave(member, true));
    for (String id : List.of("launch-a", "launch-b")) {
      assertThatThrownBy(() -> join("job", min, 0, id)).isInstanceOf(RunEnded.class);
    }
    assertThat(join("other job", min, 0, "launch-a").error).as("ids are of a job").isNull();
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void when_no_id_is_given_then_a_second_start_is_a_new_run(int min) {
    formed(min, "").forEach(member -> leave(member, true));
    assertThat(formed(min, "")).allMatch(Answer::isDone);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void when_the_run_has_failed_then_it_may_be_started_again(int min) {
    formed(min, "run-1").forEach(member -> leave(member, false));
    assertThat(formed(min, "run-1")).allMatch(Answer::isDone);
  }

  /**
   * The one that succeeded has counted what the other did not train, or its job accepts that ({@code on_trainer_lost:
   * continue}).
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void when_one_rank_of_a_fixed_group_has_failed_and_another_succeeds_then_the_run_has_succeeded(boolean failedFirst) {
    List<Answer<JoinReply>> members = formed(0, "run-1");
    leave(members.get(failedFirst ? 1 : 0), !failedFirst);
    leave(members.get(failedFirst ? 0 : 1), failedFirst);
    assertThatThrownBy(() -> join("job", 0, 1, "run-1")).isInstanceOf(RunEnded.class);
  }

  /**
   * An orchestrator starts a killed trainer again, which cannot take part any more, time and again until the run has
   * ended.
   */
  @Test
  void when_a_lost_ranks_next_life_has_been_refused_by_a_fixed_job_then_the_run_still_ends_with_success() {
    List<Answer<JoinReply>> members = formed(0, "run-1");
    beat(members.get(0), 2 * VirtualGroups.LEASE);
    Answer<JoinReply> next = join("job", 0, 1, "run-1");
    beat(members.get(0), 7 * VirtualGroups.TICK);
    leave(next, false);
    leave(members.get(0), true);
    assertThatThrownBy(() -> join("job", 0, 1, "run-1")).isInstanceOf(RunEnded.class);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void when_one_member_is_lost_and_the_others_end_with_success_then_its_next_life_is_told_so(int min) {
    List<Answer<JoinReply>> members = formed(min, "run-1");
    beat(members.get(0), 2 * VirtualGroups.LEASE);
    leave(members.get(0), true);
    assertThatThrownBy(() -> join("job", min, 1, "run-1")).isInstanceOf(RunEnded.class);
  }

  @Test
  void when_the_first_has_left_with_success_and_another_still_saves_then_a_newcomer_is_told_so() {
    List<Answer<JoinReply>> fixed = formed(0, "run-1");
    leave(fixed.get(0), true);
    assertThatThrownBy(() -> join("job", 0, 0, "run-1")).isInstanceOf(RunEnded.class).hasMessageContaining("leaving");
    assertThat(groups.status("job").getGroups(0).getMembersList()).extracting(Member::getSucceeded)
        .containsExactly(true, false);
    Answer<JoinReply> another = join("job", 0, 0, "");
    beat(fixed.get(1), 7 * VirtualGroups.TICK);
    assertThat(another.value.getRank()).as("one without an id takes the free rank, as ever").isZero();
  }

  @Test
  void when_the_run_ends_with_success_then_who_waits_for_a_rank_of_it_is_told_so() {
    List<Answer<JoinReply>> fixed = formed(0, "run-1");
    Answer<JoinReply> same = join("job", 0, 1, "run-1");
    Answer<JoinReply> other = join("job", 0, 0, "run-2");
    leave(fixed.get(0), true);
    assertThat(same.error).isInstanceOf(RunEnded.class).hasMessageContaining("nothing is left to do");
    beat(fixed.get(1), 5000);
    assertThat(other.isDone()).as("another run is no part of this group, whose last member still saves").isFalse();
    leave(fixed.get(1), true);
    assertThat(groups.status("job").getWaitsList()).singleElement().asString().contains("trainer-0").contains("rank 1");
    join("job", 0, 1, "run-2");
    assertThat(other.value.getRank()).as("the next run begins").isZero();
  }

  private List<Answer<JoinReply>> atItsEnd() {
    List<Answer<JoinReply>> members = formed(1, "run-1");
    groups.leave("job", members.get(0).value.getRank(), members.get(0).value.getIncarnation(), true, false);
    return members;
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void when_an_elastic_run_is_at_its_end_then_a_newcomer_of_it_waits_for_how_it_ends(boolean succeeds) {
    List<Answer<JoinReply>> members = atItsEnd();
    List<Answer<JoinReply>> late = List.of(join("job", 1, -1, "run-1"), join("job", 1, 0, "run-1"),
        join("job", 1, 0, "run-1"));
    assertThat(late).as("it may still fail").noneMatch(Answer::isDone);
    assertThat(groups.waits()).extracting(wait -> wait.sentence(VirtualGroups.START)).hasSize(3)
        .allMatch(sentence -> sentence.contains("for the end of the run"));
    leave(members.get(1), succeeds);
    assertThat(late).allSatisfy(each -> assertThat(each.error).isInstanceOf(succeeds ? RunEnded.class : Conflict.class)
        .hasMessageContaining(succeeds ? "run-1" : "ended without success"));
    assertThat(groups.size()).isZero();
  }

  @Test
  void when_an_elastic_run_is_at_its_end_then_who_is_not_known_to_be_of_it_is_refused_as_too_late() {
    atItsEnd();
    for (String id : List.of("", "run-2")) {
      assertThatThrownBy(() -> join("job", 1, -1, id)).isInstanceOf(Conflict.class)
          .hasMessageContaining("too early for");
    }
  }

  @Test
  void when_the_last_member_of_an_elastic_run_is_lost_at_its_end_then_nobody_waits_for_that_any_longer() {
    atItsEnd();
    Answer<JoinReply> late = join("job", 1, -1, "run-1");
    for (int i = 0; i < 2 * VirtualGroups.LEASE / VirtualGroups.TICK; i++) {
      virtual.freeze(VirtualGroups.TICK);
      groups.expire();
    }
    assertThat(late.error).isInstanceOf(Conflict.class).hasMessageContaining("ended without success");
    assertThat(groups.size()).isZero();
  }

  private void leaveOneSeat(List<Answer<JoinReply>> members) {
    groups.leave("job", members.get(1).value.getRank(), members.get(1).value.getIncarnation(), false, false);
  }

  /** A newcomer that waits to be let in is left over when the run ends. */
  @Test
  void when_an_elastic_run_ends_with_success_then_a_newcomer_of_it_that_waits_to_be_let_in_is_told_so() {
    List<Answer<JoinReply>> members = formed(1, "run-1");
    leaveOneSeat(members);
    Answer<JoinReply> waits = join("job", 1, -1, "run-1");
    assertThat(waits.isDone()).as("members let newcomers in after a step").isFalse();
    leave(members.get(0), true);
    assertThat(waits.error).isInstanceOf(RunEnded.class);
  }

  /** It has trained nothing, and its run has not ended. */
  @ParameterizedTest
  @ValueSource(strings = {"run-2", ""})
  void when_an_elastic_run_ends_with_success_then_who_waits_to_be_let_in_from_another_run_is_refused(String id) {
    List<Answer<JoinReply>> members = formed(1, "run-1");
    leaveOneSeat(members);
    Answer<JoinReply> waits = join("job", 1, -1, id);
    leave(members.get(0), true);
    assertThat(waits.error).isInstanceOf(Conflict.class).hasMessageContaining("too early for");
    assertThat(formed(1, id)).as("its run can be started").allSatisfy(member -> assertThat(member.value).isNotNull());
  }

  @Test
  void when_a_newcomer_goes_before_its_fixed_group_forms_then_its_run_does_not_end_with_that_of_the_group() {
    List<Answer<JoinReply>> members = List.of(new Answer<>(), new Answer<>(), new Answer<>());
    groups.join(ofThree(0, "run-1"), members.get(0));
    groups.join(ofThree(2, "run-2"), new Answer<>()).run();
    groups.join(ofThree(1, "run-1"), members.get(1));
    groups.join(ofThree(2, "run-1"), members.get(2));
    members.forEach(member -> leave(member, true));
    assertThatThrownBy(() -> join("job", 0, 0, "run-1")).isInstanceOf(RunEnded.class);
    assertThat(formed(0, "run-2")).as("its run can be started")
        .allSatisfy(member -> assertThat(member.value).isNotNull());
  }

  private static JoinRequest ofThree(int rank, String runId) {
    return JoinRequest.newBuilder().setGroup("job").setWorldSize(3).setRank(rank).setMember("trainer-" + rank)
        .setTimeoutMs(60_000).setRunId(runId).build();
  }

  @Test
  void when_a_newcomer_that_waits_for_how_a_run_ends_goes_then_nothing_is_left_of_it() {
    List<Answer<JoinReply>> members = atItsEnd();
    Answer<JoinReply> late = new Answer<>();
    Runnable gone = groups.join(JoinRequest.newBuilder().setGroup("job").setWorldSize(2).setMinWorldSize(1).setRank(-1)
        .setMember("trainer").setTimeoutMs(60_000).setSettleMs(3000).setRunId("run-1").build(), late);
    gone.run();
    assertThat(groups.waits()).isEmpty();
    leave(members.get(1), true);
    assertThat(late.isDone()).isFalse();
  }

  @Test
  void remembersNoMoreThanItsLimitAndNoLongerThanItsAge() {
    EndedRuns runs = new EndedRuns(3, 1000);
    runs.add("g", List.of("a"), 0);
    runs.add("g", List.of("b", "c", "d"), 500);
    assertThat(runs.since("g", "a", 500)).as("the oldest goes first").isEmpty();
    assertThat(runs.since("g", "b", 600)).contains(100L);
    assertThat(runs.since("h", "b", 600)).isEmpty();
    assertThat(runs.since("g", "d", 1500)).contains(1000L);
    assertThat(runs.since("g", "d", 1501)).isEmpty();
  }

  @Test
  void when_as_many_wait_for_how_a_run_ends_as_a_group_may_have_members_then_the_next_one_is_refused() {
    Groups small = new VirtualGroups(VirtualGroups.SMALL).groups;
    List<Answer<JoinReply>> members = List.of(join(small, "job", 1, 0, "run-1"), join(small, "job", 1, 1, "run-1"));
    JoinReply first = members.get(0).value;
    small.leave("job", first.getRank(), first.getIncarnation(), true, false);
    assertThat(List.of(join(small, "job", 1, -1, "run-1"), join(small, "job", 1, -1, "run-1")))
        .noneMatch(Answer::isDone);
    assertThatThrownBy(() -> join(small, "job", 1, -1, "run-1")).isInstanceOf(Overloaded.class)
        .hasMessageContaining("rendezvous.limits.members");
  }
}
