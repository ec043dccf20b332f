package io.regatta.collective;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.collective.schedule.Reach;
import java.util.List;
import org.junit.jupiter.api.Test;

class PlacementTest {
  private static final List<String> TWO_HOSTS = List.of("a:1", "b:1", "a:2", "b:2");

  @Test
  void ranks_reach_as_far_as_the_two_that_are_farthest_apart() {
    assertThat(Placement.of(TWO_HOSTS, new long[] {5, 6, 5, 6}).reach()).isEqualTo(Reach.NETWORK);
    assertThat(Placement.of(List.of("a:1", "a:2", "a:3"), new long[] {5, 5, 0}).reach()).isEqualTo(Reach.MACHINE);
    assertThat(Placement.of(List.of("a:1", "a:2"), new long[2]).reach()).as("nobody says").isEqualTo(Reach.MACHINE);
    assertThat(Placement.of(List.of("a:1", "a:2"), new long[] {5, 5}).reach()).isEqualTo(Reach.PROCESS);
    assertThat(Placement.of(List.of("a:1"), new long[1]).reach()).isEqualTo(Reach.PROCESS);
  }

  @Test
  void ranks_of_one_process_are_near_to_each_other_if_any_process_has_several_else_those_of_one_host() {
    assertThat(Placement.of(TWO_HOSTS, new long[] {1, 2, 3, 4}).near()).containsExactly(0, 1, 0, 1);
    assertThat(Placement.of(TWO_HOSTS, new long[4]).near()).as("nobody says").containsExactly(0, 1, 0, 1);
    assertThat(Placement.of(TWO_HOSTS, new long[] {5, 6, 5, 7}).near()).containsExactly(0, 1, 0, 3);
    assertThat(Placement.of(List.of("a:1", "a:2", "a:3"), new long[] {5, 5, 0}).near()).containsExactly(0, 0, 2);
    assertThat(Placement.of(List.of(""), new long[1]).near()).containsExactly(0);
  }

  @Test
  void ranks_of_a_host_are_counted() {
    assertThat(Placement.onHostOf(TWO_HOSTS, 1)).isEqualTo(2);
    assertThat(Placement.onHostOf(List.of("[::1]:1", "[::1]:2", "a:1"), 0)).isEqualTo(2);
    assertThat(Placement.onHostOf(List.of(""), 0)).isEqualTo(1);
  }
}
