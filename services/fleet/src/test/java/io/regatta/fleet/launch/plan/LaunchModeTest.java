package io.regatta.fleet.launch.plan;

import static io.regatta.fleet.launch.Words.COLLECTIVE;
import static io.regatta.fleet.launch.Words.JOB;
import static io.regatta.fleet.launch.Words.options;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Which mode a launch has, by options, machine and job. */
class LaunchModeTest {

  @Test
  void who_asks_for_neither_gets_what_the_machine_is_made_for() {
    assertThat(LaunchMode.here(options(), JOB, 0)).isEqualTo(new LaunchMode(false, "Not found distinct arguments and there is no GPU. "
        + "Default use parameter-server mode, with one server and one trainer (--server_num, --worker_num)"));
    assertThat(LaunchMode.here(options(), JOB, 2)).isEqualTo(new LaunchMode(true, "Not found distinct arguments and there are 2 GPUs. "
        + "Default use collective mode"));
  }

  @Test
  void a_job_that_says_collective_is_so_on_every_machine() {
    assertThat(LaunchMode.here(options(), COLLECTIVE, 0)).isEqualTo(new LaunchMode(true, "Not found distinct arguments and there is no "
        + "GPU, but the job's mode is collective. Use collective mode, with one trainer (--nproc_per_node)"));
    assertThat(LaunchMode.onHosts(options(), COLLECTIVE).collective()).isTrue();
    assertThat(LaunchMode.onHosts(options(), JOB)).isEqualTo(new LaunchMode(false, "Not found distinct arguments. Default use "
        + "parameter-server mode, with one server and one trainer on each host (--server_num, --worker_num)"));
  }

  @Test
  void servers_for_a_collective_job_are_refused_before_anything_starts() {
    assertThatThrownBy(() -> LaunchMode.here(options("server_num=2", "worker_num=1"), COLLECTIVE, 0)).isInstanceOf(InvalidInput.class)
        .hasMessageStartingWith("--worker_num, --server_num: the job's mode is collective").hasMessageContaining("--nproc_per_node N");
    assertThatThrownBy(() -> LaunchMode.onHosts(options("server_num=2"), COLLECTIVE)).isInstanceOf(InvalidInput.class);
  }

  @Test
  void the_line_names_what_was_given() {
    assertThat(LaunchMode.onHosts(options("server_num=2"), JOB).why()).isEqualTo("Run parameter-server mode. pserver arguments:"
        + "['--server_num']");
    assertThat(LaunchMode.here(options("nproc_per_node=2"), JOB, 1).why()).isEqualTo("Run collective mode. gpu arguments:"
        + "['--nproc_per_node'], GPU count:1");
  }

  @Test
  void of_a_program_that_is_not_seen_its_arguments_tell() {
    assertThat(LaunchedJob.ofArguments(List.of("--shards", "2", "--mode=collective"))).isEqualTo(new LaunchedJob(2, true, false,
        "", List.of()));
    assertThat(LaunchedJob.ofArguments(List.of("--set", "shards=3", "--set=mode=half-async"))).isEqualTo(new LaunchedJob(3, false, false,
        "", List.of()));
    LaunchedJob nothing = LaunchedJob.ofArguments(List.of("--set", "batch_size=3", "--shards"));
    assertThat(nothing.knowsShards()).isFalse();
    assertThat(nothing.stride()).isEqualTo(8);
  }
}
