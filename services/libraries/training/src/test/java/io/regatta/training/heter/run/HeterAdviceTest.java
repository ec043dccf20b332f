package io.regatta.training.heter.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.regatta.training.heter.run.CutMeasurement.CutCosts;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Advice from times and bytes that are round; the expected numbers are worked out on paper. */
class HeterAdviceTest {

  private static final double GIGABIT = 125e6;
  private static final double HUNDRED_MEGABITS = 12.5e6;

  /** 100 ms whole; 10 ms at the trainer, 5 ms on a fast device, 1 MB out and 0.25 MB back. */
  private static final CutCosts COSTS = new CutCosts(1000, 0.1, 0.01, 0.005, 1e6, 0.25e6);

  @Test
  void one_batch_under_way_waits_for_the_network_and_the_part() {
    HeterAdvice advice = new HeterAdvice(COSTS, 1, 0);
    assertThat(advice.trainerRate(GIGABIT)).isCloseTo(1 / (0.010 + 0.005 + 0.008 + 0.002), within(1e-9)); // 40
    assertThat(advice.workerRate(GIGABIT)).isCloseTo(125, within(1e-9)); // 8 ms for a batch on the network, 5 ms on the device
    assertThat(advice.feeds(GIGABIT)).isEqualTo(3);
    assertThat(advice.paysFrom()).isCloseTo(1.25e6 / 0.085, within(1e-3)); // 118 Mbit/s
    assertThat(advice.slowdown(GIGABIT)).isCloseTo(0.25, within(1e-9));
    assertThat(advice.sentence(GIGABIT)).isEqualTo("one heter worker feeds 3 trainers at 1 Gbit/s; the cut pays from 118 Mbit/s "
        + "(1.0 MB out, 0.3 MB back per batch of 1000)");
  }

  @Test
  void at_the_bandwidth_from_which_the_cut_pays_a_trainer_is_as_fast_as_without() {
    for (int inFlight : new int[] {1, 2, 4}) {
      HeterAdvice advice = new HeterAdvice(COSTS, inFlight, 0.003);
      assertThat(advice.slowdown(advice.paysFrom())).isCloseTo(1, within(1e-9));
    }
  }

  @Test
  void more_batches_under_way_hide_the_network_until_the_trainer_is_busy() {
    HeterAdvice four = new HeterAdvice(COSTS, 4, 0);
    assertThat(four.trainerRate(GIGABIT)).isCloseTo(100, within(1e-9)); // 1 / T
    assertThat(four.feeds(GIGABIT)).isEqualTo(1);
    assertThat(four.trainerRate(HUNDRED_MEGABITS)).isCloseTo(4 / 0.115, within(1e-9));
    assertThat(four.workerRate(HUNDRED_MEGABITS)).isCloseTo(12.5, within(1e-9));
  }

  @Test
  void a_latency_counts_once_for_a_batch() {
    assertThat(new HeterAdvice(COSTS, 1, 0.025).trainerRate(GIGABIT)).isCloseTo(20, within(1e-9));
  }

  @Test
  void with_a_device_that_is_as_slow_the_cut_pays_on_no_network() {
    HeterAdvice advice = new HeterAdvice(new CutCosts(1, 0.1, 0.04, 0.07, 1000, 1000), 1, 0);
    assertThat(advice.paysFrom()).isInfinite();
    assertThat(advice.sentence(GIGABIT)).isEqualTo("one heter worker feeds 1 trainer at 1 Gbit/s; the cut pays on no network with this "
        + "device (1.0 kB out, 1.0 kB back per batch of 1)");
  }

  @Test
  void the_lines_have_one_for_each_bandwidth_and_the_sentence_of_the_first() {
    HeterAdvice advice = new HeterAdvice(COSTS, 1, 0);
    assertThat(advice.lines(List.of(GIGABIT, HUNDRED_MEGABITS))).containsExactly(
        "a batch of 1000: 100.00 ms without a cut; with it 10.00 ms at the trainer, 5.00 ms at the heter worker, 1.0 MB out, 0.3 MB back",
        "at 1 Gbit/s: 40.0 batches/s of a trainer (without a cut 10.0), 125.0 of a heter worker, 3 trainers for each",
        "at 100 Mbit/s: 8.7 batches/s of a trainer (without a cut 10.0), 12.5 of a heter worker, 1 trainer for each",
        advice.sentence(GIGABIT));
  }
}
