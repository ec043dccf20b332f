package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.testing.FreePorts;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * {@code regatta launch --hosts} with a stand-in for ssh, which runs on this machine what it should run on another; deploy/ssh has a test
 * with a real one.
 */
class RemoteLaunchTest {

  private static final int SECONDS = JavaProcess.SECONDS;

  @TempDir
  Path dir;
  private final List<JavaProcess> processes = new ArrayList<>();
  private Path hosts;

  @BeforeEach
  void machines() throws IOException {
    executable("ssh", "#!/bin/sh\n"
        + "while [ \"${1#-}\" != \"$1\" ]; do case $1 in -o | -p | -l) shift 2 ;; *) shift ;; esac; done\n"
        + "case $1 in *127.0.0.9) echo 'ssh: connect to host 127.0.0.9 port 22: No route to host' >&2; exit 255 ;; esac\n"
        + "shift\ncd '" + dir + "'\nunset REGATTA_LAUNCHER\nexec sh -c \"$*\"\n"); // ssh passes no variables
    executable("regatta", "#!/bin/sh\nexec " + JavaProcess.regattaCommand("-Xmx256m", "-Djava.io.tmpdir=" + dir).stream()
        .collect(Collectors.joining("' '", "'", "'")) + " \"$@\"\n");
    hosts = Files.writeString(dir.resolve("machines"), "127.0.0.1\nme@127.0.0.2 # the second\n");
  }

  private void executable(String name, String text) throws IOException {
    assertThat(Files.writeString(dir.resolve(name), text).toFile().setExecutable(true)).isTrue();
  }

  @AfterEach
  void end() {
    processes.forEach(JavaProcess::close);
  }

  private JavaProcess launch(Path file, String more, String... options) throws Exception {
    Path workspace = Files.createDirectories(dir.resolve("workspace"));
    Files.writeString(workspace.resolve("job.yaml"), "job: line\nprogram: io.regatta.fleet.LineProgram\nbatch_size: 8\ncompute_threads: 1\n"
        + more);
    List<String> args = new ArrayList<>(List.of("launch", "--hosts", file.toString(), "--job_dispatch_package", workspace.toString(),
        "--job_workspace", "on-%h", "--ssh", dir.resolve("ssh").toString(), "--regatta", dir.resolve("regatta").toString(),
        "--start_port", Integer.toString(FreePorts.one())));
    args.addAll(List.of(options));
    args.add("job.yaml");
    JavaProcess process = JavaProcess.regatta(dir, Map.of(), args.toArray(String[]::new));
    processes.add(process);
    return process;
  }

  private String text(String path) throws IOException {
    return Files.readString(dir.resolve(path));
  }

  @Test
  void each_machine_has_a_server_and_a_trainer_and_logs_come_back() throws Exception {
    JavaProcess launch = launch(hosts, "", "--epochs=3", "--result=result.json");
    assertThat(launch.status(SECONDS)).as(launch.output()).isEqualTo(1);
    assertThat(launch.output()).contains("there is no option '--epochs'"); // was passed through
    launch = launch(hosts, "", "--result=result.json");
    assertThat(launch.status(SECONDS)).as(launch.output()).isZero();
    assertThat(launch.output()).contains("Not found distinct arguments. Default use parameter-server mode, with one server and one trainer "
        + "on each host", "\njob_workspace: on-%h\n", "joined, 2 shards on servers", "all workers exit, going to finish parameter server",
        "logs of host 1, me@127.0.0.2, are in log/nodes/1-127.0.0.2");
    assertThat(new JsonObject(text("on-127.0.0.1/result.json")).getInteger("trainers")).isEqualTo(2);
    assertThat(text("on-127.0.0.2/nodefile")).isEqualTo("1\n0 127.0.0.1\n1 127.0.0.2\n");
    assertThat(text("log/serverlog.1")).contains("is called with no TLS, a token");
    assertThat(tokens("on-127.0.0.2")).isEmpty();
    for (String log : List.of("on-127.0.0.2/log/", "log/nodes/1-127.0.0.2/")) {
      assertThat(text(log + "server.log")).contains("Server listening on 127.0.0.2:");
      assertThat(text(log + "train.log")).contains("init rpc client with trainer_id 1");
    }
    assertThat(text("log/workerlog.1")).isEqualTo(text("on-127.0.0.2/log/train.log"));
  }

  /** Without the variable a server ends with its job, and a launcher whose trainers take longer to end takes that for a failure. */
  @Test
  void remote_processes_are_told_that_a_launcher_ends_them() throws Exception {
    Path told = dir.resolve("told");
    executable("regatta", "#!/bin/sh\necho \"$TRAINING_ROLE ${REGATTA_LAUNCHER-nothing}\" >> '" + told + "'\n[ $TRAINING_ROLE = TRAINER ] "
        + "|| exec cat '" + dir.resolve("never") + "'\nuntil [ $(wc -l < '" + told + "') -eq 4 ]; do :; done\n");
    assertThat(new ProcessBuilder("mkfifo", dir.resolve("never").toString()).start().waitFor()).isZero();
    JavaProcess launch = launch(hosts, "");
    assertThat(launch.status(SECONDS)).as(launch.output()).isZero();
    assertThat(Files.readAllLines(told)).containsExactlyInAnyOrder("PSERVER remote", "PSERVER remote", "TRAINER remote",
        "TRAINER remote");
  }

