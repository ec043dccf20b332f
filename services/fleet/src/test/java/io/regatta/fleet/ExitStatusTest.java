package io.regatta.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.node.testing.FreePorts;
import io.regatta.protocol.testing.SecretFiles;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;

/**
 * The table of exits in docs/launching.md with real processes: of each row the status and what is said, and that nobody is left.
 * Rows are taken in the table's order; some begin with the job that the row before has left running.
 */
class ExitStatusTest {

  private static final int SECONDS = JavaProcess.SECONDS;
  private static final Pattern PID = Pattern.compile("ready .*pid=(\\d+)");
  private static final Pattern ROW = Pattern.compile("(?m)^\\| ([^|]+) \\| (\\d+) \\| `([^`]+)` \\|$");

  /** The events of a row. */
  private interface Scenario {
    /** Makes it happen. */
    JavaProcess process() throws Exception;
  }

  @TempDir
  Path dir;
  private final List<JavaProcess> processes = new ArrayList<>();
  private final List<ProcessHandle> toGo = new ArrayList<>();
  private final int port = FreePorts.one();
  /** A job that trains until it is ended, if it runs, and its server and trainer. */
  private JavaProcess endless;
  private List<ProcessHandle> training = List.of();

  @AfterEach
  void end() {
    processes.forEach(JavaProcess::close);
  }

  @TestFactory
  List<DynamicTest> every_end_has_the_status_and_the_message_of_the_table() {
    Map<String, Scenario> scenarios = scenarios();
    List<DynamicTest> rows = new ArrayList<>();
    Matcher row = ROW.matcher(Checkout.text("docs/launching.md"));
    while (row.find()) {
      String what = row.group(1);
      int status = Integer.parseInt(row.group(2));
      String message = row.group(3);
      Scenario scenario = scenarios.remove(what);
      rows.add(DynamicTest.dynamicTest(what, () -> {
        assertThat(scenario).as("somebody makes '%s' happen", what).isNotNull();
        JavaProcess process = scenario.process();
        assertThat(process.status(SECONDS)).as(process.output()).isEqualTo(status);
        for (ProcessHandle handle : toGo) {
          handle.onExit().get(SECONDS, TimeUnit.SECONDS);
        }
        toGo.clear();
        assertThat(process.output() + (status == 137 ? log("serverlog.0") : "")).contains(message);
      }));
    }
    assertThat(scenarios).as("what is in no row").isEmpty();
    return rows;
  }

  private Map<String, Scenario> scenarios() {
    Map<String, Scenario> all = new LinkedHashMap<>();
    all.put("all trainers end well", this::allEndWell);
    all.put("a trainer fails", () -> failing("TRAINER"));
    all.put("a server fails", () -> failing("PSERVER"));
    all.put("a setting of the job is refused", () -> launch(1, 1, "job.yaml", "mode: slow\n"));
    all.put("a trainer is killed", () -> killed("workerlog.0"));
    all.put("a server is killed", () -> killed("serverlog.0"));
    all.put("two trainers with one id", () -> besideTheOther("run", job("job.yaml", ""), "1", "0"));
    all.put("trainers that disagree about their number", () -> besideTheOther("run", job("job.yaml", ""), "2", "1"));
    all.put("Ctrl-C", () -> signalled("INT"));
    all.put("SIGTERM", () -> signalled("TERM"));
    all.put("a second signal", this::twiceSignalled);
    all.put("the launcher is killed", () -> signalled("KILL"));
    all.put("a port is taken", this::portTaken);
    all.put("options of both modes", () -> regatta(Map.of(), "launch", "--server_num", "1", "--nproc_per_node", "2",
        job("job.yaml", "")));
    all.put("no such program", () -> regatta(Map.of(), "launch", "--server_num", "1", "--worker_num", "1", "nowhere.yaml"));
    all.put("a host that ssh cannot reach", this::farHost);
    all.put("a server that nobody can reach", () -> trainer("run", job("job.yaml", ""), "1", "0", "--ready-timeout", "1"));
    all.put("a role that does not exist", () -> regatta(Map.of("TRAINING_ROLE", "CAPTAIN", "PADDLE_PSERVERS_IP_PORT_LIST",
        "127.0.0.1:" + port, "PADDLE_TRAINERS_NUM", "1"), "run", job("job.yaml", "")));
    all.put("a variable is missing", () -> regatta(Map.of("TRAINING_ROLE", "TRAINER", "PADDLE_PSERVERS_IP_PORT_LIST",
        "127.0.0.1:" + port, "PADDLE_TRAINERS_NUM", "1"), "run", job("job.yaml", "")));
    all.put("more trainers than announced", () -> trainer("run", job("job.yaml", ""), "2", "2"));
    return all;
  }

  /**
   * Starts a process with one token for all: some are started beside a launched job, whose own token they could not
   * know.
   */
  private JavaProcess regatta(Map<String, String> variables, String... args) throws IOException {
    Map<String, String> all = new HashMap<>(variables);
    Path token = dir.resolve("token");
    all.put("REGATTA_NODE_TOKEN_FILE", (Files.exists(token) ? token : SecretFiles.write(token,
        "the-token-of-all-of-these")).toString());
    JavaProcess process = JavaProcess.regatta(dir, all, args);
    processes.add(process);
    return process;
  }

  private String job(String name, String more) throws Exception {
    return Files.writeString(dir.resolve(name), "job: line\nprogram: io.regatta.fleet.LineProgram\nbatch_size: 8\n"
        + "compute_threads: 1\n" + more).toString();
  }

