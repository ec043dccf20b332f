package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.fleet.process.ProcessSettings;
import io.regatta.fleet.role.Role;
import io.regatta.node.testing.FreePorts;
import io.regatta.training.config.JobConfig;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Settings of services reach the services from all five sources, through {@link Fleet} and in a simulation: a limit
 * that is too small ends the job with the limit's name.
 */
class ServiceSettingsTest {

  private static final String ROWS = "parameter_server.limits.rows";

  @TempDir
  Path dir;

  private List<String> arguments() {
    List<String> args = new ArrayList<>(List.of("simulate", Checkout.file("configs/wide-and-deep.yaml").toString()));
    Jobs.tiny(dir).forEach(key -> args.addAll(List.of("--set", key)));
    return args;
  }

  private CommandLineRun simulate(String... options) {
    List<String> args = arguments();
    args.addAll(List.of(options));
    return CommandLineRun.regatta(args.toArray(String[]::new));
  }

  private Path file(String text) throws IOException {
    return Files.writeString(dir.resolve("conf.yaml"), text);
  }

  private static void refusedByTheLimit(int status, String output) {
    assertThat(status).as(output).isEqualTo(1);
    assertThat(output).contains("limit").contains("3").contains("rows");
  }

  @Test
  void a_limit_on_the_command_line_reaches_the_simulations_servers() {
    CommandLineRun run = simulate("--set", ROWS + "=3");
    refusedByTheLimit(run.status(), run.failure());
  }

  @Test
  void a_limit_in_a_file_reaches_the_simulations_servers() throws IOException {
    CommandLineRun run = simulate("-conf", file("parameter_server: {limits: {rows: 3}}\n").toString());
    refusedByTheLimit(run.status(), run.failure());
  }

  @Test
  void a_limit_in_a_system_property_reaches_the_simulations_servers() {
    System.setProperty("regatta." + ROWS, "3");
    try {
      CommandLineRun run = simulate();
      refusedByTheLimit(run.status(), run.failure());
    } finally {
      System.clearProperty("regatta." + ROWS);
    }
  }

  @Test
  void a_limit_in_the_environment_reaches_the_simulations_servers() throws Exception {
    List<String> command = new ArrayList<>(List.of("env", "REGATTA_PARAMETER_SERVER_LIMITS_ROWS=3",
        "REGATTA_NODE_ADMIN_ENABLED=false"));
    command.addAll(JavaProcess.regattaCommand("-Xmx512m"));
    command.addAll(arguments());
    try (JavaProcess process = JavaProcess.start("simulation", Checkout.root(), command)) {
      refusedByTheLimit(process.status(JavaProcess.SECONDS), process.output());
    }
  }

  @Test
  void a_limit_in_code_reaches_the_clusters_servers() {
    JobConfig job = Jobs.wideAndDeep(dir);
    ProcessSettings place = ProcessSettings.load(null, List.of(), List.of(), new JsonObject("{\"parameter_server\": {\"limits\": {\"rows\": 3}}}"));
    assertThatThrownBy(() -> LocalCluster.run(LocalCluster.Options.of(job, place).withoutHazelcast()))
        .hasMessageContaining("limit").hasMessageContaining("rows");
  }

  @Test
  void a_limit_of_the_rendezvous_reaches_it_through_the_fleet() throws Exception {
    Path conf = file("rendezvous: {limits: {members: 1}}\n");
    String rendezvous = "127.0.0.1:" + FreePorts.one();
    String[] args = {"-conf", conf.toString(), "--trainers", "2", "--rendezvous-endpoint", rendezvous,
        "--server-endpoints", "127.0.0.1:" + FreePorts.one()};
    JsonObject job = new JsonObject().put("job", "line");
    try (Fleet service = Fleet.builder().args(args).role(Role.RENDEZVOUS).init();
        Fleet trainer = Fleet.builder().args(args).role(Role.TRAINER).id(0).job(job).init()) {
      CompletableFuture<Void> running = CompletableFuture.runAsync(service::runServer, task -> new Thread(task).start());
      assertThatThrownBy(trainer::initWorker).hasMessageContaining("limits.members");
      service.close();
      running.get(10, TimeUnit.SECONDS);
    }
  }