  @Test
  void auxiliary_services_of_each_machine_run_in_its_workspace_and_have_logs_of_their_own() throws Exception {
    Path told = dir.resolve("told");
    executable("regatta", "#!/bin/sh\necho \"$TRAINING_ROLE of ${PWD##*/} at $POD_IP\" | tee -a '" + told
        + "'\n[ $TRAINING_ROLE = TRAINER ] "
        + "|| exec cat '" + dir.resolve("never") + "'\nuntil [ $(wc -l < '" + told + "') -eq 8 ]; do :; done\n");
    assertThat(new ProcessBuilder("mkfifo", dir.resolve("never").toString()).start().waitFor()).isZero();
    JavaProcess launch = launch(hosts, "", "--heter_worker_num", "2");
    assertThat(launch.status(SECONDS)).as(launch.output()).isZero();
    for (String host : List.of("127.0.0.1", "127.0.0.2")) {
      for (String log : List.of("heter.log", "heter.log.1")) {
        assertThat(text("on-" + host + "/log/" + log)).contains("HETER_TRAINER of on-" + host + " at " + host);
      }
      assertThat(text("on-" + host + "/log/train.log")).contains("TRAINER of on-" + host).doesNotContain("HETER");
    }
  }

  @Test
  void ctrl_c_ends_all_remote_processes() throws Exception {
    JavaProcess launch = launch(hosts, "epochs: 1000000\n");
    launch.await(line -> line.contains("dense values in"), SECONDS);
    List<ProcessHandle> remote = ProcessHandle.allProcesses().filter(process -> process.info().commandLine().orElse("")
        .contains("-Djava.io.tmpdir=" + dir + " ") && process.pid() != launch.pid()).toList();
    assertThat(remote).hasSizeGreaterThanOrEqualTo(4);
    launch.signal("INT");
    assertThat(launch.status(SECONDS)).as(launch.output()).isEqualTo(130);
    for (ProcessHandle each : remote) {
      each.onExit().get(SECONDS, TimeUnit.SECONDS);
    }
  }

  @Test
  void ctrl_c_while_machines_are_prepared_ends_ssh_and_leaves_nothing() throws Exception {
    Path pids = dir.resolve("pids");
    assertThat(new ProcessBuilder("mkfifo", pids.toString()).start().waitFor()).isZero();
    executable("ssh", "#!/bin/sh\necho $$ > '" + pids + "'\nexec sleep 600\n");
    JavaProcess launch = launch(hosts, "");
    String pid = new ProcessBuilder("cat", pids.toString()).start().inputReader().readLine();
    ProcessHandle ssh = ProcessHandle.of(Long.parseLong(pid)).orElseThrow();
    launch.signal("INT");
    assertThat(launch.status(SECONDS)).as(launch.output()).isEqualTo(130);
    assertThat(launch.output()).contains("regatta: stopped by Ctrl-C, before anything was started");
    ssh.onExit().get(SECONDS, TimeUnit.SECONDS);
    try (Stream<Path> files = Files.list(dir)) {
      assertThat(files).noneMatch(file -> file.getFileName().toString().startsWith("regatta-ssh"));
    }
  }

  @Test
  void a_signal_while_the_second_machine_is_prepared_leaves_no_token_on_the_first() throws Exception {
    Path pids = dir.resolve("pids");
    assertThat(new ProcessBuilder("mkfifo", pids.toString()).start().waitFor()).isZero();
    executable("ssh", text("ssh").replace("*127.0.0.9) ", "*127.0.0.2) echo $$ > '" + pids + "'; exec sleep 600 ;;\n"
        + "*127.0.0.9) "));
    JavaProcess launch = launch(hosts, "");
    assertThat(new ProcessBuilder("cat", pids.toString()).start().inputReader().readLine()).isNotNull();
    assertThat(dir.resolve("on-127.0.0.1/nodefile")).as("it was prepared").exists();
    launch.signal("TERM");
    assertThat(launch.status(SECONDS)).as(launch.output()).isEqualTo(143);
    assertThat(tokens("on-127.0.0.1")).isEmpty();
  }

  private List<Path> tokens(String workspace) throws IOException {
    try (Stream<Path> files = Files.list(dir.resolve(workspace))) {
      return files.filter(file -> file.getFileName().toString().startsWith(".token")).toList();
    }
  }

  @Test
  void what_cannot_be_is_one_line() throws Exception {
    JavaProcess unreachable = launch(Files.writeString(dir.resolve("far"), "127.0.0.1\n127.0.0.9\n"), "");
    assertThat(unreachable.status(SECONDS)).as(unreachable.output()).isEqualTo(1);
    assertThat(unreachable.output()).contains("regatta: host 127.0.0.9 cannot be reached over ssh: ssh: connect to host 127.0.0.9 port 22: "
        + "No route to host");
    assertThat(tokens("on-127.0.0.1")).as("it was prepared").isEmpty();
    assertThat(CommandLineRun.regatta("launch", "--hosts", hosts.toString(), "job.yaml").failure())
        .contains("--hosts needs --job_dispatch_package DIR");
    assertThat(CommandLineRun.regatta("launch", "--hosts", hosts.toString(), "--job_workspace", "w", "--servers", "a:1", "job.yaml")
        .failure()).contains("--hosts names the machines: leave out --servers");
    assertThat(CommandLineRun.regatta("launch", "--hosts", hosts.toString(), "--job_workspace", "w", "--nproc_per_node", "2", "--server_num",
        "1", "job.yaml").failure()).contains("Only one mode(Collective or Parameter-Server)", "--server_num and --nproc_per_node");
    assertThat(CommandLineRun.regatta("launch", "--job_workspace", "w", "job.yaml").failure()).contains("name them with --hosts FILE");
    Path twice = Files.writeString(dir.resolve("twice"), "a\na\n");
    assertThat(CommandLineRun.regatta("launch", "--hosts", twice.toString(), "--job_workspace", "w", "job.yaml").failure())
        .contains("names a host twice");
    assertThat(CommandLineRun.regatta("launch", "--server_nun=1", "job.yaml").failure())
        .contains("there is no option '--server_nun'; the nearest one is '--server_num'");
  }
}