  private String log(String name) throws Exception {
    return Files.readString(dir.resolve("log").resolve(name));
  }

  private JavaProcess launch(int servers, int workers, String name, String more, String... arguments) throws Exception {
    List<String> args = new ArrayList<>(List.of("launch", "--server_num=" + servers, "--worker_num", Integer.toString(workers),
        job(name, more)));
    args.addAll(List.of(arguments));
    return regatta(Map.of(), args.toArray(String[]::new));
  }

  /** A program of one's own whose processes of one role fail, and whose others stay until they are ended. */
  private JavaProcess failing(String role) throws Exception {
    Path program = Files.writeString(dir.resolve("Failing.java"), "class Failing {\n  public static void main(String[] args) throws Exception {\n"
        + "    if (args[0].equals(System.getenv(\"TRAINING_ROLE\"))) System.exit(3);\n    Thread.currentThread().join();\n  }\n}\n");
    return regatta(Map.of(), "launch", "--server_num=1", "--worker_num=1", program.toString(), role);
  }

  private JavaProcess trainer(String command, String job, String trainers, String id,
      String... more) throws IOException {
    List<String> args = new ArrayList<>(List.of(command, job));
    args.addAll(List.of(more));
    return regatta(Map.of("TRAINING_ROLE", "TRAINER", "PADDLE_TRAINER_ID", id, "PADDLE_TRAINERS_NUM", trainers,
        "PADDLE_PSERVERS_IP_PORT_LIST", "127.0.0.1:" + port), args.toArray(String[]::new));
  }

  private JavaProcess allEndWell() throws Exception {
    JavaProcess launch = launch(2, 2, "job.yaml", "", "--shards", "2", "--result", dir.resolve("r.json").toString());
    assertThat(launch.status(SECONDS)).as(launch.output()).isZero();
    assertThat(launch.output()).contains("-----------  Configuration Arguments -----------", "server_num: 2",
        "Local server start 2 processes.", "TRAINING_ROLE                     PSERVER", "Local worker start 2 processes.",
        "joined, 4 shards on servers", // echoed from the first worker
        "all parameter server are killed");
    JsonObject result = new JsonObject(Files.readString(dir.resolve("r.json")));
    assertThat(result.getInteger("trainers")).isEqualTo(2);
    assertThat(result.getInteger("servers")).isEqualTo(2);
    toGo.addAll(ready("serverlog.0", "serverlog.1"));
    return launch;
  }

  /** Server and trainer of the job that trains until it is ended, both ready; they shall go with it. */
  private JavaProcess endless() throws Exception {
    if (endless == null) {
      endless = regatta(Map.of(), "launch", "--servers", "127.0.0.1:" + port, "--worker_num", "1",
          job("endless.yaml", "epochs: 1000000\n"));
      endless.await(line -> line.contains("dense values in"), SECONDS);
      training = ready("serverlog.0", "workerlog.0");
    }
    return endless;
  }

  /** A trainer that comes while the endless job trains, which is not concerned. */
  private JavaProcess besideTheOther(String command, String job, String trainers, String id) throws Exception {
    endless();
    JavaProcess late = trainer(command, job, trainers, id);
    late.status(SECONDS);
    assertThat(training).allMatch(ProcessHandle::isAlive);
    return late;
  }

  /** The endless job, which is about to be ended with all its processes. */
  private JavaProcess ended() throws Exception {
    JavaProcess launch = endless();
    endless = null;
    toGo.addAll(training);
    return launch;
  }

  private JavaProcess killed(String log) throws Exception {
    JavaProcess launch = ended();
    ready(log).get(0).destroyForcibly();
    return launch;
  }

  private JavaProcess signalled(String signal) throws Exception {
    JavaProcess launch = ended();
    launch.signal(signal);
    return launch;
  }

  /** Signals a job twice whose trainer does not end at the first signal. */
  private JavaProcess twiceSignalled() throws Exception {
    JavaProcess launch = ended();
    long trainer = ready("workerlog.0").get(0).pid();
    assertThat(new ProcessBuilder("sh", "-c", "kill -STOP " + trainer).start().waitFor()).isZero();
    launch.signal("INT");
    launch.await(line -> line.contains("a second signal kills them"), SECONDS);
    launch.signal("INT");
    return launch;
  }

  private JavaProcess farHost() throws Exception {
    Path ssh = Files.writeString(dir.resolve("ssh"), "#!/bin/sh\necho 'ssh: connect to host 127.0.0.9 port 22: No route to host' >&2\n"
        + "exit 255\n");
    assertThat(ssh.toFile().setExecutable(true)).isTrue();
    return regatta(Map.of(), "launch", "--hosts", Files.writeString(dir.resolve("machines"), "127.0.0.9\n").toString(), "--job_workspace",
        "w", "--ssh", ssh.toString(), "job.yaml");
  }

  private JavaProcess portTaken() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      JavaProcess launch = regatta(Map.of(), "launch", "--servers", "127.0.0.1:" + taken.getLocalPort(), "--worker_num", "1",
          job("job.yaml", ""));
      launch.status(SECONDS);
      return launch;
    }
  }

  /** Processes that have said that they are ready. */
  private List<ProcessHandle> ready(String... logs) throws Exception {
    List<ProcessHandle> handles = new ArrayList<>();
    for (String name : logs) {
      Matcher pid = PID.matcher(log(name));
      assertThat(pid.find()).as(name).isTrue();
      ProcessHandle.of(Long.parseLong(pid.group(1))).ifPresent(handles::add);
    }
    return handles;
  }
}
