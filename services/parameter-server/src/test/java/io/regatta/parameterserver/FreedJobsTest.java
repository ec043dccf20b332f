package io.regatta.parameterserver;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class FreedJobsTest {

  private static final Departures LOST = new Departures();

  private final FreedJobs freed = new FreedJobs(2);

  private static Departures left(int rank) {
    Departures some = new Departures();
    some.left(rank, false);
    return some;
  }

  /** One trainer is killed between its leave at shard 0 and that at shard 1. */
  @Test
  void when_a_trainer_has_left_one_shard_and_was_lost_at_the_other_then_its_job_is_over() {
    Departures ofFirst = left(0);
    assertThat(freed.add("job", 0, ofFirst)).isEmpty();
    assertThat(freed.add("job", 1, LOST)).hasValueSatisfying(all -> assertThat(all).containsExactly(ofFirst, LOST));
  }

  @Test
  void when_all_trainers_were_lost_then_the_job_may_be_begun_again() {
    assertThat(freed.add("job", 0, LOST)).isEmpty();
    assertThat(freed.add("job", 1, LOST)).isEmpty();
    assertThat(freed.add("job", 0, left(0))).as("the reports of the run before are forgotten").isEmpty();
    assertThat(freed.add("job", 1, LOST)).isPresent();
  }

  /** The first run has never reached shard 1. */
  @Test
  void when_one_shard_frees_two_runs_of_a_name_then_the_other_one_is_still_waited_for() {
    assertThat(freed.add("job", 0, left(0))).isEmpty();
    Departures later = left(1);
    assertThat(freed.add("job", 0, later)).isEmpty();
    assertThat(freed.add("another", 1, left(0))).isEmpty();
    Departures ofSecond = left(1);
    assertThat(freed.add("job", 1, ofSecond))
        .hasValueSatisfying(all -> assertThat(all).containsExactly(later, ofSecond));
  }
}
