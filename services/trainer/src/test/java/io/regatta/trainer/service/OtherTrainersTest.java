package io.regatta.trainer.service;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.protocol.rendezvous.Member;
import io.regatta.trainer.config.JobConfig;
import io.vertx.core.json.JsonObject;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class OtherTrainersTest {

  private static final Logger LOG = (Logger) LoggerFactory.getLogger(OtherTrainers.class);

  private final ListAppender<ILoggingEvent> logged = new ListAppender<>();
  private final OtherTrainers others =
      new OtherTrainers(JobConfig.of(new JsonObject().put("job", "pair").put("trainers", 2)), () -> 0, () -> 7);

  @BeforeEach
  void listen() {
    LOG.setLevel(Level.INFO);
    logged.start();
    LOG.addAppender(logged);
  }

  @AfterEach
  void listenNoMore() {
    LOG.detachAppender(logged);
    LOG.setLevel(null);
  }

  private List<String> lines() {
    return logged.list.stream().map(ILoggingEvent::getFormattedMessage).toList();
  }

  private static GroupView rank1(String state) {
    return GroupView.newBuilder().setGroup("pair").addMembers(Member.newBuilder().setRank(0).setState("active"))
        .addMembers(Member.newBuilder().setRank(1).setState(state).setLastStep(4)).build();
  }

  /** The gather at the end is completed by the loss of rank 1; the view of the group comes a heartbeat later. */
  @Test
  void a_trainer_that_is_missed_at_the_end_is_not_warned_of_again_by_a_later_view() {
    others.ending();
    others.atTheEnd(Set.of(0));
    others.seen(rank1("active"), 10_000); // asked for before the loss
    others.seen(rank1("lost"), 10_000);
    assertThat(lines()).containsExactly(
        "trainer 1 of job pair is lost or has left before the end, which 1 of 2 trainers have reached");
  }

  @Test
  void a_trainer_whose_loss_a_view_has_told_is_not_warned_of_again_at_the_end() {
    others.seen(rank1("lost"), 10_000);
    others.ending();
    others.atTheEnd(Set.of(0));
    assertThat(lines()).containsExactly("trainer 1 of job pair is lost at step 4 (no heartbeat for 10.0 s); "
        + "trainer 0 at step 7 goes on with 1 of 2 trainers");
  }

  @Test
  void one_that_is_back_and_lost_again_is_warned_of_again() {
    others.seen(rank1("lost"), 10_000);
    others.seen(rank1("active"), 10_000);
    others.seen(rank1("lost"), 10_000);
    assertThat(lines()).hasSize(3);
    assertThat(lines().get(1)).contains("is back, as another process");
  }

  @Test
  void who_is_left_takes_the_lost_ones_place() {
    OtherTrainers second = new OtherTrainers(JobConfig.of(new JsonObject().put("job", "pair").put("trainers", 2)), () -> 1,
        () -> 7);
    assertThat(second.isLowest()).isFalse();
    second.seen(rank1("active"), 10_000);
    assertThat(second.isLowest()).isFalse();
    second.seen(GroupView.newBuilder().setGroup("pair").addMembers(Member.newBuilder().setRank(0).setState("lost"))
        .addMembers(Member.newBuilder().setRank(1).setState("active")).build(), 10_000);
    assertThat(second.isLowest()).isTrue();
  }

  /** If a server is lost while trainer 0 saves, and that goes without having saved, the next one saves what is left. */
  @Test
  void who_has_left_at_the_end_leaves_its_place_too() {
    OtherTrainers second = new OtherTrainers(JobConfig.of(new JsonObject().put("job", "pair").put("trainers", 2)),
        () -> 1, () -> 7);
    second.ending();
    second.seen(rank0("active"), 10_000);
    assertThat(second.becomesLowest().isComplete()).isFalse();
    second.seen(rank0("left"), 10_000);
    assertThat(second.becomesLowest().isComplete()).isTrue();
    assertThat(lines()).isEmpty();
  }

  private static GroupView rank0(String state) {
    return GroupView.newBuilder().setGroup("pair").addMembers(Member.newBuilder().setRank(0).setState(state))
        .addMembers(Member.newBuilder().setRank(1).setState("active")).build();
  }
}
