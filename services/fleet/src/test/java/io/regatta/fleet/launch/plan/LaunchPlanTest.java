package io.regatta.fleet.launch.plan;

import static io.regatta.fleet.launch.Words.options;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.launch.ReservedPorts;
import io.regatta.fleet.launch.Words;
import io.regatta.fleet.role.LaunchedRole;
import io.regatta.fleet.role.RoleEnvironment;
import io.regatta.node.testing.FreePorts;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Options of a launch, and the processes with the variables that follow; these are read back as the processes read them. */
class LaunchPlanTest {

  private final ReservedPorts ports = new ReservedPorts();

  @AfterEach
  void release() {
    ports.close();
  }

  private LaunchPlan plan(int shards, String... given) {
    return Words.plan(ports, new LaunchedJob(shards, false, false, "", List.of()), 0, given);
  }

  private static List<RoleEnvironment> read(LaunchPlan plan) {
    return plan.processes().stream().map(process -> RoleEnvironment.read(process.environment())).toList();
  }

  @Test
  void servers_and_workers_of_one_machine_read_back_what_they_are() {
    LaunchPlan plan = plan(1, "server_num=2", "worker_num=3");
    assertThat(plan.collective()).isFalse();
    assertThat(plan.processes()).extracting(LaunchPlan.Planned::name).containsExactly("server 0", "server 1", "worker 0",
        "worker 1", "worker 2");
    List<RoleEnvironment> roles = read(plan);
    assertThat(roles).extracting(role -> role.value("fleet.role") + " " + role.value("fleet.id")).containsExactly("pserver 0",
        "pserver 1", "trainer 0", "trainer 1", "trainer 2");
    assertThat(roles).extracting(role -> role.value("fleet.server_endpoints")).hasSize(5).containsOnly(
        roles.get(0).value("fleet.server_endpoints"));
    assertThat(roles).allSatisfy(role -> assertThat(role.value("trainers")).isEqualTo("3"));
    assertThat(plan.why()).isEqualTo("Run parameter-server mode. pserver arguments:['--worker_num', '--server_num'], GPU count:0");
  }

  @Test
  void heter_workers_read_back_what_they_are_and_all_processes_know_them() {
    LaunchPlan plan = plan(1, "server_num=1", "worker_num=2", "heter_worker_num=2");
    assertThat(plan.processes()).extracting(LaunchPlan.Planned::name).containsExactly("server 0", "worker 0",
        "worker 1",
        "heter worker 0", "heter worker 1");
    List<RoleEnvironment> roles = read(plan);
    assertThat(roles).extracting(role -> role.value("fleet.role") + " "
        + role.value("fleet.id")).containsExactly("pserver 0",
        "trainer 0", "trainer 1", "heter_worker 0", "heter_worker 1");
    assertThat(roles).extracting(role -> role.value("fleet.heter_endpoints")).hasSize(5).containsOnly(
        roles.get(0).value("fleet.heter_endpoints")).doesNotContainNull();
    assertThat(roles).allSatisfy(role -> assertThat(role.value("heter.workers")).isEqualTo("2"));
    assertThat(plan.isWhole()).isTrue();
    assertThat(plan.of(LaunchedRole.HETER_WORKER).get(1).environment()).containsOnlyKeys("PADDLE_PSERVERS_IP_PORT_LIST",
        "PADDLE_TRAINER_ENDPOINTS", "PADDLE_HETER_TRAINER_IP_PORT_LIST", "PADDLE_TRAINERS_NUM", "PADDLE_WITH_GLOO",
        "PADDLE_GLOO_RENDEZVOUS", "PADDLE_GLOO_FS_PATH", "PADDLE_GLOO_HTTP_ENDPOINT", "TRAINING_ROLE", "POD_IP",
        "PADDLE_PORT",
        "FLAGS_selected_gpus", "FLAGS_selected_xpus").containsEntry("TRAINING_ROLE", "HETER_TRAINER");
  }

  @Test
  void gpus_are_the_heter_workers_if_there_are_any() {
    LaunchPlan plan = Words.plan(ports, Words.JOB, 4, "server_num=1", "worker_num=2", "heter_worker_num=3", "gpus=1,3");
    assertThat(Words.ofWorkers(plan, "CUDA_VISIBLE_DEVICES")).containsOnlyNulls();
    assertThat(plan.of(LaunchedRole.HETER_WORKER)).extracting(worker -> worker.environment().get("CUDA_VISIBLE_DEVICES"))
        .containsExactly("1", "3", "1");
    assertThat(plan.of(LaunchedRole.HETER_WORKER)).extracting(worker -> worker.environment().get("XPU_VISIBLE_DEVICES"))
        .containsExactly("1", "3", "1");
    assertThat(plan.of(LaunchedRole.HETER_WORKER)).allSatisfy(worker -> assertThat(worker.environment())
        .containsEntry("REGATTA_HETER_WORKER_GPUS", "0").doesNotContainKey("REGATTA_TRAINER_GPUS"));
  }

