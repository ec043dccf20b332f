package io.regatta.fleet.role;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.settings.Settings;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Variables as PaddlePaddle's documents and launchers set them, and the keys that follow. */
class RoleEnvironmentTest {

  private static final String FLEET = "PADDLE_PSERVERS_IP_PORT_LIST=10.89.176.11:36000,10.89.176.12:36000;PADDLE_TRAINERS_NUM=2";
  private static final String FLUID = "PADDLE_PSERVER_IPS=ps0.example.com, ps1.example.com;PADDLE_TRAINERS=2";

  private static Map<String, String> environment(String text) {
    Map<String, String> variables = new LinkedHashMap<>();
    for (String each : text.split(";")) {
      variables.put(each.substring(0, each.indexOf('=')), each.substring(each.indexOf('=') + 1));
    }
    return variables;
  }

  private static String keys(String text) {
    return String.join(" ", RoleEnvironment.read(environment(text)).options().stream()
        .map(option -> option.key() + "=" + option.value()).sorted().toList());
  }

  @Test
  void a_server_of_fleet() {
    assertThat(keys(FLEET + ";TRAINING_ROLE=PSERVER;POD_IP=10.89.176.12;PADDLE_PORT=36000")).isEqualTo(
        "fleet.id=1 fleet.role=pserver fleet.server_endpoints=10.89.176.11:36000,10.89.176.12:36000 node.host=10.89.176.12 "
            + "servers=2 trainers=2");
  }

  @Test
  void a_heter_worker_of_fleet_and_its_trainers() {
    String job = FLEET + ";PADDLE_HETER_TRAINER_IP_PORT_LIST=10.89.176.13:7000, 10.89.176.14:7000";
    String heter = "fleet.heter_endpoints=10.89.176.13:7000,10.89.176.14:7000";
    String servers = "fleet.server_endpoints=10.89.176.11:36000,10.89.176.12:36000";
    assertThat(keys(job + ";TRAINING_ROLE=HETER_TRAINER;POD_IP=10.89.176.14;PADDLE_PORT=7000;STAGE_ID=2;STAGE_NUM=2;HETER_DEVICE_TYPE=GPU"))
        .isEqualTo(heter + " fleet.id=1 fleet.role=heter_worker " + servers
            + " heter.device=gpu:0 heter.workers=2 node.host=10.89.176.14 servers=2 trainers=2");
    assertThat(keys(job + ";TRAINING_ROLE=TRAINER;PADDLE_TRAINER_ID=1;STAGE_ID=1;STAGE_NUM=2")).isEqualTo(heter
        + " fleet.id=1 fleet.role=trainer " + servers + " heter.workers=2 servers=2 trainers=2");
    assertThat(keys(job.replace("PADDLE_HETER", "PADDLE_ALL_HETER") + ";TRAINING_ROLE=TRAINER;PADDLE_TRAINER_ID=1"))
        .contains(heter, "heter.workers=2");
  }

  @Test
  void a_trainer_of_fleet_with_spaces_in_its_lists() {
    assertThat(keys("PADDLE_PSERVERS_IP_PORT_LIST= a:1 , b:2, ;PADDLE_TRAINERS_NUM= 2 ;TRAINING_ROLE=TRAINER ;"
        + "PADDLE_TRAINER_ID=1;PADDLE_TRAINER_ENDPOINTS=c:3, d:4;PADDLE_WITH_GLOO=0")).isEqualTo(
        "fleet.endpoint=d:4 fleet.id=1 fleet.role=trainer fleet.server_endpoints=a:1,b:2 servers=2 trainers=2");
  }

  @Test
  void server_and_trainer_of_fluid() {
    assertThat(keys(FLUID + ";PADDLE_TRAINING_ROLE=PSERVER;PADDLE_CURRENT_IP=ps1.example.com;PADDLE_PSERVER_PORT=6180"))
        .isEqualTo("fleet.id=1 fleet.role=pserver fleet.server_endpoints=ps0.example.com:6180,ps1.example.com:6180 "
            + "node.host=ps1.example.com servers=2 trainers=2");
    assertThat(keys(FLUID + ";PADDLE_TRAINING_ROLE=TRAINER;PADDLE_TRAINER_ID=1")).isEqualTo("fleet.id=1 fleet.role=trainer "
        + "fleet.server_endpoints=ps0.example.com:6174,ps1.example.com:6174 servers=2 trainers=2");
  }

