package io.regatta.node;

import static io.regatta.node.testing.Nodes.get;
import static io.regatta.node.testing.Nodes.instance;
import static io.regatta.node.testing.Nodes.poll;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.cluster.ClusterConfig;
import io.regatta.node.directory.Directory;
import io.regatta.node.settings.Setting;
import io.regatta.node.testing.FreePorts;
import io.regatta.node.testing.LeftoverThreads;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Most cases in this JVM through an exit status that is returned; signals in a JVM of their own. */
class ServiceMainTest {

  private static final ServiceMain.Called ECHO = new ServiceMain.Called("echo", "echo", "Says a word.");

  /** A service for these tests. */
  record EchoConfig(
      @Setting(value = "echo", doc = "what it says") String word,
      @Setting(value = "none", doc = "how it fails") Trouble trouble) {
    enum Trouble { NONE, REFUSE, END, CANCEL, STAY }
  }

  /** Starts at once; with trouble END its work is done at once as well. */
  static final class Echo extends VerticleBase implements FiniteService {
    private final Node node;
    private final EchoConfig config;

    Echo(Node node, EchoConfig config) {
      this.node = node;
      this.config = config;
    }

    @Override
    public Future<?> start() {
      return config.trouble() == EchoConfig.Trouble.REFUSE
          ? Future.failedFuture(new InvalidInput("port 7164 is in use"))
          : node.directory().register(instance("echo", "echo-" + config.word(), 0, 1));
    }

    @Override
    public Future<?> stop() {
      if (config.trouble() == EchoConfig.Trouble.STAY) {
        return Promise.promise().future();
      }
      System.out.println("stopped in order, network up: " + (node.vertx() != null));
      return Future.succeededFuture();
    }

    @Override
    public Future<?> finished() {
      return switch (config.trouble()) {
        case END -> Future.succeededFuture();
        case CANCEL -> Future.failedFuture(new Cancelled("the other side is shutting down"));
        default -> Promise.promise().future();
      };
    }
  }

  /** The forked JVM's main. */
  static final class EchoMain {
    public static void main(String[] args) {
      ServiceMain.run(args, ECHO, EchoConfig.class, Echo::new);
    }
  }

  private final ByteArrayOutputStream out = new ByteArrayOutputStream();
  private final ByteArrayOutputStream err = new ByteArrayOutputStream();

  @TempDir
  Path dir;

  private int execute(String... args) {
    BiFunction<Node, EchoConfig, Deployable> verticle = Echo::new;
    return new ServiceMain<>(ECHO, EchoConfig.class, own -> {}, verticle, new PrintStream(out, true, UTF_8),
        new PrintStream(err, true, UTF_8)).execute(args);
  }

  @Test
  void anOptionOfOneServiceStandsForItsKey() {
    ServiceMain<EchoConfig> main = new ServiceMain<>(ECHO, EchoConfig.class, own -> {}, Echo::new,
        new PrintStream(out, true, UTF_8), new PrintStream(err, true, UTF_8),
        new ServiceMain.Shorthand("--word", "WORD", "echo.word", "what to say"));
    assertThat(main.execute("--word", "ahoy", "--show-config")).as(err.toString(UTF_8)).isZero();
    assertThat(out.toString(UTF_8)).containsPattern("echo.word.*ahoy");
    assertThat(main.execute("--help")).isZero();
    assertThat(out.toString(UTF_8)).contains("--word=WORD", "Usage: echo ", "Says a word.");
  }

  @Test
  void whatCannotBeServedIsRefusedBeforeANodeStarts() {
    LeftoverThreads threads = LeftoverThreads.snapshot();
    BiFunction<Node, EchoConfig, Deployable> verticle = (node, own) -> {
      throw new AssertionError("it has started");
    };
    ServiceMain<EchoConfig> main = new ServiceMain<>(ECHO, EchoConfig.class, own -> {
      throw new InvalidInput("there is no word " + own.word());
    }, verticle, new PrintStream(out, true, UTF_8), new PrintStream(err, true, UTF_8));
    assertThat(main.execute("--set", "echo.word=ahoy")).isEqualTo(2);
    assertThat(err.toString(UTF_8).strip()).isEqualTo("echo: there is no word ahoy");
    threads.assertNone();
  }