  @Test
  void heter_workers_of_lists_are_started_where_they_are_and_outlive_trainers_of_this_machine_for_those_of_others() {
    int port = FreePorts.one();
    String servers = "servers=127.0.0.1:" + FreePorts.one();
    LaunchPlan plan = plan(1, servers, "workers=127.0.0.1,10.9.9.9", "heter_workers=10.9.9.9:7000,127.0.0.1:" + port,
        "http_port=6767");
    assertThat(plan.count(LaunchedRole.HETER_WORKER)).isEqualTo(2);
    assertThat(plan.isWhole()).isFalse();
    assertThat(plan.of(LaunchedRole.HETER_WORKER)).singleElement().satisfies(worker -> assertThat(worker.environment())
        .containsEntry("PADDLE_PORT", Integer.toString(port)).containsEntry("REGATTA_HETER_WORKER_LIFETIME", "job"));
    assertThat(read(plan)).last().extracting(role -> role.value("fleet.id")).isEqualTo("1");
    assertThatThrownBy(() -> plan(1, "server_num=1", "worker_num=1", "heter_worker_num=2", "heter_workers=127.0.0.1:"
        + FreePorts.one()))
        .isInstanceOf(InvalidInput.class).hasMessage("The heter_worker_num and heter_workers doesn't match. Expect "
        + "heter_workers "
            + "endpoints num epual to heter_worker_num, but received heter_workers enpoint num: 1 and "
            + "heter_worker_num 2");
    assertThatThrownBy(() -> options("heter_workers=127.0.0.1")).isInstanceOf(InvalidInput.class).hasMessageContaining("--heter_workers");
  }

  @Test
  void each_shard_of_a_server_has_a_port_and_servers_follow_each_other_from_a_start_port() {
    int start = FreePorts.one();
    List<String> endpoints = List.of(read(plan(2, "server_num=2", "worker_num=1", "start_port=" + start)).get(0)
        .value("fleet.server_endpoints").split(","));
    assertThat(endpoints).containsExactly("127.0.0.1:" + start, "127.0.0.1:" + (start + 2));
  }

  @Test
  void a_launch_is_whole_if_it_starts_all_processes_of_the_job() {
    assertThat(plan(1, "server_num=2", "worker_num=3").isWhole()).isTrue();
    assertThat(plan(1, "nproc_per_node=2").isWhole()).isTrue();
    assertThat(plan(1, "servers=127.0.0.1:" + FreePorts.one(), "workers=127.0.0.1").isWhole()).isTrue();
    assertThat(plan(1, "servers=127.0.0.1:" + FreePorts.one() + ",10.9.9.9:6170", "workers=127.0.0.1").isWhole())
        .isFalse();
    assertThat(plan(1, "servers=127.0.0.1:" + FreePorts.one(), "workers=127.0.0.1,10.9.9.9").isWhole()).isFalse();
    assertThat(plan(1, "ips=127.0.0.1,10.9.9.9", "nproc_per_node=1").isWhole()).isFalse();
  }

