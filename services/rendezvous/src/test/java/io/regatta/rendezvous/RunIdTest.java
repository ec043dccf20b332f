package io.regatta.rendezvous;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.Conflict;
import io.regatta.core.error.RegattaException.RunEnded;
import io.regatta.protocol.rendezvous.JoinReply;
import io.regatta.protocol.rendezvous.JoinRequest;
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
    Answer<JoinReply> answer = new Answer<>();
    groups.join(JoinRequest.newBuilder().setGroup(group).setWorldSize(2).setMinWorldSize(min).setRank(rank)
        .setMember("trainer-" + rank).setTimeoutMs(60_000).setSettleMs(3000).setRunId(runId).build(), answer);
    return answer;
  }

  private List<Answer<JoinReply>> formed(int min, String... runIds) {
    return List.of(join("job", min, 0, runIds[0]), join("job", min, 1, runIds[runIds.length - 1]));
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

  @Test
  void when_one_rank_of_a_fixed_group_has_failed_then_the_run_has_not_ended_with_success() {
    List<Answer<JoinReply>> members = formed(0, "run-1");
    leave(members.get(0), true);
    leave(members.get(1), false);
    assertThat(formed(0, "run-1")).allMatch(Answer::isDone);
  }

  @ParameterizedTest
  @ValueSource(ints = {0, 1})
  void when_one_member_is_lost_and_the_others_end_with_success_then_its_next_life_is_told_so(int min) {
    List<Answer<JoinReply>> members = formed(min, "run-1");
    for (int i = 0; i < 2 * VirtualGroups.LEASE / VirtualGroups.TICK; i++) {
      virtual.freeze(VirtualGroups.TICK);
      groups.heartbeat("job", 0, members.get(0).value.getIncarnation(), 0);
      groups.expire();
    }
    leave(members.get(0), true);
    assertThatThrownBy(() -> join("job", min, 1, "run-1")).isInstanceOf(RunEnded.class);
  }

  @Test
  void when_the_first_has_left_with_success_and_another_still_saves_then_a_newcomer_is_told_so() {
    List<Answer<JoinReply>> fixed = formed(0, "run-1");
    leave(fixed.get(0), true);
    assertThatThrownBy(() -> join("job", 0, 0, "run-1")).isInstanceOf(RunEnded.class).hasMessageContaining("leaving");
    assertThat(join("job", 0, 0, "").isDone()).as("one without an id takes the free rank, as ever").isTrue();
  }

  @Test
  void when_an_elastic_run_is_at_its_end_and_not_over_then_a_newcomer_is_refused_as_too_late() {
    List<Answer<JoinReply>> members = formed(1, "run-1");
    groups.leave("job", members.get(0).value.getRank(), members.get(0).value.getIncarnation(), true, false);
    assertThatThrownBy(() -> join("job", 1, -1, "run-1")).as("it may still fail").isInstanceOf(Conflict.class);
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
}