  private void refused(int status, String part, String... args) {
    out.reset();
    err.reset();
    assertThat(execute(args)).as(String.join(" ", args)).isEqualTo(status);
    assertThat(err.toString(UTF_8).strip()).contains(part).startsWith("echo: ").doesNotContain("\n");
  }

  @Test
  void badInputIsOneLineAndStatus2() throws IOException {
    LeftoverThreads threads = LeftoverThreads.snapshot();
    Path broken = Files.writeString(dir.resolve("broken.json"), "{\n  \"node\": }\n");
    Path brokenYaml = Files.writeString(dir.resolve("broken.yaml"), "node:\n\tx: 1\n");
    Path good = Files.writeString(dir.resolve("good.yaml"), "echo: {word: hi}\nparameter_server: {whatever: 1}\n");
    refused(2, "no such file", "-conf", dir.resolve("absent.json").toString());
    refused(2, "broken.json, line 2, column 11", "-conf", broken.toString());
    refused(2, "broken.yaml, line 2, column 1", "-conf", brokenYaml.toString());
    refused(2, "is a directory", "-conf", Files.createDirectory(dir.resolve("a.json")).toString());
    refused(2, "'echo.word'", "-conf", good.toString(), "--set", "echo.wrod=x");
    refused(2, "'node.cluster.port': expected int", "--set", "node.cluster.port=x");
    refused(2, "section 'node.cluster': port must lie in 0..65535", "--set", "node.cluster.port=70000");
    for (String seed : List.of("a:b", "a:b:c", "127.0.0.1", "a:70000", "[\" \"]")) {
      refused(2, "section 'node.cluster': seeds: expected host:port", "--set", "node.cluster.seeds=" + seed);
      refused(2, "seeds: expected host:port", "--seeds", seed);
    }
    refused(2, "there is no option '--verbose' (--help lists the options)", "--verbose");
    refused(2, "there is no option '--seed'; the nearest one is '--seeds'", "--seed", "a:1");
    refused(2, "'good.yaml' is one argument too many", "good.yaml");
    threads.assertNone();
  }

  @Test
  void aServiceThatCanMeetNobodyIsRefusedAtOnceUnlessItIsASeed() {
    for (String service : List.of(Directory.PARAMETER_SERVER, Directory.GRADIENT_AGGREGATOR, Directory.TRAINER,
        Directory.HETER_WORKER)) {
      err.reset();
      assertThat(main(service).execute()).as(service).isEqualTo(2);
      assertThat(err.toString(UTF_8)).isEqualToIgnoringNewLines(
          service + ": no seeds: give --seeds HOST:PORT (node.cluster.seeds)");
    }
    assertThat(main(Directory.RENDEZVOUS).execute("-conf", ends(Directory.RENDEZVOUS).toString()))
        .as(err.toString(UTF_8)).isZero();
    String service = Directory.PARAMETER_SERVER;
    assertThat(main(service).execute("-conf", ends(service).toString(), "--set",
        "node.cluster.port=" + FreePorts.one())).as(err.toString(UTF_8)).isZero();
  }

  private ServiceMain<EchoConfig> main(String service) {
    return new ServiceMain<>(new ServiceMain.Called(service, service, ""), EchoConfig.class, own -> {}, Echo::new,
        new PrintStream(out, true, UTF_8),
        new PrintStream(err, true, UTF_8));
  }