  @Test
  void of_lists_each_machine_starts_its_own() {
    String[] job = {"servers=10.9.9.1:6170, 10.9.9.2:6170", "workers=10.9.9.1,10.9.9.1,10.9.9.2", "http_port=6767"};
    List<String> second = new ArrayList<>(List.of(job));
    second.add("host=10.9.9.2");
    assertThatThrownBy(() -> plan(1, job)).isInstanceOf(InvalidInput.class).hasMessageContaining("Can't find your local ip")
        .hasMessageContaining("--host");
    assertThatThrownBy(() -> plan(1, second.toArray(String[]::new))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("server 1 cannot have port 6170 on 10.9.9.2"); // which is none of this machine's addresses
  }

  @Test
  void workers_without_ports_are_announced_behind_the_servers() {
    LaunchPlan plan = plan(1, "servers=127.0.0.1:" + FreePorts.one(), "workers=127.0.0.1,10.9.9.9,127.0.0.1");
    assertThat(plan.endpoints()).containsExactly("127.0.0.1:6171", "10.9.9.9:6171", "127.0.0.1:6172");
    assertThat(plan.of(LaunchedRole.WORKER)).extracting(worker -> worker.environment().get("PADDLE_TRAINER_ID"))
        .containsExactly("0", "2");
  }

  @Test
  void collective_trainers_read_back_their_ranks() {
    LaunchPlan plan = plan(1, "nproc_per_node=3");
    assertThat(plan.collective()).isTrue();
    List<RoleEnvironment> roles = read(plan);
    assertThat(roles).extracting(role -> role.value("mode") + " " + role.value("fleet.id")).containsExactly("collective 0",
        "collective 1", "collective 2");
    assertThat(plan.placesName()).isEqualTo("PADDLE_TRAINER_ENDPOINTS");
  }

  @Test
  void several_machines_count_ranks_through() {
    LaunchPlan plan = plan(1, "ips=10.9.9.1,127.0.0.1", "nproc_per_node=2", "start_port=" + FreePorts.one());
    assertThat(plan.endpoints()).hasSize(4);
    assertThat(plan.processes()).extracting(process -> process.environment().get("PADDLE_TRAINER_ID")).containsExactly("2", "3");
  }

  @Test
  void machines_that_meet_count_ranks_through_and_the_first_has_the_meeting_place() {
    String master = "127.0.0.1:" + FreePorts.one();
    LaunchPlan first = plan(1, "master=" + master, "nnodes=2", "rank=0", "nproc_per_node=2");
    assertThat(first.processes()).extracting(LaunchPlan.Planned::name).containsExactly("master 0", "worker 0", "worker 1");
    assertThat(first.restarts()).as("not elastic").isZero();
    assertThat(first.placesName() + " " + first.meeting()).isEqualTo("PADDLE_MASTER " + master);
    LaunchPlan second = plan(1, "master=" + master, "nnodes=2", "rank=1", "nproc_per_node=2");
    assertThat(read(second)).extracting(role -> role.value("fleet.id") + " of " + role.value("trainers") + " at "
        + role.value("fleet.rendezvous_endpoint")).containsExactly("2 of 4 at " + master, "3 of 4 at " + master);
  }

  @Test
  void of_a_range_of_machines_ranks_are_open_and_trainers_are_started_again() {
    LaunchPlan plan = plan(1, "master=127.0.0.1:" + FreePorts.one(), "nnodes=1:3", "rank=2", "nproc_per_node=2", "max_restart=5");
    assertThat(plan.restarts()).isEqualTo(5);
    assertThat(read(plan)).hasSize(2).allSatisfy(role -> {
      assertThat(role.value("fleet.id")).isNull();
      assertThat(role.value("trainers") + " " + role.value("collective.min_trainers")).isEqualTo("6 2");
    });
  }

  @Test
  void trainers_of_an_elastic_job_meet_at_a_place_of_its_own_on_one_machine_as_well() {
    LaunchPlan plan = Words.plan(ports, new LaunchedJob(1, true, true, "", List.of()), 0, "nproc_per_node=2");
    assertThat(plan.processes()).extracting(LaunchPlan.Planned::name).containsExactly("master 0", "worker 0", "worker 1");
    assertThat(plan.restarts()).isEqualTo(3);
  }

  @Test
  void trainers_that_meet_over_a_store_have_no_master_and_are_started_again() {
    LaunchedJob overStore = new LaunchedJob(1, true, true, "file:/mnt/meeting", List.of());
    LaunchPlan plan = Words.plan(ports, overStore, 0, "nproc_per_node=2");
    assertThat(plan.processes()).extracting(LaunchPlan.Planned::name).containsExactly("worker 0", "worker 1");
    assertThat(plan.restarts()).isEqualTo(3);
    assertThat(read(plan)).allSatisfy(role -> assertThat(role.value("fleet.role") + " of " + role.value("trainers") + ", "
        + role.value("fleet.id")).isEqualTo("trainer of 2, null"));
    LaunchPlan first = Words.plan(ports, overStore, 0, "master=127.0.0.1:" + FreePorts.one(), "nnodes=2", "rank=0", "nproc_per_node=1");
    assertThat(first.processes()).extracting(LaunchPlan.Planned::name).containsExactly("worker 0");
    assertThat(List.of(plan, first)).allSatisfy(any -> assertThat(any.placesName() + " " + any.places())
        .isEqualTo("collective.store [file:/mnt/meeting]"));
  }

  @Test
  void without_lists_processes_are_at_the_address_that_is_given_as_this_machines_own() {
    LaunchPlan servers = plan(1, "server_num=2", "worker_num=1", "host=127.0.0.2");
    assertThat(servers.processes()).hasSize(3);
    assertThat(servers.serversHere()).hasSize(2).allMatch(server -> server.startsWith("127.0.0.2:"));
    assertThat(servers.endpoints()).allMatch(worker -> worker.startsWith("127.0.0.2:"));
    assertThat(plan(1, "nproc_per_node=2", "host=127.0.0.2").endpoints()).hasSize(2).allMatch(at -> at.startsWith("127.0.0.2:"));
    LaunchPlan elastic = Words.plan(ports, new LaunchedJob(1, true, true, "", List.of()), 0, "nproc_per_node=1", "host=127.0.0.2");
    assertThat(elastic.meeting()).startsWith("127.0.0.2:");
    assertThat(elastic.of(LaunchedRole.MASTER)).hasSize(1);
  }

  @Test
  void servers_of_a_program_whose_shards_cannot_be_seen_are_some_ports_apart() {
    int start = FreePorts.one();
    LaunchedJob unseen = LaunchedJob.ofArguments(List.of("--rows", "2"));
    LaunchPlan plan = Words.plan(ports, unseen, 0, "server_num=2", "worker_num=1", "start_port=" + start);
    assertThat(plan.serversHere()).containsExactly("127.0.0.1:" + start, "127.0.0.1:" + (start + 8));
    assertThat(Words.plan(ports, unseen, 0, "server_num=2", "worker_num=1").serversHere()).hasSize(2);
  }

  @Test
  void programs_are_told_of_gloo_what_the_user_says() {
    assertThat(Words.ofWorkers(plan(1, "server_num=1", "worker_num=1"), "PADDLE_WITH_GLOO")).containsExactly("0");
    LaunchPlan plan = plan(1, "server_num=1", "worker_num=1", "with_gloo=1");
    assertThat(plan.processes()).allSatisfy(process -> assertThat(process.environment()).containsEntry("PADDLE_WITH_GLOO", "1")
        .containsEntry("PADDLE_HETER_TRAINER_IP_PORT_LIST", "").containsKeys("PADDLE_GLOO_FS_PATH", "PADDLE_GLOO_HTTP_ENDPOINT"));
    assertThat(read(plan)).hasSize(2);
    assertThatThrownBy(() -> plan(1, "servers=127.0.0.1:" + FreePorts.one() + ",10.9.9.9:6170", "workers=127.0.0.1", "with_gloo=1"))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("give --http_port PORT");
  }

  @Test
  void contradictions_are_one_line() {
    assertThatThrownBy(() -> plan(1, "server_num=1", "nproc_per_node=2")).isInstanceOf(InvalidInput.class)
        .hasMessageStartingWith("Only one mode(Collective or Parameter-Server) can be selected at the same time");
    assertThatThrownBy(() -> plan(1, "worker_num=1")).isInstanceOf(InvalidInput.class)
        .hasMessage("The setting of Parameter-Server must has server_num or servers.");
    assertThatThrownBy(() -> plan(1, "server_num=1")).isInstanceOf(InvalidInput.class)
        .hasMessage("The setting of Parameter-Server must has worker_num or workers.");
    assertThatThrownBy(() -> plan(1, "server_num=2", "servers=127.0.0.1:1", "worker_num=1")).isInstanceOf(InvalidInput.class)
        .hasMessageStartingWith("The server_num and servers doesn't match.");
    assertThatThrownBy(() -> options("gpus=0,x")).isInstanceOf(InvalidInput.class).hasMessageContaining("--gpus");
    assertThatThrownBy(() -> options("nnodes=2")).isInstanceOf(InvalidInput.class).hasMessageContaining("needs --master");
    assertThatThrownBy(() -> options("nnodes=4:2", "master=a:1")).isInstanceOf(InvalidInput.class).hasMessageContaining("--nnodes");
    assertThatThrownBy(() -> options("nnodes=2", "rank=2", "master=a:1")).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("--rank is 2");
    assertThatThrownBy(() -> options("ips=a", "master=a:1")).isInstanceOf(InvalidInput.class).hasMessageContaining("--master and --ips");
    assertThatThrownBy(() -> options("server_num=0")).isInstanceOf(InvalidInput.class).hasMessageContaining("--server_num");
    assertThatThrownBy(() -> options("servers=a:1,a:1")).isInstanceOf(InvalidInput.class).hasMessageContaining("twice");
  }

  @Test
  void the_block_of_options_is_sorted_and_shows_what_was_not_given() {
    assertThat(options("worker_num=2", "server_num=1", "gpus=0,1").block()).isEqualTo("""
        -----------  Configuration Arguments -----------
        gpus: 0,1
        heter_worker_num: None
        heter_workers:
        host: None
        http_port: None
        ips: 127.0.0.1
        job_id: default
        log_dir: log
        master: None
        max_restart: 3
        nnodes: 1
        nproc_per_node: None
        rank: -1
        server_num: 1
        servers:
        start_port: None
        training_script: job.yaml
        training_script_args: ['--max-steps', '5']
        worker_num: 2
        workers:
        ------------------------------------------------""");
    assertThat(options("hosts=machines", "job_workspace=/w/%h", "host=a").block()).contains("\nhost: a\nhosts: machines\n",
        "\njob_dispatch_package: None\njob_id: default\njob_workspace: /w/%h\n");
  }
}