  @Test
  void hosts_may_be_ipv6_addresses() {
    assertThat(keys("PADDLE_PSERVER_IPS=fd00::1,[fd00::2];PADDLE_TRAINERS=1;PADDLE_TRAINING_ROLE=PSERVER;PADDLE_CURRENT_IP=fd00::2"))
        .contains("fleet.id=1", "fleet.server_endpoints=[fd00::1]:6174,[fd00::2]:6174", "node.host=fd00::2");
    assertThat(keys("PADDLE_INIT_PSERVERS=::1")).contains("fleet.server_endpoints=[::1]:7164");
  }

  @Test
  void a_list_of_trainers_beside_later_variables_is_none_of_fluid() {
    assertThat(keys("PADDLE_TRAINERS=a,b;PADDLE_TRAINERS_NUM=2;PADDLE_TRAINER_ENDPOINTS=a:1,b:2;PADDLE_TRAINER_ID=1"))
        .contains("fleet.id=1", "mode=collective");
    assertThat(keys(FLEET + ";PADDLE_TRAINERS=a,b;TRAINING_ROLE=TRAINER;PADDLE_TRAINING_ROLE=TRAINER;PADDLE_TRAINER_ID=1"))
        .contains("fleet.id=1", "servers=2");
  }

  @Test
  void a_trainer_of_v2() {
    assertThat(keys("PADDLE_INIT_USE_GPU=False;PADDLE_INIT_TRAINER_COUNT=4;PADDLE_INIT_PORT=7164;PADDLE_INIT_PORTS_NUM=1;"
        + "PADDLE_INIT_PORTS_NUM_FOR_SPARSE=2;PADDLE_INIT_NUM_GRADIENT_SERVERS=3;PADDLE_INIT_TRAINER_ID=2;"
        + "PADDLE_INIT_PSERVERS=10.0.0.1,10.0.0.2")).isEqualTo("device=cpu fleet.id=2 fleet.role=trainer "
        + "fleet.server_endpoints=10.0.0.1:7164,10.0.0.2:7164 servers=2 shards=3 sparse_shards=2 threads=4 trainers=3");
  }

