package io.regatta.parameterserver;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
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

  /** The first run has never reached shard 1; the second one is freed there first. */
  @Test
  void when_a_job_begins_anew_then_the_report_of_the_run_before_counts_no_longer() {
    assertThat(freed.add("job", 0, left(0))).isEmpty();
    freed.begun("job", 0);
    freed.begun("job", 1);
    Departures ofSecond = left(1);
    assertThat(freed.add("job", 1, ofSecond)).as("shard 0 still has it").isEmpty();
    Departures ofFirst = left(1);
    assertThat(freed.add("job", 0, ofFirst)).hasValueSatisfying(all -> assertThat(all).containsExactly(ofFirst, ofSecond));
  }

  @Test
  void when_the_last_shard_has_freed_the_last_job_then_the_server_is_unused() {
    assertThat(freed.unused().succeeded()).as("it has none yet").isTrue();
    freed.begun("job", 0);
    freed.begun("job", 1);
    freed.begun("another", 1);
    Future<Void> unused = freed.unused();
    freed.released("job", 1);
    freed.released("another", 1);
    assertThat(unused.isComplete()).isFalse();
    freed.begun("job", 1);
    freed.released("job", 0);
    assertThat(unused.isComplete()).as("the next run of that name has begun").isFalse();
    freed.released("job", 1);
    assertThat(unused.succeeded()).isTrue();
  }
}