  @Test
  void sections_are_bound_for_the_roles_that_read_them() throws IOException {
    Path conf = file("""
        rendezvous: {lease_ms: 3000}
        parameter_server: {index: 1, servers: 2, shards: 4, port: 7000}
        trainer: {rank: 1, step_delay_ms: 7, job: {job: shared, servers: 2, shards: 4, sparse_shards: 3, trainers: 2}}
        """);
    ProcessSettings place = ProcessSettings.load(conf, List.of(), List.of("gradient_aggregator.retry_ms=55"), new JsonObject());
    assertThat(place.rendezvous().leaseMs()).isEqualTo(3000);
    assertThat(place.gradientAggregator().retryMs()).isEqualTo(55);
    assertThat(place.parameterServer(place.job()).shards()).isEqualTo(4);
    assertThat(place.parameterServer(place.job()).sparseShards()).isEqualTo(3);
    assertThat(place.parameterServer(null).port()).isEqualTo(7000);
    assertThat(place.trainer(place.job()).stepDelayMs()).isEqualTo(7);
    try (Fleet fleet = Fleet.init("-conf", conf.toString(), "--role", "pserver")) {
      assertThat(fleet.serverIndex()).isEqualTo(1);
      assertThat(fleet.job().job()).isEqualTo("shared");
    }
    try (Fleet fleet = Fleet.init("-conf", conf.toString(), "--role", "trainer")) {
      assertThat(fleet.workerIndex()).isEqualTo(1);
    }
  }

  @Test
  void contradictions_are_refused_with_both_sides() throws IOException {
    Path conf = file("parameter_server: {index: 0, shards: 4}\ntrainer: {rank: 0, job: {batch_size: 5}}\n");
    Path job = Files.writeString(dir.resolve("job.yaml"), "job: line\nservers: 2\ntrainers: 2\n");
    String[] args = {job.toString(), "-conf", conf.toString(), "--id", "1"};
    try (Fleet fleet = Fleet.builder().args(args).role(Role.PSERVER).init()) {
      refused(fleet::runServer, "parameter_server.index is 0 (file " + conf + ")", "fleet.id (--id) says 1");
    }
    try (Fleet fleet = Fleet.builder().args(job.toString(), "-conf", conf.toString()).role(Role.PSERVER).init()) {
      refused(fleet::runServer, "parameter_server.shards is 4 (file " + conf + ")", "the job says 1");
    }
    try (Fleet fleet = Fleet.builder().args(args).role(Role.TRAINER).init()) {
      refused(fleet::initWorker, "trainer.job.batch_size is 5 (file " + conf + ")", "the job says 64");
    }
    for (String key : List.of("trainer.rank=0", "parameter_server.index=0", "parameter_server.servers=3",
        "parameter_server.port=7000", "node.cluster.directory=fixed")) {
      CommandLineRun run = CommandLineRun.regatta("simulate", job.toString(), "--set", key,
          "--set", "node.cluster.endpoints=rendezvous=127.0.0.1:1");
      assertThat(run.status()).as(key).isEqualTo(2);
      assertThat(run.failure().lines()).hasSize(1);
      assertThat(run.failure()).contains(key.substring(0, key.indexOf('=')) + " is ").contains("--set");
    }
  }

  @Test
  void a_mistyped_key_of_any_section_is_refused_at_once() throws IOException {
    Path conf = file("gradient_aggregator: {limits: {job: 3}}\n");
    assertThatThrownBy(() -> Fleet.init("-conf", conf.toString())).isInstanceOf(InvalidInput.class)
        .hasMessageContaining("gradient_aggregator.limits.job'")
        .hasMessageContaining("gradient_aggregator.limits.jobs'");
  }

  private static void refused(Runnable call, String... parts) {
    assertThatThrownBy(call::run).isInstanceOf(InvalidInput.class).message().contains(parts).doesNotContain("\n");
  }
}
