package io.regatta.fleet;

import static io.regatta.protocol.testing.HostileClient.call;
import static io.regatta.protocol.testing.HostileClient.frame;
import static io.regatta.protocol.testing.HostileClient.hello;
import static io.regatta.protocol.testing.HostileClient.join;
import static io.regatta.protocol.testing.HostileClient.repeat;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import io.netty.handler.codec.http2.Http2FrameTypes;
import io.netty.util.internal.PlatformDependent;
import io.regatta.collective.CollectiveOptions;
import io.regatta.collective.CollectivePort;
import io.regatta.node.Node;
import io.regatta.node.address.HostPort;
import io.regatta.node.directory.Directory;
import io.regatta.node.process.Blocking;
import io.regatta.protocol.RendezvousClient;
import io.regatta.protocol.security.Token;
import io.regatta.protocol.testing.HostileClient;
import io.regatta.protocol.testing.SecretFiles;
import io.regatta.trainer.Progress;
import io.regatta.trainer.TrainingProgram;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.serve.PredictorConfig;
import io.regatta.trainer.serve.PredictorVerticle;
import io.vertx.core.Vertx;
import io.vertx.core.json.JsonObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.LoggerFactory;

/**
 * Attacks without the token on every port of a running job: all connections are closed in time, memory and log stay
 * within their budgets, calls with the token succeed meanwhile, and the job, whose streams were silent, ends with
 * success.
 */
@Timeout(value = 3, unit = TimeUnit.MINUTES)
class AttackTest {
  private static final int AUTHENTICATE_MILLIS = 1000;
  /** Of each kind in all; docs/security.md says how to try more. */
  private static final int CONNECTIONS_OF_A_KIND = Integer.getInteger("attack.connections", 100);
  private static final int MUTATED_FRAMES = Integer.getInteger("attack.frames", 20_000);
  private static final int FRAMES_OF_A_CONNECTION = 50;
  private static final int CONNECTIONS_AT_A_TIME = 4000;
  private static final int FLOODS_OF_A_PORT = 2;
  private static final int FLOOD_FRAMES = 100_000;
  private static final int MOST_LOG_BYTES = 64 << 10;
  private static final int MOST_LOG_BYTES_OF_MUTATED = 1 << 20;
  private static final int MOST_GROWTH_BYTES = 20 << 20;
  private static final String TOKEN = "the-token-of-an-attacked-job";
  private static final String CHECK = "/grpc.health.v1.Health/Check";
  private static final String WATCH = "/grpc.health.v1.Health/Watch";
  private static final String GROUPS = "/regatta.Rendezvous/Groups";

  private final Random random = new Random(7);

