package io.regatta.training.replica;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.exchange.TrainerProgress;
import io.regatta.core.exchange.TrainerProgress.Replica;
import io.regatta.snapshot.ExampleCounts;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Examples that a rank tells with its pushes, and those of the whole run. */
class RankStepsTest {

  private static TrainerProgress push(RankSteps steps, Integer... replicas) {
    return steps.next(List.of(replicas), (step, after) -> after);
  }

  private static Replica replica(long localSteps) {
    return new Replica(localSteps, List.of());
  }

  @Test
  void each_push_tells_the_examples_of_all_steps_up_to_it() {
    RankSteps steps = new RankSteps(2);
    steps.coming(0, replica(1), 4);
    steps.coming(1, replica(1), 3);
    assertThat(push(steps, 0).examples()).isEqualTo(4);
    assertThat(push(steps, 1).examples()).isEqualTo(7);
    assertThat(push(steps, 0).examples()).as("of a step of the others alone").isEqualTo(7);
  }

  @Test
  void a_push_of_several_steps_of_a_replica_tells_all_of_them() {
    RankSteps steps = new RankSteps(2);
    steps.pushesPerStep(2);
    steps.stepsPerPush(3);
    steps.coming(0, replica(1), 4);
    steps.coming(1, replica(1), 3);
    steps.coming(0, replica(2), 4);
    steps.coming(0, replica(3), 2);
    TrainerProgress after = push(steps, 0);
    assertThat(after.examples()).as("without those of the other replica, which it has not pushed").isEqualTo(10);
    assertThat(after.replicas()).extracting(Replica::localSteps).containsExactly(3L, 0L);
    steps.coming(1, replica(2), 3);
    steps.coming(1, replica(3), 3);
    after = push(steps, 1);
    assertThat(after.examples()).isEqualTo(19);
    assertThat(after.learningRateStep()).as("steps of each replica").isEqualTo(3);
    assertThat(after.exchanges()).as("pushes").isEqualTo(2);
    assertThat(steps.made()).as("clock").isEqualTo(2);
  }

  @Test
  void a_step_that_fails_and_is_made_again_counts_once() {
    RankSteps steps = new RankSteps(1);
    steps.coming(0, replica(1), 4);
    steps.coming(0, replica(1), 3);
    assertThat(push(steps, 0).examples()).isEqualTo(3);
    assertThat(steps.steps()).isEqualTo(1);
  }

  @Test
  void when_a_run_is_resumed_then_its_examples_are_added_to_those_of_its_snapshot() {
    RankSteps steps = new RankSteps(1);
    steps.resume(5, new TrainerProgress(5, 5, 5, 40, List.of(replica(5))), new ExampleCounts(100, 2, 8));
    steps.coming(0, replica(6), 4);
    assertThat(push(steps, 0).examples()).isEqualTo(44);
    assertThat(steps.before()).as("what some shards contain is trained again").isEqualTo(new ExampleCounts(100, 10, 0));
    steps.trainedByAll(16);
    assertThat(steps.trained(3)).isEqualTo(new ExampleCounts(116, 13, 0));
  }

  @Test
  void when_a_snapshot_does_not_say_its_examples_then_the_next_one_does_not_either() {
    RankSteps steps = new RankSteps(1);
    steps.resume(5, new TrainerProgress(5, 5, 5, List.of(replica(5))), ExampleCounts.UNKNOWN);
    steps.coming(0, replica(6), 4);
    assertThat(push(steps, 0).examples()).isEqualTo(TrainerProgress.UNKNOWN);
    steps.trainedByAll(16);
    assertThat(steps.trained(0)).isEqualTo(ExampleCounts.UNKNOWN);
    assertThat(steps.examplesOfAll()).as("of this life").isEqualTo(16);
  }
}
