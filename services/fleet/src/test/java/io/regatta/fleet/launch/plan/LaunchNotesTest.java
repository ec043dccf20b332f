package io.regatta.fleet.launch.plan;

import static io.regatta.fleet.launch.Words.COLLECTIVE;
import static io.regatta.fleet.launch.Words.JOB;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.fleet.launch.ReservedPorts;
import io.regatta.fleet.launch.Words;
import io.regatta.node.testing.FreePorts;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Options that mean nothing in the launch for which they were given. */
class LaunchNotesTest {

  private static final LaunchedJob ELASTIC = new LaunchedJob(1, true, true, "", List.of());
  private static final Pattern OPTION = Pattern.compile("(--\\w+) has no effect: .+");

  private final ReservedPorts ports = new ReservedPorts();
  private final String port = Integer.toString(FreePorts.one());

  @AfterEach
  void release() {
    ports.close();
  }

  /** The options that have no effect. */
  private List<String> useless(LaunchedJob job, String... given) {
    return LaunchNotes.of(Words.options(given), job, Words.plan(ports, job, 0, given)).stream().map(OPTION::matcher)
        .filter(Matcher::matches).map(option -> option.group(1)).toList();
  }

  @Test
  void each_is_named_in_the_modes_where_it_has_no_effect() {
    assertThat(useless(JOB, "server_num=1", "worker_num=1", "max_restart=2", "rank=0", "http_port=" + port, "start_port=" + port))
        .containsExactly("--max_restart", "--rank");
    assertThat(useless(COLLECTIVE, "nproc_per_node=1", "max_restart=2", "http_port=" + port, "start_port=" + FreePorts.one()))
        .containsExactly("--max_restart", "--http_port");
    assertThat(useless(ELASTIC, "nproc_per_node=1", "max_restart=2", "start_port=" + port)).containsExactly("--start_port");
    assertThat(useless(COLLECTIVE, "master=127.0.0.1:" + FreePorts.one(), "rank=0", "max_restart=0", "start_port=6070"))
        .containsExactly("--start_port");
    assertThat(useless(JOB, "servers=127.0.0.1:" + FreePorts.one(), "worker_num=1", "start_port=6070")).containsExactly("--start_port");
  }

  @Test
  void of_trainers_that_meet_over_a_store_it_is_said_that_no_master_is_started() {
    LaunchedJob overStore = new LaunchedJob(1, true, true, "file:/mnt/meeting", List.of());
    assertThat(LaunchNotes.of(Words.options("nproc_per_node=1"), overStore, Words.plan(ports, overStore, 0, "nproc_per_node=1")))
        .singleElement().asString().contains("no master is started");
  }

  @Test
  void ports_for_shards_that_are_not_seen_are_said() {
    LaunchedJob unseen = LaunchedJob.ofArguments(List.of());
    String[] given = {"server_num=2", "worker_num=1", "start_port=" + FreePorts.one()};
    assertThat(LaunchNotes.of(Words.options(given), unseen, Words.plan(ports, unseen, 0, given))).singleElement().asString()
        .contains("servers are 8 ports apart");
  }
}