  @Test
  void a_job_trains_on_while_strangers_attack_each_of_its_ports(@TempDir Path dir) throws Exception {
    assumeTrue(Files.exists(Path.of("/proc/self/net/tcp")), "no list of ports here");
    Path model = dir.resolve("model");
    LocalCluster.run(LocalCluster.Options.of(Jobs.wideAndDeep(dir, "mode=sync", "output=" + model, "max_steps=2"))
        .withoutHazelcast()
        .withProgress(Progress.none()));
    Set<Integer> before = listening();
    CountDownLatch trained = new CountDownLatch(2);
    CountDownLatch attacked = new CountDownLatch(1);
    TrainingProgram program = worker -> {
      new LineProgram().run(worker);
      trained.countDown();
      attacked.await();
      worker.barrier();
    };
    JobConfig job = JobConfig.of(new JsonObject().put("job", "line").put("trainers", 2).put("servers", 2)
        .put("aggregator", true)
        .put("batch_size", 8).put("compute_threads", 1));
    Path token = SecretFiles.write(dir.resolve("token"), TOKEN);
    Place place = Place.load(null, List.of(), List.of("node.token_file=" + token, "node.connections.authenticate_ms="
        + AUTHENTICATE_MILLIS, "node.admin.enabled=true", "rendezvous.http.gloo_port=0",
        "parameter_server.stream.transport=grpc",
        "gradient_aggregator.stream.transport=grpc", "trainer.stream.transport=grpc"), new JsonObject());
    LocalCluster cluster = LocalCluster.start(LocalCluster.Options.of(job, place).withProgram(program)
        .withoutHazelcast()
        .withProgress(Progress.none()));
    try {
      assertThat(trained.await(JavaProcess.SECONDS, TimeUnit.SECONDS)).isTrue();
      Node node = Blocking.get(cluster.nodeReady());
      CollectivePort rank = Blocking.get(CollectivePort.listen(node, CollectiveOptions.defaults()));
      Blocking.get(node.deploy(new PredictorVerticle(node, new PredictorConfig(model.toString(), "", 1000, 0, 1 << 20),
          null)));
      Set<Integer> ports = new TreeSet<>(listening());
      ports.removeAll(before);
      assertThat(ports).as("rendezvous, key-value server, server, shard, aggregator, rank, predictor, admin")
          .hasSizeGreaterThan(7);
      try (LogBytes log = new LogBytes(); Legitimate calls = new Legitimate(node)) {
        long memory = usedBytes();
        long slowBegin = System.nanoTime();
        slow(ports);
        System.out.printf("slow connections, %d of each kind: %d ports in %d ms, %d calls meanwhile, %d bytes of log%n",
            CONNECTIONS_OF_A_KIND, ports.size(), TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - slowBegin),
            calls.count(), log.bytes());
        assertThat(calls.count()).as("calls while others are slow").isPositive();
        for (Map.Entry<String, byte[]> attack : attacks().entrySet()) {
          long logged = log.bytes();
          long begin = System.nanoTime();
          long made = calls.count();
          flood(ports, attack.getValue());
          System.out.printf("%s: %d ports in %d ms, %d calls meanwhile, %d bytes of log%n", attack.getKey(),
              ports.size(),
              TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin), calls.count() - made, log.bytes() - logged);
        }
        long growth = usedBytes() - memory;
        System.out.printf("in all: %d calls, the slowest in %d ms; memory grew by %d bytes, the log by %d%n",
            calls.count(),
            calls.slowestMillis(), growth, log.bytes());
        assertThat(log.bytes()).as("log").isLessThan(MOST_LOG_BYTES);
        assertThat(log.text()).contains(" similar lines before)");
        long made = calls.count();
        long logged = log.bytes();
        long begin = System.nanoTime();
        mutated(new ArrayList<>(ports));
        growth = usedBytes() - memory;
        System.out.printf("%d mutated frames: %d ms, %d calls meanwhile, memory grew by %d bytes in all, the log by "
            + "%d%n", MUTATED_FRAMES,
            TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - begin), calls.count() - made, growth,
            log.bytes() - logged);
        assertThat(growth).as("memory").isLessThan(MOST_GROWTH_BYTES);
        assertThat(log.bytes() - logged).as("log").isLessThan(MOST_LOG_BYTES_OF_MUTATED);
      }
      attacked.countDown();
      assertThat(Blocking.get(cluster.results())).hasSize(2);
      Blocking.get(rank.close());
    } finally {
      attacked.countDown();
      Blocking.get(cluster.close());
    }
  }

  /** Some hundred connections to each port that say nothing, little, or nothing with the token. */
  private static void slow(Set<Integer> ports) throws IOException {
    List<byte[]> kinds = List.of(new byte[0], "P".getBytes(US_ASCII), new byte[] {22, 3, 1, 2, 0, 1, 0},
        "GET /health HTTP/1.1\r\nHost: a\r\nX-".getBytes(US_ASCII),
        "POST /predict HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\nsome".getBytes(US_ASCII), hello(),
        join(hello(), call(1, GROUPS)), join(hello(), call(1, CHECK)),
        join(hello(), call(1, CHECK), frame(Http2FrameTypes.DATA, 0, 1, new byte[] {0, 0, 0, 1, 0, 1})),
        join(hello(), frame(Http2FrameTypes.HEADERS, 0, 1, new byte[] {(byte) 0x83})));
    List<HostileClient> clients = new ArrayList<>();
    try {
      for (byte[] kind : kinds) {
        for (int port : ports) {
          for (int i = 0; i < Math.max(1, CONNECTIONS_OF_A_KIND / ports.size()); i++) {
            HostileClient client = HostileClient.connect(port);
            client.send(kind);
            clients.add(client);
          }
        }
        if (clients.size() >= CONNECTIONS_AT_A_TIME) {
          end(clients);
        }
      }
      end(clients);
    } finally {
      for (HostileClient client : clients) {
        client.close();
      }
    }
  }

  private static void end(List<HostileClient> clients) throws IOException {
    for (HostileClient client : clients) {
      client.awaitEnd();
      client.close();
    }
    clients.clear();
  }

  /** Valid frames, with the token, of which some bytes are others: the connection authenticates as often as not. */
  private void mutated(List<Integer> ports) throws IOException {
    byte[] body = new byte[] {0, 0, 0, 0, 4, 10, 2, 'g', '1'};
    List<String> paths = List.of(GROUPS, CHECK, "/regatta.Rendezvous/Watch", "/regatta.ParameterServer/ShardMap",
        "/regatta.ParameterShard/Exchange",
        "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo");
    for (int sent = 0; sent < MUTATED_FRAMES; sent += FRAMES_OF_A_CONNECTION) {
      byte[][] frames = new byte[FRAMES_OF_A_CONNECTION][];
      for (int i = 0; i < frames.length; i += 2) {
        frames[i] = mutated(call(1 + i, paths.get(random.nextInt(paths.size())), Token.HEADER, "Bearer " + TOKEN));
        frames[i + 1] = mutated(frame(Http2FrameTypes.DATA, 1, 1 + i, body));
      }
      try (HostileClient client = HostileClient.connect(ports.get(random.nextInt(ports.size())))) {
        client.send(hello());
        client.send(frames);
      }
    }
  }

  private byte[] mutated(byte[] valid) {
    byte[] bytes = valid.clone();
    for (int i = random.nextInt(3); i > 0; i--) { // the first byte of a length would make it a frame without end
      bytes[1 + random.nextInt(bytes.length - 1)] = (byte) random.nextInt();
    }
    return random.nextInt(50) == 0 ? Arrays.copyOf(bytes, random.nextInt(bytes.length)) : bytes;
  }

  private Map<String, byte[]> attacks() throws IOException {
    byte[] rubbish = new byte[1 << 20];
    random.nextBytes(rubbish);
    byte[][] resets = new byte[2 * FLOOD_FRAMES / 100][];
    byte[][] health = new byte[FLOOD_FRAMES / 100][];
    byte[][] refused = new byte[FLOOD_FRAMES / 100][];
    for (int i = 0; i < FLOOD_FRAMES / 100; i++) {
      resets[2 * i] = call(1 + 2 * i, CHECK);
      resets[2 * i + 1] = frame(Http2FrameTypes.RST_STREAM, 0, 1 + 2 * i, new byte[] {0, 0, 0, 8});
      health[i] = join(call(1 + 2 * i, i % 2 == 0 ? WATCH : CHECK), frame(Http2FrameTypes.DATA, 0, 1 + 2 * i,
          new byte[25]));
      refused[i] = call(1 + 2 * i, GROUPS, Token.HEADER, "Bearer some-other-token-of-nobody");
    }
    Map<String, byte[]> attacks = new LinkedHashMap<>();
    attacks.put("PING flood", join(hello(), repeat(frame(Http2FrameTypes.PING, 0, 0, new byte[8]), FLOOD_FRAMES)));
    attacks.put("SETTINGS flood", join(hello(), repeat(frame(Http2FrameTypes.SETTINGS, 0, 0,
        new byte[] {0, 3, 0, 0, 0, 1}), FLOOD_FRAMES)));
    attacks.put("CONTINUATION flood", join(hello(), frame(Http2FrameTypes.HEADERS, 0, 1, new byte[] {(byte) 0x83}),
        repeat(frame(Http2FrameTypes.CONTINUATION, 0, 1, new byte[0]), FLOOD_FRAMES)));
    attacks.put("empty DATA flood", join(hello(), call(1, CHECK), repeat(frame(Http2FrameTypes.DATA, 0, 1,
        new byte[0]), FLOOD_FRAMES)));
    attacks.put("RST flood", join(hello(), join(resets)));
    attacks.put("health flood of empty messages", join(hello(), join(health)));
    attacks.put("calls with another token", join(hello(), join(refused)));
    attacks.put("gzip bomb", join(hello(), call(1, GROUPS, "grpc-encoding", "gzip"), frame(Http2FrameTypes.DATA, 1, 1,
        bomb())));
    attacks.put("gzip bomb over HTTP/1.1", join(("POST / HTTP/1.1\r\nHost: a\r\nContent-Encoding: "
        + "gzip\r\nContent-Length: " + bomb().length
        + "\r\n\r\n").getBytes(US_ASCII), bomb()));
    attacks.put("request line of 8 kB, often", repeat(("GET /" + "a\u0007".repeat(1900)
        + " HTTP/1.1\r\nHost: a\r\n\r\n").getBytes(US_ASCII), 50));
    attacks.put("request line without end", repeat("GET /aaaaaaaa".getBytes(US_ASCII), FLOOD_FRAMES));
    attacks.put("rubbish", rubbish);
    attacks.put("rubbish after the preface", join(hello(), rubbish));
    return attacks;
  }

  private static byte[] bomb() throws IOException {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
      gzip.write(new byte[8 << 20]);
    }
    return packed.toByteArray();
  }

  /** On some connections to each port at once, until the server has closed them all. */
  private static void flood(Set<Integer> ports, byte[] bytes) throws Exception {
    ExecutorService senders = Executors.newCachedThreadPool();
    try {
      List<Callable<byte[]>> floods = new ArrayList<>();
      for (int i = 0; i < FLOODS_OF_A_PORT; i++) {
        for (int port : ports) {
          floods.add(() -> {
            try (HostileClient client = HostileClient.connect(port)) {
              client.send(bytes);
              return client.awaitEnd();
            }
          });
        }
      }
      for (Future<byte[]> flood : senders.invokeAll(floods)) {
        flood.get(); // throws if the connection stays open
      }
    } finally {
      senders.shutdownNow();
    }
  }

  private static long usedBytes() {
    System.gc();
    return Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory() + Math.max(0,
        PlatformDependent.usedDirectMemory());
  }

  /** Ports on which this process listens. */
  private static Set<Integer> listening() throws IOException {
    Set<String> own = new TreeSet<>();
    try (Stream<Path> files = Files.list(Path.of("/proc/self/fd"))) {
      for (Path file : files.toList()) {
        try {
          own.add(Files.readSymbolicLink(file).toString());
        } catch (IOException gone) {
          continue;
        }
      }
    }
    Set<Integer> ports = new TreeSet<>();
    for (String table : List.of("/proc/self/net/tcp", "/proc/self/net/tcp6")) {
      if (Files.exists(Path.of(table))) {
        for (String line : Files.readAllLines(Path.of(table))) {
          String[] parts = line.strip().split("\\s+");
          if (parts.length > 9 && parts[3].equals("0A") && own.contains("socket:[" + parts[9] + "]")) {
            ports.add(Integer.parseInt(parts[1].substring(parts[1].lastIndexOf(':') + 1), 16));
          }
        }
      }
    }
    return ports;
  }

  /** Calls with the token, one after the other, from a thread of its own. */
  private static final class Legitimate implements AutoCloseable {
    private final Vertx vertx = Vertx.vertx();
    private final AtomicBoolean over = new AtomicBoolean();
    private final AtomicLong count = new AtomicLong();
    private final AtomicLong slowestNanos = new AtomicLong();
    private final CompletableFuture<Void> calling;

    Legitimate(Node node) {
      HostPort endpoint = HostPort.parse(Blocking.get(node.directory().list(Directory.RENDEZVOUS)).get(0).endpoint(),
          "endpoint");
      calling = CompletableFuture.runAsync(() -> {
        while (!over.get()) { // a connection each time: new ones are let in as well
          RendezvousClient client = new RendezvousClient(node.network(), endpoint.host(), endpoint.port());
          for (int i = 0; i < 10; i++) {
            long begin = System.nanoTime();
            Blocking.get(client.groups());
            slowestNanos.accumulateAndGet(System.nanoTime() - begin, Math::max);
            count.incrementAndGet();
          }
          Blocking.get(client.close());
        }
      });
    }

    long count() {
      if (calling.isDone()) {
        calling.join(); // throws what it failed with
      }
      return count.get();
    }

    long slowestMillis() {
      return TimeUnit.NANOSECONDS.toMillis(slowestNanos.get());
    }

    @Override
    public void close() {
      over.set(true);
      calling.join();
      Blocking.get(vertx.close());
    }
  }

  /** What is logged while this is open. */
  private static final class LogBytes extends AppenderBase<ILoggingEvent> implements AutoCloseable {
    private static final int HEAD_BYTES = 40;
    private final Logger root = (Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME);
    private final StringBuffer text = new StringBuffer();

    LogBytes() {
      start();
      root.addAppender(this);
    }

    @Override
    protected void append(ILoggingEvent event) {
      text.append(" ".repeat(HEAD_BYTES)).append(event.getFormattedMessage()).append('\n');
      if (event.getThrowableProxy() != null) {
        text.append(ThrowableProxyUtil.asString(event.getThrowableProxy()));
      }
    }

    long bytes() {
      return text.length();
    }

    String text() {
      return text.toString();
    }

    @Override
    public void close() {
      root.detachAppender(this);
    }
  }
}
