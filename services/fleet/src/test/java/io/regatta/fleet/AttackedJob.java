package io.regatta.fleet;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import ch.qos.logback.core.AppenderBase;
import io.netty.util.internal.PlatformDependent;
import io.regatta.collective.CollectiveOptions;
import io.regatta.collective.CollectivePort;
import io.regatta.node.Node;
import io.regatta.node.address.HostPort;
import io.regatta.node.directory.Directory;
import io.regatta.node.process.Blocking;
import io.regatta.node.testing.FreePorts;
import io.regatta.protocol.RendezvousClient;
import io.regatta.protocol.VertxNetwork;
import io.regatta.protocol.testing.SecretFiles;
import io.regatta.trainer.Progress;
import io.regatta.trainer.TrainingProgram;
import io.regatta.trainer.config.JobConfig;
import io.regatta.trainer.result.RunResult;
import io.regatta.trainer.serve.PredictorConfig;
import io.regatta.trainer.serve.PredictorVerticle;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.lang.management.BufferPoolMXBean;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.Stream;
import org.slf4j.LoggerFactory;

/**
 * A job with a token in this process that has trained, keeps its silent streams open, and waits for the end of an
 * attack: a rendezvous, its key-value server, a server of two shards, an aggregator, a rank, and the admin port. Owned
 * by the test's thread.
 */
final class AttackedJob implements AutoCloseable {

  static final String TOKEN = "the-token-of-an-attacked-job";
  /** Longer in the long version, whose TLS handshakes keep all cores busy, also with those of the job's own calls. */
  private static final int AUTHENTICATE_MILLIS = Integer.getInteger("attack.authenticate_ms", 2000);

  private final CountDownLatch attacked = new CountDownLatch(1);
  private final TrafficRecorder recorder;
  private final LocalCluster cluster;
  private final Node node;
  private final CollectivePort rank;
  private final Set<Integer> ports;
  private final int memberPort;

  /** Starts a job in a Hazelcast cluster, whose calls are recorded, and a predictor; waits until it has trained. */
  static AttackedJob startRecorded(Path dir) throws Exception {
    Path model = dir.resolve("model");
    LocalCluster.run(LocalCluster.Options.of(Jobs.wideAndDeep(dir, "mode=sync", "output=" + model, "max_steps=2"))
        .withoutHazelcast().withProgress(Progress.none()));
    return new AttackedJob(dir, model, "node.host=" + TrafficRecorder.HOST, "node.bind=127.0.0.1");
  }

  /** Starts a job without a Hazelcast member, which is ready sooner, and waits until it has trained. */
  static AttackedJob start(Path dir, String... settings) throws Exception {
    return new AttackedJob(dir, null, settings);
  }

  private AttackedJob(Path dir, Path model, String... settings) throws Exception {
    CountDownLatch trained = new CountDownLatch(2);
    TrainingProgram program = worker -> {
      new LineProgram().run(worker);
      trained.countDown();
      attacked.await();
      worker.barrier();
    };
    JobConfig job = JobConfig.of(new JsonObject().put("job", "line").put("trainers", 2).put("servers", 1)
        .put("shards", 2).put("aggregator", true).put("batch_size", 32).put("compute_threads", 1));
    Path token = SecretFiles.write(dir.resolve("token"), TOKEN);
    int rendezvous = FreePorts.one();
    int server = FreePorts.first(2);
    int aggregator = FreePorts.one();
    int member = FreePorts.one();
    Set<Integer> before = listening();
    recorder = new TrafficRecorder(rendezvous, server, server + 1, aggregator, member);
    List<String> all = new ArrayList<>(List.of("node.token_file=" + token,
        "node.connections.authenticate_ms=" + AUTHENTICATE_MILLIS, "node.admin.enabled=true",
        "node.cluster.port=" + member, "node.cluster.address=127.0.0.1",
        "node.cluster.published_host=" + TrafficRecorder.HOST, "rendezvous.port=" + rendezvous,
        "rendezvous.http.gloo_port=0", "rendezvous.lease_ms=60000", "parameter_server.port=" + server,
        "gradient_aggregator.port=" + aggregator,
        "parameter_server.stream.transport=grpc", "gradient_aggregator.stream.transport=grpc",
        "trainer.stream.transport=grpc"));
    all.addAll(List.of(settings));
    LocalCluster.Options options = LocalCluster.Options.of(job, Place.load(null, List.of(), all, new JsonObject()))
        .withProgram(program).withProgress(Progress.none());
    cluster = LocalCluster.start(model == null ? options.withoutHazelcast() : options);
    try {
      cluster.results().onFailure(e -> {
        while (trained.getCount() > 0) {
          trained.countDown();
        }
      });
      if (!trained.await(JavaProcess.SECONDS, TimeUnit.SECONDS)) {
        throw new IOException("the job has not trained");
      }
      node = Blocking.get(cluster.nodeReady());
      rank = Blocking.get(CollectivePort.listen(node, CollectiveOptions.defaults()));
      if (model != null) {
        PredictorConfig predictor = new PredictorConfig(model.toString(), "", 1000, 0, 1 << 20);
        Blocking.get(node.deploy(new PredictorVerticle(node, predictor, null)));
      }
      memberPort = member;
      ports = new TreeSet<>(listening());
      ports.removeAll(before);
      ports.remove(memberPort);
      if (cluster.results().failed()) {
        throw new IOException("the job has failed", cluster.results().cause());
      }
    } catch (Exception e) {
      attacked.countDown();
      recorder.close();
      Blocking.get(cluster.close());
      throw e;
    }
  }