  @Test
  void arguments_in_the_words_of_v2_go_before_its_variables_and_are_what_messages_name() {
    Map<String, String> variables = environment("PADDLE_INIT_PSERVERS=10.0.0.1;PADDLE_INIT_TRAINER_ID=0;PADDLE_INIT_NUM_GRADIENT_SERVERS=2");
    RoleEnvironment role = RoleEnvironment.read(variables, Map.of("PADDLE_INIT_TRAINER_ID", "1"));
    assertThat(role.value("fleet.id")).isEqualTo("1");
    assertThat(role.options()).extracting(Settings.Option::name).contains("--trainer_id", "environment variable PADDLE_INIT_PSERVERS");
    assertThatThrownBy(() -> RoleEnvironment.read(variables, Map.of("PADDLE_INIT_TRAINER_ID", "2"))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("--trainer_id is 2, but PADDLE_INIT_NUM_GRADIENT_SERVERS says that there are 2");
    assertThatThrownBy(() -> RoleEnvironment.read(environment("TRAINING_ROLE=TRAINER"), Map.of("PADDLE_INIT_PSERVERS", "a")))
        .isInstanceOf(InvalidInput.class).hasMessageContaining("in 2 ways at once: --pservers and TRAINING_ROLE");
  }

  @Test
  void who_trains_alone_takes_threads_and_device_in_the_words_of_v2_and_is_told_of_variables() {
    RoleEnvironment alone = RoleEnvironment.alone(environment("PADDLE_INIT_TRAINER_COUNT=4;PADDLE_INIT_USE_GPU=False;PADDLE_INIT_PSERVERS=a"),
        Map.of("PADDLE_INIT_TRAINER_COUNT", "3"));
    assertThat(alone.value("threads")).isEqualTo("3");
    assertThat(alone.value("device")).isEqualTo("cpu");
    assertThat(alone.value("servers")).isNull();
    assertThat(alone.notes()).containsExactly("PADDLE_INIT_USE_GPU is False: device = cpu");
  }

  @Test
  void a_trainer_that_knows_the_meeting_place_alone() {
    assertThat(keys("PADDLE_MASTER=10.0.0.1:6379;PADDLE_NNODES=1:2;PADDLE_LOCAL_SIZE=2")).isEqualTo("collective.min_trainers=2 "
        + "fleet.rendezvous_endpoint=10.0.0.1:6379 fleet.role=trainer mode=collective servers=0 trainers=4");
  }

  @Test
  void a_collective_trainer() {
    assertThat(keys("PADDLE_TRAINER_ENDPOINTS=10.0.0.1:6170,10.0.0.2:6170;PADDLE_TRAINER_ID=1;"
        + "PADDLE_CURRENT_ENDPOINT=10.0.0.2:6170;PADDLE_TRAINERS_NUM=2")).isEqualTo("fleet.id=1 fleet.role=trainer "
        + "fleet.trainer_endpoints=10.0.0.1:6170,10.0.0.2:6170 mode=collective node.host=10.0.0.2 servers=0 trainers=2");
  }

  @Test
  void collective_trainers_that_meet_over_http_do_so_at_the_first_ones_endpoint() {
    assertThat(keys("PADDLE_TRAINER_ENDPOINTS=a:1,b:2;PADDLE_TRAINER_ID=1;PADDLE_WITH_GLOO=1;PADDLE_GLOO_RENDEZVOUS=3"))
        .contains("fleet.id=1", "mode=collective");
  }

  @Test
  void ranks_of_schedulers() {
    assertThat(keys("OMPI_COMM_WORLD_RANK=1;OMPI_COMM_WORLD_SIZE=3;OMPI_COMM_WORLD_LOCAL_SIZE=2"))
        .isEqualTo("fleet.hosts_services=true fleet.id=1 fleet.role=trainer trainers=3");
    assertThat(keys("SLURM_PROCID=0;SLURM_NTASKS=2;SLURM_NNODES=2"))
        .isEqualTo("fleet.hosts_services=true fleet.id=0 fleet.role=trainer trainers=2");
    assertThat(keys("POD_NAME=trainer-11")).isEqualTo("fleet.id=11");
    assertThat(keys("POD_NAME=job-x7k2f")).isEmpty();
  }

  @Test
  void trainers_on_one_machine_meet_there_each_job_at_a_port_of_its_own() {
    String one = keys("OMPI_COMM_WORLD_RANK=0;OMPI_COMM_WORLD_SIZE=3;OMPI_COMM_WORLD_LOCAL_SIZE=3;PMIX_NAMESPACE=1911881729");
    assertThat(one).containsPattern("fleet.meeting_place=127.0.0.1:2\\d{4} ").isEqualTo(keys("OMPI_COMM_WORLD_RANK=0;"
        + "OMPI_COMM_WORLD_SIZE=3;OMPI_COMM_WORLD_LOCAL_SIZE=3;PMIX_NAMESPACE=1911881729"));
    assertThat(keys("OMPI_COMM_WORLD_RANK=0;OMPI_COMM_WORLD_SIZE=3;OMPI_COMM_WORLD_LOCAL_SIZE=3;PMIX_NAMESPACE=1911881730"))
        .isNotEqualTo(one);
    assertThat(keys("SLURM_PROCID=0;SLURM_NTASKS=2;SLURM_NNODES=1;SLURM_JOB_ID=7")).contains("fleet.meeting_place=127.0.0.1:2");
    assertThat(keys("SLURM_PROCID=0;SLURM_NTASKS=2;SLURM_NNODES=1;SLURM_JOB_ID=7;SLURM_STEP_ID=0")).as("two steps of one allocation")
        .isNotEqualTo(keys("SLURM_PROCID=0;SLURM_NTASKS=2;SLURM_NNODES=1;SLURM_JOB_ID=7;SLURM_STEP_ID=1"));
    RoleEnvironment unnamed = RoleEnvironment.read(environment("PMI_RANK=0;PMI_SIZE=2;MPI_LOCALNRANKS=2"));
    assertThat(unnamed.value("fleet.meeting_place")).isNull();
    assertThat(unnamed.readings()).anySatisfy(reading -> assertThat(reading.meaning()).contains("without PMI_JOBID", "give --seeds"));
  }

  @Test
  void what_is_no_part_of_a_job() {
    RoleEnvironment alone = RoleEnvironment.read(environment("TRAINING_ROLE=TRAINER"));
    assertThat(alone.isGiven()).isFalse();
    assertThat(alone.notes()).singleElement().asString().contains("PADDLE_PSERVERS_IP_PORT_LIST is not set");
    assertThat(RoleEnvironment.read(environment("PADDLE_TRAINER_ENDPOINTS=127.0.0.1:6170")).isGiven()).isFalse();
    assertThat(RoleEnvironment.read(Map.of("HOME", "/root")).readings()).isEmpty();
  }

  @Test
  void what_lacks_its_other_half_is_said_or_refused() {
    assertThat(keys("TRAINING_ROLE=TRAINER;PADDLE_TRAINER_ENDPOINTS=a:1,b:2;PADDLE_TRAINER_ID=1")).contains("fleet.id=1",
        "mode=collective"); // a wrapper's role does not make them train alone
    assertThat(keys("TRAINING_ROLE=TRAINER;PADDLE_MASTER=a:1;PADDLE_NNODES=2")).contains("mode=collective");
    RoleEnvironment half = RoleEnvironment.read(environment("PADDLE_TRAINER_ID=1;PADDLE_TRAINERS_NUM=2"));
    assertThat(half.isGiven()).isFalse();
    assertThat(half.notes()).hasSize(2).first().asString().contains("PADDLE_TRAINER_ID is set, but neither");
    assertThat(keys("SLURM_PROCID=0;SLURM_NTASKS=1")).isEmpty();
    assertThat(keys("SLURM_PROCID=0")).isEmpty();
    assertThat(keys("POD_NAME=trainer-24578")).isEmpty();
    assertThat(keys("PADDLE_PSERVERS_IP_PORT_LIST=[::1]:6170;PADDLE_TRAINERS_NUM=1;TRAINING_ROLE=PSERVER;POD_IP=::1;PADDLE_PORT=6170"))
        .contains("fleet.id=0");
  }

  @Test
  void a_proxy_is_shown_and_no_part() {
    RoleEnvironment role = RoleEnvironment.read(environment(FLEET + ";TRAINING_ROLE=TRAINER;PADDLE_TRAINER_ID=0;"
        + "http_proxy=http://proxy:3128"));
    assertThat(role.notes()).as("every node says it, whoever gave it its part").isEmpty();
    assertThat(role.readings()).anySatisfy(reading -> assertThat(reading.variable()).isEqualTo("http_proxy"));
  }

  @Test
  void what_is_set_and_not_looked_at_is_shown_too() {
    RoleEnvironment trainer = RoleEnvironment.read(environment(FLEET + ";TRAINING_ROLE=TRAINER;PADDLE_TRAINER_ID=0;PADDLE_PORT=36000;"
        + "PADDLE_GLOO_RENDEZVOUS=3;SYS_JOB_ID=7;CPU_NUM=4;SLURM_PROCID=1;PADDLE_TRAINER_NUM=3;HOME=/root"));
    assertThat(trainer.readings()).filteredOn(reading -> reading.meaning().equals("none: not looked at for this kind of part"))
        .extracting(RoleEnvironment.Reading::variable).containsExactly("CPU_NUM", "PADDLE_GLOO_RENDEZVOUS", "PADDLE_PORT",
            "PADDLE_TRAINER_NUM", "SLURM_PROCID", "SYS_JOB_ID");
    assertThat(trainer.notes()).isEmpty();
    assertThat(RoleEnvironment.read(environment("FLAGS_selected_gpus=0")).readings()).singleElement()
        .extracting(RoleEnvironment.Reading::meaning).isEqualTo("none: it gives no part by itself");
  }

  @Test
  void every_key_names_its_variable() {
    assertThat(RoleEnvironment.read(environment(FLEET + ";TRAINING_ROLE=TRAINER;PADDLE_TRAINER_ID=0")).options())
        .extracting(Settings.Option::name).contains("environment variable TRAINING_ROLE",
            "environment variable PADDLE_TRAINERS_NUM").doesNotContainNull();
  }

  @ParameterizedTest(name = "{0}")
  @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
      TRAINING_ROLE=PSERVER | Can not find PADDLE_PSERVERS_IP_PORT_LIST, please check your environment.
      TRAINING_ROLE=WORKER | TRAINING_ROLE must be PSERVER or TRAINER or HETER_TRAINER, but get WORKER, please check your environment.
      TRAINING_ROLE=PSERVER;PADDLE_TRAINER_ENDPOINTS=a:1,b:2 | Can not find PADDLE_PSERVERS_IP_PORT_LIST, please check your environment.
      TRAINING_ROLE=WORKER;PADDLE_TRAINER_ENDPOINTS=a:1,b:2 | TRAINING_ROLE must be PSERVER or TRAINER or HETER_TRAINER, but get WORKER
      TRAINING_ROLE=PSERVER;PADDLE_MASTER=a:1;PADDLE_NNODES=2 | Can not find PADDLE_PSERVERS_IP_PORT_LIST, please check your environment.
      PADDLE_TRAINING_ROLE=PSERVER | Can not find PADDLE_PSERVER_IPS, please check your environment. PADDLE_TRAINING_ROLE is PSERVER
      PADDLE_TRAINING_ROLE=BOSS;PADDLE_TRAINERS_NUM=2 | PADDLE_TRAINING_ROLE should be one of [TRAINER, PSERVER], but is BOSS
      PADDLE_PSERVERS_IP_PORT_LIST=a:1 | Can not find PADDLE_TRAINERS_NUM, please check your environment.
      PADDLE_PSERVERS_IP_PORT_LIST=a:1;PADDLE_TRAINERS_NUM=2 | Can not find TRAINING_ROLE, please check your environment.
      PADDLE_PSERVERS_IP_PORT_LIST=a:1;PADDLE_TRAINERS_NUM=2;TRAINING_ROLE=CAPTAIN | TRAINING_ROLE must be PSERVER or TRAINER or HETER_TRAINER, but get CAPTAIN, please check your environment.
      PADDLE_PSERVERS_IP_PORT_LIST=a:1;PADDLE_TRAINERS_NUM=2;TRAINING_ROLE=COORDINATOR | TRAINING_ROLE is COORDINATOR, which is no role here: start this process as TRAINER, PSERVER or HETER_TRAINER
      PADDLE_PSERVERS_IP_PORT_LIST=a:1;PADDLE_TRAINERS_NUM=2;TRAINING_ROLE=HETER_TRAINER | Can not find PADDLE_HETER_TRAINER_IP_PORT_LIST, please check your environment.
      PADDLE_PSERVERS_IP_PORT_LIST=a:1;PADDLE_TRAINERS_NUM=2;TRAINING_ROLE=HETER_TRAINER;PADDLE_HETER_TRAINER_IP_PORT_LIST=a:7,b:7;PADDLE_PORT=7 | Can not find POD_IP, please check your environment.
      PADDLE_PSERVERS_IP_PORT_LIST=a:1;PADDLE_TRAINERS_NUM=2;TRAINING_ROLE=HETER_TRAINER;PADDLE_HETER_TRAINER_IP_PORT_LIST=a:7,b:7;POD_IP=c;PADDLE_PORT=7 | say that this heter worker is c:7, which is none of PADDLE_HETER_TRAINER_IP_PORT_LIST = a:7,b:7
      PADDLE_PSERVERS_IP_PORT_LIST=a:1;PADDLE_TRAINERS_NUM=2;TRAINING_ROLE=TRAINER;PADDLE_TRAINER_ID=0;PADDLE_HETER_TRAINER_IP_PORT_LIST=a:7,b:7;PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST=a:7 | PADDLE_ALL_HETER_TRAINER_IP_PORT_LIST is a:7, but PADDLE_HETER_TRAINER_IP_PORT_LIST is a:7,b:7
      PADDLE_PSERVERS_IP_PORT_LIST=a:1;PADDLE_TRAINERS_NUM=2;TRAINING_ROLE=TRAINER;PADDLE_TRAINER_ID=0;PADDLE_HETER_TRAINER_IP_PORT_LIST=a:7,b:7;STAGE_NUM=3 | STAGE_NUM is 3, but a network has one cut
      PADDLE_PSERVERS_IP_PORT_LIST=a:1;PADDLE_TRAINERS_NUM=2;TRAINING_ROLE=TRAINER;PADDLE_TRAINER_ID=0;PADDLE_HETER_TRAINER_IP_PORT_LIST=a:7,b:7;STAGE_ID=2 | STAGE_ID is 2, but of a network with one cut trainers have stage 1
      PADDLE_PSERVERS_IP_PORT_LIST=a:1;PADDLE_TRAINERS_NUM=2;TRAINING_ROLE=TRAINER;PADDLE_TRAINER_ID=0;PADDLE_HETER_TRAINER_IP_PORT_LIST=a:7,b:7;HETER_DEVICE_TYPE=xpu | HETER_DEVICE_TYPE must be cpu or gpu, but is "xpu"
      TRAINING_ROLE=HETER_TRAINER | Can not find PADDLE_PSERVERS_IP_PORT_LIST, please check your environment. TRAINING_ROLE is HETER_TRAINER, and heter workers
      PADDLE_PSERVERS_IP_PORT_LIST=a:1;PADDLE_TRAINERS_NUM=2;TRAINING_ROLE=TRAINER | Can not find PADDLE_TRAINER_ID, please check your environment.
      PADDLE_PSERVERS_IP_PORT_LIST=a:1;PADDLE_TRAINERS_NUM=2;TRAINING_ROLE=TRAINER;PADDLE_TRAINER_ID=2 | PADDLE_TRAINER_ID is 2, but PADDLE_TRAINERS_NUM says that there are 2
      PADDLE_PSERVERS_IP_PORT_LIST=a:1;PADDLE_TRAINERS_NUM=two;TRAINING_ROLE=TRAINER | PADDLE_TRAINERS_NUM must be a whole number of at least 1, but is "two"
      PADDLE_PSERVERS_IP_PORT_LIST=a:1;PADDLE_TRAINERS_NUM=2;TRAINING_ROLE=PSERVER;PADDLE_PORT=1 | Can not find POD_IP, please check your environment.
      PADDLE_PSERVERS_IP_PORT_LIST=a:1;PADDLE_TRAINERS_NUM=2;TRAINING_ROLE=PSERVER;POD_IP=b;PADDLE_PORT=1 | say that this server is b:1, which is none of PADDLE_PSERVERS_IP_PORT_LIST = a:1
      PADDLE_PSERVERS_IP_PORT_LIST=a:1,a:1;PADDLE_TRAINERS_NUM=2;TRAINING_ROLE=TRAINER | PADDLE_PSERVERS_IP_PORT_LIST has an endpoint twice
      PADDLE_PSERVERS_IP_PORT_LIST=a;PADDLE_TRAINERS_NUM=2;TRAINING_ROLE=TRAINER | PADDLE_PSERVERS_IP_PORT_LIST
      PADDLE_TRAINING_ROLE=PSERVER;PADDLE_TRAINERS=2;PADDLE_CURRENT_IP=a | Can not find PADDLE_PSERVER_IPS, please check your environment.
      PADDLE_PSERVER_IPS=a;PADDLE_TRAINERS=1;PADDLE_TRAINING_ROLE=BOSS | PADDLE_TRAINING_ROLE should be one of [TRAINER, PSERVER], but is BOSS
      PADDLE_PSERVER_IPS=a;PADDLE_TRAINERS=1;PADDLE_TRAINING_ROLE=PSERVER;PADDLE_CURRENT_IP=b | PADDLE_CURRENT_IP says that this server is b
      PADDLE_TRAINERS=2 | Can not find PADDLE_PSERVER_IPS, please check your environment.
      PADDLE_PSERVER_IPS=a;PADDLE_TRAINER_ENDPOINTS=a:1,b:2;TRAINING_ROLE=TRAINER;PADDLE_PSERVERS_IP_PORT_LIST=a:1 | in 2 ways at once
      PADDLE_INIT_PSERVER=a | PADDLE_INIT_PSERVER is none of the variables PADDLE_INIT_*
      PADDLE_PSERVER_IPS=127.0.0.1,127.0.0.1;PADDLE_TRAINERS=1;PADDLE_TRAINING_ROLE=TRAINER | PADDLE_PSERVER_IPS has a host twice: "127.0.0.1,127.0.0.1"
      PADDLE_PSERVER_IPS=ps0:6174;PADDLE_TRAINERS=1;PADDLE_TRAINING_ROLE=TRAINER | PADDLE_PSERVER_IPS: expected a host without a port, which is PADDLE_PSERVER_PORT's, got "ps0:6174"
      PADDLE_PSERVER_IPS=ps0;PADDLE_PSERVER_PORT=70000;PADDLE_TRAINERS=1;PADDLE_TRAINING_ROLE=TRAINER | PADDLE_PSERVER_PORT must be a port, from 1 to 65535, but is "70000"
      PADDLE_INIT_PSERVERS=a, a | PADDLE_INIT_PSERVERS has a host twice
      PADDLE_INIT_PSERVERS=[::1]:7164 | PADDLE_INIT_PSERVERS: expected a host without a port, which is PADDLE_INIT_PORT's
      PADDLE_INIT_USE_GPU=maybe | PADDLE_INIT_USE_GPU must be True or False, but is "maybe"
      PADDLE_INIT_PSERVERS=a;TRAINING_ROLE=TRAINER | in 2 ways at once: PADDLE_INIT_PSERVERS and TRAINING_ROLE
      PADDLE_TRAINER_ENDPOINTS=a:1,b:2;PADDLE_TRAINERS_NUM=3 | PADDLE_TRAINERS_NUM is 3, but PADDLE_TRAINER_ENDPOINTS has 2
      PADDLE_TRAINER_ENDPOINTS=a:1,b:2;PADDLE_TRAINER_ID=5 | PADDLE_TRAINER_ID is 5, but PADDLE_TRAINER_ENDPOINTS says that there are 2
      PADDLE_TRAINER_ENDPOINTS=a:1,b:2;PADDLE_TRAINING_ROLE=PSERVER | PADDLE_TRAINING_ROLE is PSERVER
      PADDLE_TRAINER_ENDPOINTS=a:1,b:2;PADDLE_CURRENT_ENDPOINT=b:2 | PADDLE_CURRENT_ENDPOINT is b:2, but PADDLE_TRAINER_ID 0
      PADDLE_TRAINER_ENDPOINTS=a:1,b:2;PADDLE_WITH_GLOO=1 | gloo initialized error, please check arguments
      PADDLE_TRAINER_ENDPOINTS=a:1,b:2;PADDLE_WITH_GLOO=1;PADDLE_GLOO_RENDEZVOUS=2 | PADDLE_GLOO_FS_PATH must be set
      PADDLE_TRAINER_ENDPOINTS=a:1,b:2;PADDLE_WITH_GLOO=3 | PADDLE_WITH_GLOO must be 0 (off), 1 (workers) or 2 (workers and all), but is "3"
      PADDLE_PSERVERS_IP_PORT_LIST=a:1;PADDLE_TRAINERS_NUM=2;TRAINING_ROLE=TRAINER;PADDLE_TRAINER_ID=0;PADDLE_WITH_GLOO=1;PADDLE_GLOO_RENDEZVOUS=3 | PADDLE_GLOO_HTTP_ENDPOINT must be set
      PADDLE_PSERVERS_IP_PORT_LIST=a:1;PADDLE_TRAINERS_NUM=2;TRAINING_ROLE=TRAINER;PADDLE_TRAINER_ID=0;PADDLE_WITH_GLOO=2;PADDLE_GLOO_RENDEZVOUS=3;PADDLE_GLOO_HTTP_ENDPOINT=garbage | PADDLE_GLOO_HTTP_ENDPOINT: expected host:port, got "garbage"
      PADDLE_MASTER=a:1;PADDLE_NNODES=3:2 | PADDLE_NNODES must be a number of machines, or a range like 2:4, but is "3:2"
      PADDLE_MASTER=a;PADDLE_NNODES=2 | PADDLE_MASTER
      PADDLE_MASTER=a:1;PADDLE_NNODES=2;PADDLE_TRAINER_ID=2 | PADDLE_TRAINER_ID is 2, but PADDLE_NNODES says that there are 2
      OMPI_COMM_WORLD_RANK=3;OMPI_COMM_WORLD_SIZE=3 | OMPI_COMM_WORLD_RANK is 3, but OMPI_COMM_WORLD_SIZE says that there are 3
      """)
  void what_is_wrong_is_named(String variables, String message) {
    assertThatThrownBy(() -> RoleEnvironment.read(environment(variables))).isInstanceOf(InvalidInput.class)
        .hasMessageContaining(message);
    assertThat(RoleEnvironment.wrong(environment(variables))).first().asString().contains(message);
  }

  @Test
  void all_that_is_wrong_is_named_and_nothing_that_only_follows_from_it() {
    assertThat(RoleEnvironment.wrong(environment("PADDLE_PSERVERS_IP_PORT_LIST=a:1,b;PADDLE_TRAINERS_NUM=two;TRAINING_ROLE=PSERVER;"
        + "PADDLE_PORT=70000;PADDLE_WITH_GLOO=3"))).satisfiesExactly(
        line -> assertThat(line).startsWith("PADDLE_PSERVERS_IP_PORT_LIST: expected host:port, got \"b\""),
        line -> assertThat(line).startsWith("PADDLE_TRAINERS_NUM must be a whole number of at least 1"),
        line -> assertThat(line).startsWith("Can not find POD_IP"),
        line -> assertThat(line).startsWith("PADDLE_PORT must be a port"),
        line -> assertThat(line).startsWith("PADDLE_WITH_GLOO must be 0"));
    assertThat(RoleEnvironment.wrong(environment("PADDLE_MASTER=a;PADDLE_NNODES=3:2;PADDLE_LOCAL_SIZE=0;PADDLE_TRAINER_ID=7;"
        + "PADDLE_TRAINING_ROLE=PSERVER"))).extracting(line -> line.split("[ :]")[0]).containsExactly("PADDLE_MASTER", "PADDLE_NNODES",
        "PADDLE_TRAINING_ROLE", "PADDLE_LOCAL_SIZE");
    assertThat(RoleEnvironment.wrong(environment("PADDLE_INIT_PORT=x;PADDLE_INIT_PSERVER=a;PADDLE_INIT_TRAINER_ID=-1")))
        .extracting(line -> line.split(" ")[0]).containsExactly("PADDLE_INIT_PSERVER", "PADDLE_INIT_PORT", "PADDLE_INIT_TRAINER_ID");
    assertThat(RoleEnvironment.wrong(environment("PADDLE_PSERVER_IPS=a b;PADDLE_TRAINERS=0;PADDLE_TRAINING_ROLE=BOSS")))
        .extracting(line -> line.split("[ :]")[0]).containsExactly("PADDLE_PSERVER_IPS", "PADDLE_TRAINERS", "PADDLE_TRAINING_ROLE");
    assertThat(RoleEnvironment.wrong(environment(FLEET + ";TRAINING_ROLE=TRAINER;PADDLE_TRAINER_ID=1"))).isEmpty();
    assertThat(RoleEnvironment.wrong(Map.of())).isEmpty();
  }

  @Test
  void findsTheRunIdThatLauncherOrSchedulerGives() {
    String slurm = "SLURM_PROCID=0;SLURM_NTASKS=2;SLURM_NNODES=2;SLURM_JOB_ID=7;SLURM_STEP_ID=1";
    assertThat(keys(slurm)).contains("run_id=7.1");
    assertThat(keys(slurm + ";SLURM_RESTART_COUNT=2")).as("a job that is queued again").contains("run_id=7.1.2");
    assertThat(keys(slurm + ";REGATTA_RUN_ID=own")).as("the variable of its own is read as a key").doesNotContain("run_id");
    assertThat(keys("OMPI_COMM_WORLD_RANK=0;OMPI_COMM_WORLD_SIZE=3;PMIX_NAMESPACE=19")).contains("run_id=19");
    String paddle = "PADDLE_TRAINER_ENDPOINTS=127.0.0.1:6170,127.0.0.1:6171;PADDLE_TRAINER_ID=0;PADDLE_TRAINERS_NUM=2";
    long launcher = ProcessHandle.current().parent().orElseThrow().pid();
    assertThat(keys(paddle + ";PADDLE_JOB_ID=ctr")).as("a rerun has another launcher").contains("run_id=ctr@" + launcher + "-");
    assertThat(keys(paddle + ";PADDLE_JOB_ID=default")).doesNotContain("run_id");
    assertThat(keys(paddle)).doesNotContain("run_id");
  }
}
