package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.json.JsonObject;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** {@code regatta launch} with real processes: how each kind of end looks, and that nobody is left. */
class LaunchProcessesTest {

  private static final int SECONDS = 90;
  private static final Pattern PID = Pattern.compile("ready .*pid=(\\d+)");

  @TempDir
  Path dir;
  private final List<JavaProcess> processes = new ArrayList<>();

  @AfterEach
  void end() {
    processes.forEach(JavaProcess::close);
  }

  private JavaProcess regatta(String... args) {
    JavaProcess process = JavaProcess.regatta(dir, Map.of(), args);
    processes.add(process);
    return process;
  }

  private String job(String more) throws Exception {
    return Files.writeString(dir.resolve("job.yaml"), "job: line\nprogram: io.regatta.fleet.LineProgram\n"
        + "batch_size: 8\ncompute_threads: 1\n" + more).toString();
  }

  private String log(String name) throws Exception {
    return Files.readString(dir.resolve("log").resolve(name));
  }

  /** Process ids that have said that they are ready. */
  private List<ProcessHandle> ready(String... logs) throws Exception {
    List<ProcessHandle> handles = new ArrayList<>();
    for (String name : logs) {
      Matcher pid = PID.matcher(log(name));
      assertThat(pid.find()).as(name).isTrue();
      ProcessHandle.of(Long.parseLong(pid.group(1))).ifPresent(handles::add);
    }
    return handles;
  }

  private static void gone(List<ProcessHandle> handles) throws Exception {
    for (ProcessHandle handle : handles) {
      handle.onExit().get(20, TimeUnit.SECONDS);
    }
  }

  @Test
  void all_workers_end_well_then_servers_are_ended_and_the_status_is_zero() throws Exception {
    JavaProcess launch = regatta("launch", "--server_num=2", "--worker_num", "2", job(""), "--shards", "2",
        "--result", dir.resolve("r.json").toString());
    assertThat(launch.status(SECONDS)).as(launch.output()).isZero();
    assertThat(launch.output()).contains("-----------  Configuration Arguments -----------", "server_num: 2",
        "Local server start 2 processes.", "TRAINING_ROLE                     PSERVER", "Local worker start 2 processes.",
        "joined, 4 shards on servers", // echoed from the first worker
        "all workers exit, going to finish parameter server", "all parameter server are killed");
    JsonObject result = new JsonObject(Files.readString(dir.resolve("r.json")));
    assertThat(result.getInteger("trainers")).isEqualTo(2);
    assertThat(result.getInteger("servers")).isEqualTo(2);
    gone(ready("serverlog.0", "serverlog.1"));
  }

  @Test
  void a_worker_that_fails_ends_the_others_and_its_last_lines_are_shown() throws Exception {
    JavaProcess launch = regatta("launch_ps", "--server_num", "1", "--worker_num", "1", job("settings: {no_such: 1}\n"));
    assertThat(launch.status(SECONDS)).as(launch.output()).isEqualTo(1);
    assertThat(launch.output()).contains("regatta: worker 0 exited with status").contains("no_such");
    assertThat(dir.resolve("logs").resolve("workerlog.0")).isNotEmptyFile();
  }

  @Test
  void signals_end_servers_and_workers_in_order_and_so_does_the_death_of_the_launcher() throws Exception {
    String endless = job("epochs: 1000000\n");
    JavaProcess stopped = regatta("launch", "--server_num", "1", "--worker_num", "1", endless);
    stopped.await(line -> line.contains("dense values in"), SECONDS);
    List<ProcessHandle> first = ready("serverlog.0", "workerlog.0");
    stopped.signal("INT");
    assertThat(stopped.status(SECONDS)).as(stopped.output()).isEqualTo(130);
    assertThat(stopped.output()).contains("regatta: stopped by Ctrl-C, all processes have ended");
    gone(first);

    JavaProcess killed = regatta("launch", "--server_num", "1", "--worker_num", "1", endless);
    killed.await(line -> line.contains("dense values in"), SECONDS);
    List<ProcessHandle> second = ready("serverlog.0", "workerlog.0");
    killed.signal("KILL");
    gone(second);
    assertThat(log("serverlog.0")).contains("the launcher has gone, so this process ends, too");
  }

  @Test
  void a_server_that_dies_ends_the_job() throws Exception {
    JavaProcess launch = regatta("launch", "--server_num", "1", "--worker_num", "1", job("epochs: 1000000\n"));
    launch.await(line -> line.contains("dense values in"), SECONDS);
    ready("serverlog.0").get(0).destroyForcibly();
    assertThat(launch.status(SECONDS)).as(launch.output()).isEqualTo(1);
    assertThat(launch.output()).contains("regatta: server 0 was ended by signal 9: the others are stopped. The end of log/serverlog.0:");
    gone(ready("workerlog.0"));
  }

  @Test
  void what_cannot_be_started_is_one_line_and_status_two() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      JavaProcess launch = regatta("launch", "--servers", "127.0.0.1:" + taken.getLocalPort(), "--worker_num", "1", job(""));
      assertThat(launch.status(SECONDS)).isEqualTo(2);
      assertThat(launch.output()).contains("regatta: server 0 cannot have port " + taken.getLocalPort());
    }
    JavaProcess mixed = regatta("launch", "--server_num", "1", "--nproc_per_node", "2", job(""));
    assertThat(mixed.status(SECONDS)).isEqualTo(2);
    assertThat(mixed.output()).contains("regatta: Only one mode(Collective or Parameter-Server) can be selected at the same time");
    JavaProcess missing = regatta("launch", "--server_num", "1", "--worker_num", "1", "nowhere.yaml");
    assertThat(missing.status(SECONDS)).isEqualTo(2);
    assertThat(missing.output()).contains("nowhere.yaml does not exist");
  }
}