  Node node() {
    return node;
  }

  /** Returns all ports of the job but Hazelcast's. */
  Set<Integer> ports() {
    return ports;
  }

  /** Returns Hazelcast's port. */
  int memberPort() {
    return memberPort;
  }

  /** Returns what the job's clients have sent, by connection. */
  List<byte[]> recorded() {
    return recorder.sent();
  }

  /** Ends the job, which must succeed; its services stay. */
  List<RunResult> finish() {
    attacked.countDown();
    return Blocking.get(cluster.results());
  }

  @Override
  public void close() throws IOException {
    attacked.countDown();
    Blocking.get(rank.close());
    Blocking.get(cluster.close());
    recorder.close();
  }

  /** Memory of this process: live objects, direct buffers, and what the JVM keeps for classes and compiled code. */
  record Memory(long heap, long direct, long code) {

    /** Measures after garbage collections. */
    static Memory now() {
      System.gc(); // ends buffers and references,
      System.gc(); // and what they held
      long direct = Math.max(0, PlatformDependent.usedDirectMemory());
      for (BufferPoolMXBean pool : ManagementFactory.getPlatformMXBeans(BufferPoolMXBean.class)) {
        direct += pool.getMemoryUsed();
      }
      long code = 0;
      for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
        code += pool.getType() == MemoryType.NON_HEAP ? pool.getUsage().getUsed() : 0;
      }
      return new Memory(ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed(), direct, code);
    }

    long since(Memory earlier) {
      return heap - earlier.heap + direct - earlier.direct;
    }

    String growth(Memory earlier) {
      return String.format("heap %+d kB, direct %+d kB, classes and code %+d kB", heap - earlier.heap >> 10,
          direct - earlier.direct >> 10, code - earlier.code >> 10);
    }
  }

  /** Ports on which this process listens, but those of a recorder. */
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
          if (parts.length > 9 && parts[3].equals("0A") && own.contains("socket:[" + parts[9] + "]")
              && !parts[1].contains("0200007F:")) {
            ports.add(Integer.parseInt(parts[1].substring(parts[1].lastIndexOf(':') + 1), 16));
          }
        }
      }
    }
    return ports;
  }

  /** Calls with the token, one after the other, from a thread of its own. */
  static final class Legitimate implements AutoCloseable {
    /** A Vertx keeps what clients that were closed have had, some kB each, until it is closed itself. */
    private static final int CLIENTS_OF_A_VERTX = 20;
    private final AtomicBoolean over = new AtomicBoolean();
    private final AtomicLong count = new AtomicLong();
    private final AtomicLong slowestNanos = new AtomicLong();
    private final CompletableFuture<Void> calling;

    Legitimate(Node node) {
      HostPort endpoint = HostPort.parse(Blocking.get(node.directory().list(Directory.RENDEZVOUS)).get(0).endpoint(),
          "endpoint");
      calling = CompletableFuture.runAsync(() -> {
        while (!over.get()) {
          Vertx vertx = Vertx.vertx(new VertxOptions().setEventLoopPoolSize(1).setWorkerPoolSize(1)
              .setInternalBlockingPoolSize(1));
          try {
            for (int i = 0; i < CLIENTS_OF_A_VERTX && !over.get(); i++) {
              call(new RendezvousClient(new VertxNetwork(vertx, node.control()), "127.0.0.1", endpoint.port()));
            }
          } finally {
            Blocking.get(vertx.close());
          }
        }
      });
    }

    /** A connection each time: new ones are let in as well. */
    private void call(RendezvousClient client) {
      for (int i = 0; i < 10; i++) {
        long begin = System.nanoTime();
        Blocking.get(client.groups());
        slowestNanos.accumulateAndGet(System.nanoTime() - begin, Math::max);
        count.incrementAndGet();
      }
      Blocking.get(client.close());
    }

    long count() {
      if (calling.isCompletedExceptionally()) {
        throw new AssertionError("a call of the job has failed", calling.handle((done, failure) -> failure).join());
      }
      return count.get();
    }

    long slowestMillis() {
      return TimeUnit.NANOSECONDS.toMillis(slowestNanos.get());
    }

    @Override
    public void close() {
      over.set(true);
      calling.exceptionally(counted -> null).join();
    }
  }

  /** What is logged while this is open. */
  static final class LogBytes extends AppenderBase<ILoggingEvent> implements AutoCloseable {
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
