package io.regatta.trainer;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.regatta.protocol.rendezvous.GroupView;
import io.regatta.protocol.rendezvous.Member;
import io.regatta.training.config.JobConfig;
import io.regatta.training.session.DepartedTrainer;
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
  private final OtherTrainers others = of(0);

  private static OtherTrainers of(int rank) {
    return new OtherTrainers(JobConfig.of(new JsonObject().put("job", "pair").put("trainers", 2)), () -> rank, () -> 7);
  }

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
    return view("active", state);
  }

  private static GroupView view(String stateOf0, String stateOf1) {
    return GroupView.newBuilder().setGroup("pair").addMembers(Member.newBuilder().setRank(0).setState(stateOf0))
        .addMembers(Member.newBuilder().setRank(1).setState(stateOf1).setLastStep(4)).build();
  }

  /** It may have failed to save the model; who stands by for that must not wait for the end of its lease. */
  @Test
  void a_lower_trainer_that_leaves_at_the_end_is_waited_for_no_longer() {
    OtherTrainers ofSecond = of(1);
    ofSecond.ending();
    ofSecond.seen(view("active", "active"), 10_000);
    assertThat(ofSecond.becomesLowest().isComplete()).isFalse();
    ofSecond.seen(view("left", "active"), 10_000);
    assertThat(ofSecond.becomesLowest().isComplete()).isTrue();
    assertThat(ofSecond.isLowest()).as("it has reached the end").isFalse();
    assertThat(lines()).isEmpty();
  }

  /** A trainer that saves the model without a rendezvous has nobody else to ask. */
  @Test
  void trainers_that_have_gone_before_the_end_are_known_until_they_are_back() {
    others.seen(rank1("left"), 10_000);
    assertThat(others.departed()).containsExactly(new DepartedTrainer(1, true, 4, 0));
    others.seen(rank1("active"), 10_000);
    assertThat(others.departed()).isEmpty();
    others.ending();
    others.seen(rank1("left"), 10_000);
    assertThat(others.departed()).as("it may have trained all").isEmpty();
    others.seen(rank1("lost"), 10_000);
    assertThat(others.departed()).containsExactly(new DepartedTrainer(1, false, 4, 0));
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

  /** Which trainers reached the end says only now that it did not. */
  @Test
  void how_far_a_trainer_was_is_known_also_when_it_left_at_the_end_without_having_reached_it() {
    others.ending();
    others.seen(rank1("left"), 10_000);
    others.atTheEnd(Set.of(0));
    assertThat(others.departed()).containsExactly(new DepartedTrainer(1, true, 4, 0));
    assertThat(lines()).hasSize(1);
    others.seen(rank1("active"), 10_000); // asked for before it left
    assertThat(others.departed()).isEmpty();
    others.seen(rank1("left"), 10_000);
    assertThat(others.departed()).containsExactly(new DepartedTrainer(1, true, 4, 0));
    assertThat(lines()).as("warned of once").hasSize(1);
  }

  @Test
  void a_trainer_whose_loss_a_view_has_told_is_not_warned_of_again_at_the_end() {
    others.seen(rank1("lost"), 10_000);
    others.ending();
    others.atTheEnd(Set.of(0));
    assertThat(lines()).containsExactly("trainer 1 of job pair is lost at step 4 (no heartbeat for 10.0 s); "
        + "trainer 0 at step 7 continues with 1 of 2 trainers");
  }

  @Test
  void one_that_is_back_and_lost_again_is_warned_of_again() {
    others.seen(rank1("lost"), 10_000);
    others.seen(rank1("active"), 10_000);
    others.seen(rank1("lost"), 10_000);
    assertThat(lines()).hasSize(3);
    assertThat(lines().get(1)).contains("is back as another process");
  }

  @Test
  void who_is_left_takes_the_lost_ones_place() {
    OtherTrainers second = of(1);
    assertThat(second.isLowest()).isFalse();
    second.seen(rank1("active"), 10_000);
    assertThat(second.isLowest()).isFalse();
    second.seen(view("lost", "active"), 10_000);
    assertThat(second.isLowest()).isTrue();
  }
}