  private Path ends(String service) {
    try {
      return Files.writeString(dir.resolve(service + ".yaml"), Sections.of(service) + ": {trouble: end}\n");
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Test
  void theConfigurationCanBeShownWithItsSources() throws IOException {
    Path file = Files.writeString(dir.resolve("c.yaml"), "echo: {word: hi}\n");
    assertThat(execute("-conf", file.toString(), "--set", "node.admin.port=0", "--show-config")).isZero();
    assertThat(out.toString(UTF_8)).contains("echo.word = hi  (file " + file + ")")
        .contains("node.admin.port = 0  (--set node.admin.port)").contains("node.cluster.lease_seconds = 10  (default)");
    assertThat(execute("--help")).isZero();
    assertThat(execute("--version")).isZero();
  }

  @Test
  void aFiniteServiceEndsTheProcessAndAFailedStartIsStatus1Or2() {
    LeftoverThreads threads = LeftoverThreads.snapshot();
    assertThat(execute("--set", "echo.trouble=end")).isZero();
    assertThat(out.toString(UTF_8)).startsWith("ready echo host=127.0.0.1 admin=");
    refused(2, "port 7164 is in use", "--set", "echo.trouble=refuse");
    refused(1, "gave up joining", "--set", "node.cluster.seeds=127.0.0.1:" + FreePorts.one(),
        "--set", "node.ready_timeout_seconds=1");
    threads.assertNone();
  }

  @Test
  void workThatWasCancelledThoughNobodyAskedToStopHasFailed() {
    assertThat(execute("--set", "echo.trouble=cancel")).isEqualTo(1);
    assertThat(err.toString(UTF_8)).isEqualToIgnoringNewLines("echo: the other side is shutting down");
  }

  @Test
  void aSignalClosesInOrderWithin5SecondsAlsoWhileItJoins() throws Exception {
    Process running = fork();
    BufferedReader lines = new BufferedReader(new InputStreamReader(running.getInputStream(), UTF_8));
    assertThat(lines.readLine()).startsWith("ready echo ");
    long signalled = System.nanoTime();
    running.toHandle().destroy();
    assertThat(lines.readLine()).isEqualTo("stopped in order, network up: true");
    assertThat(running.waitFor(10, TimeUnit.SECONDS)).isTrue();
    assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - signalled)).isLessThan(5000);
    assertThat(running.exitValue()).isEqualTo(143);

    Process joining = fork("--set", "node.cluster.seeds=127.0.0.1:" + FreePorts.one());
    BufferedReader log = new BufferedReader(new InputStreamReader(joining.getErrorStream(), UTF_8));
    String line = log.readLine();
    while (line != null && !line.contains("server not ready, wait 3 sec to retry...")) {
      line = log.readLine();
    }
    assertThat(line).isNotNull();
    signalled = System.nanoTime();
    joining.toHandle().destroy();
    assertThat(joining.waitFor(10, TimeUnit.SECONDS)).isTrue();
    assertThat(TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - signalled)).isLessThan(5000);
  }

  @Test
  void whoDoesNotStopInTimeSaysSoAndDoesNotPassForOrderly() throws Exception {
    Process running = fork("--set", "echo.trouble=stay");
    assertThat(new BufferedReader(new InputStreamReader(running.getInputStream(), UTF_8)).readLine()).startsWith("ready echo ");
    running.toHandle().destroy();
    assertThat(new BufferedReader(new InputStreamReader(running.getErrorStream(), UTF_8)).lines().filter(line ->
        line.startsWith("regatta: "))).containsExactly(
        "regatta: stopped, but not everything ended within 4 s; the process ends now, with status 1");
    assertThat(running.waitFor(10, TimeUnit.SECONDS)).isTrue();
    assertThat(running.exitValue()).isEqualTo(1);
  }

  @Test
  void theEntryOfAKilledProcessEndsWithItsLease() throws Exception {
    int port = FreePorts.one();
    String seeds = "127.0.0.1:" + port;
    Node seed = get(Node.start(
        NodeConfig.defaults().withCluster(ClusterConfig.of("killed-" + port, List.of(seeds), port)), "rendezvous"));
    Process other = fork("--set", "node.cluster.name=killed-" + port, "--set", "node.cluster.seeds=" + seeds,
        "--set", "node.cluster.lease_seconds=2");
    assertThat(new BufferedReader(new InputStreamReader(other.getInputStream(), UTF_8)).readLine())
        .startsWith("ready echo ");
    assertThat(get(seed.directory().list("echo"))).hasSize(1);
    other.destroyForcibly();
    long killed = System.nanoTime();
    poll(seed, "echo", 0);
    assertThat(TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - killed)).isLessThan(8);
    get(seed.close());
  }

  private Process fork(String... args) throws IOException {
    List<String> command = new ArrayList<>(List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(), "-XX:TieredStopAtLevel=1", "-Xmx256m",
        "-cp", System.getProperty("java.class.path"), EchoMain.class.getName()));
    command.addAll(Arrays.asList(args));
    return new ProcessBuilder(command).directory(new File(System.getProperty("java.io.tmpdir"))).start();
  }
}
