package io.regatta.fleet;

import static io.regatta.protocol.testing.HostileClient.call;
import static io.regatta.protocol.testing.HostileClient.frame;
import static io.regatta.protocol.testing.HostileClient.hello;
import static io.regatta.protocol.testing.HostileClient.join;
import static io.regatta.protocol.testing.HostileClient.repeat;
import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.netty.handler.codec.http2.Http2FrameTypes;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.cluster.ClusterConfig;
import io.regatta.node.directory.Directory;
import io.regatta.node.process.Blocking;
import io.regatta.protocol.security.Token;
import io.regatta.protocol.testing.Certificates;
import io.regatta.protocol.testing.Certificates.Pem;
import io.regatta.protocol.testing.HostileClient;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.zip.GZIPOutputStream;
import net.jqwik.api.sessions.JqwikSession;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Attacks without the token on every port of a running job: all connections are closed in time, memory and log stay
 * within their budgets, calls with the token succeed meanwhile, and the job, whose streams were silent, ends with
 * success.
 */
@Timeout(value = 30, unit = TimeUnit.MINUTES) // for the long version
class AttackTest {
  /** Connections of each kind in all, after one of each to each port; load-tests/attack.sh opens more. */
  private static final int CONNECTIONS_OF_A_KIND = Integer.getInteger("attack.connections", 0);
  private static final int MEMBER_CONNECTIONS_OF_A_KIND = Integer.getInteger("attack.member_connections", 2);
  private static final int MUTATED_FRAMES = Integer.getInteger("attack.frames", 10_000);
  /** Frames before memory is measured: classes are loaded, buffers of pools and caches of threads are made. */
  private static final int WARMING_FRAMES = Math.max(MUTATED_FRAMES / 10, 5_000);
  /** Whether each kind of flood is measured on its own, once all of them have come together. */
  private static final boolean EACH_FLOOD = Boolean.getBoolean("attack.each_flood");
  private static final int FLOODS_OF_A_PORT = 2;
  private static final int FLOOD_FRAMES = 100_000;
  /** More than what the buffers of both ends hold: a flood of so much is cut, or some server has read it. */
  private static final int CUT_BYTES = 16 << 20;
  private static final int GIANT_BYTES = 32 << 20;
  private static final int MOST_HANDSHAKES = 3;
  private static final String TOKEN = AttackedJob.TOKEN;
  private static final String CHECK = "/grpc.health.v1.Health/Check";
  private static final String WATCH = "/grpc.health.v1.Health/Watch";
  private static final String GROUPS = "/regatta.Rendezvous/Groups";

  private final Random random = new Random(7);

  @TempDir
  Path dir;

  @BeforeAll
  static void needsProc() {
    assumeTrue(Files.exists(Path.of("/proc/self/net/tcp")), "no list of ports here");
  }

  @Test
  void a_job_trains_on_while_strangers_attack_each_of_its_ports() throws Exception {
    try (AttackedJob job = AttackedJob.startRecorded(dir)) {
      assertThat(job.ports()).as("rendezvous, key-value server, server, shard, aggregator, rank, predictor, admin; "
          + "beside Hazelcast's port there is none of an event bus").hasSize(8);
      List<Integer> ports = new ArrayList<>(job.ports());
      ports.add(job.memberPort());
      try (AttackCosts costs = new AttackCosts(job, "")) {
        costs.measure("slow clients of each kind", AttackCosts.poolsBytes(), AttackCosts.LOG_BYTES, slow(slow ->
            slow.open(job.ports(), SlowClients.http(), 1, HostileClient::connect)
                + slow.open(List.of(job.memberPort()), SlowClients.members(), MEMBER_CONNECTIONS_OF_A_KIND,
                HostileClient::connect)));
        aMemberJoins(job);
        Map<String, byte[]> floods = floods();
        costs.measure("all floods together", AttackCosts.poolsBytes(), AttackCosts.LOG_BYTES,
            () -> flood(ports, floods));
        assertThat(costs.log()).contains(" similar lines before)");
        if (EACH_FLOOD) {
          for (Map.Entry<String, byte[]> flood : floods.entrySet()) {
            costs.measure(flood.getKey(), AttackCosts.MEMORY_BYTES, AttackCosts.LOG_BYTES, () -> flood(ports,
                Map.of(flood.getKey(), flood.getValue())));
          }
        }
        manySlow(job, costs, HostileClient::connect);
        assertThat(job.finish()).hasSize(2);
        JqwikSession.run(() -> mutated(job, ports, costs)); // has the token, and may end a job with it
      }
    }
  }

  @Test
  void slow_clients_are_closed_in_time_over_tls_too() throws Exception {
    Pem pem = new Certificates(dir).issue("ca", "node");
    try (AttackedJob job = AttackedJob.start(dir, "node.tls.certificate=" + pem.certificate(), "node.tls.key="
        + pem.key(), "node.tls.ca=" + pem.ca(), "node.tls.mutual=false", "node.tls.verify_host=false")) {
      try (AttackCosts costs = new AttackCosts(job, "TLS: ")) {
        List<Integer> some = job.ports().stream().limit(3).toList(); // handshakes cost, and TLS is the same everywhere
        costs.measure("slow clients of each kind", AttackCosts.poolsBytes(), AttackCosts.LOG_BYTES, slow(slow ->
            slow.open(some, SlowClients.http(), 1, tls("TLSv1.3"))
                + slow.open(job.ports(), SlowClients.withinTls(), 1, tls("TLSv1.3"))
                + slow.open(job.ports(), SlowClients.withinTls(), 1, tls("TLSv1.2"))
                + slow.open(job.ports(), SlowClients.handshakes(), 1, HostileClient::connect)));
        manySlow(job, costs, tls("TLSv1.3"));
      }
      assertThat(job.finish()).hasSize(2);
    }
  }

  /** Opens slow connections. */
  @FunctionalInterface
  private interface Opening {
    int open(SlowClients slow) throws IOException;
  }

  /** Slow connections, until the server has closed them all. */
  private static AttackCosts.Attack slow(Opening opening) {
    return () -> {
      try (SlowClients slow = new SlowClients()) {
        int connections = opening.open(slow);
        slow.awaitEnds();
        return connections;
      }
    };
  }

  /** Many connections of each kind, if the property says how many; memory grows no more. */
  private static void manySlow(AttackedJob job, AttackCosts costs, SlowClients.Connector connector) throws Exception {
    int each = CONNECTIONS_OF_A_KIND / job.ports().size();
    if (each > 0) {
      costs.measure("slow clients, " + CONNECTIONS_OF_A_KIND + " of each kind", AttackCosts.MEMORY_BYTES,
          AttackCosts.LOG_BYTES, slow(slow -> slow.open(job.ports(), SlowClients.http(), each, connector)
              + slow.open(job.ports(), SlowClients.handshakes(), each, HostileClient::connect)
              + (job.hasMember() ? slow.open(List.of(job.memberPort()), SlowClients.members(), CONNECTIONS_OF_A_KIND,
              HostileClient::connect) : 0)));
    }
  }

  /** A busy server may end a handshake as one that has taken too long. */
  private static SlowClients.Connector tls(String protocol) {
    return port -> {
      for (int tries = 1; true; tries++) {
        try {
          return HostileClient.connectTls(port, protocol);
        } catch (IOException late) {
          if (tries == MOST_HANDSHAKES) {
            throw late;
          }
        }
      }
    };
  }

  /** The attack on Hazelcast's port keeps no member of the job out, and none of the attackers became one. */
  private void aMemberJoins(AttackedJob job) throws Exception {
    ClusterConfig cluster = ClusterConfig.of("regatta", List.of(TrafficRecorder.HOST + ":" + job.memberPort()), 0);
    Node node = Blocking.get(Node.start(NodeConfig.defaults().withCluster(cluster)
        .withTokenFile(dir.resolve("token").toString()), "client"));
    try {
      assertThat(Blocking.get(node.directory().list(Directory.RENDEZVOUS))).hasSize(1);
    } finally {
      Blocking.get(node.close());
    }
  }

  /** Recorded calls with the token, of which much is changed: connections authenticate as often as not. */
  private void mutated(AttackedJob job, List<Integer> ports, AttackCosts costs) throws Exception {
    List<List<byte[]>> recordings = new ArrayList<>();
    for (byte[] connection : job.recorded()) {
      recordings.add(TrafficRecorder.frames(connection));
    }
    assertThat(recordings).as("recorded connections").hasSizeGreaterThan(4);
    for (String request : requests()) {
      List<String> answers = new ArrayList<>();
      for (int port : job.ports()) {
        answers.add(answer(port, request));
      }
      assertThat(answers).as(request).anyMatch(answer -> answer.matches("(?s)HTTP/1[.][01] 200.*"));
      recordings.add(List.of(request.getBytes(US_ASCII)));
    }
    MutatedTraffic traffic = new MutatedTraffic(recordings);
    send(traffic, ports, WARMING_FRAMES);
    costs.measure("mutated frames and requests of " + recordings.size() + " recorded connections",
        AttackCosts.MEMORY_BYTES, AttackCosts.MUTATED_LOG_BYTES, () -> send(traffic, ports, MUTATED_FRAMES));
    System.out.println(traffic.stayedOpen() + " mutated connections were closed late");
  }

  private int send(MutatedTraffic traffic, List<Integer> ports, int frames) throws IOException {
    int sent = 0;
    while (sent < frames) {
      sent += traffic.send(ports.get(random.nextInt(ports.size())), random);
    }
    return sent;
  }

  /** Requests of HTTP/1.1, each of which some port answers. */
  private static List<String> requests() {
    String head = " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + Token.HEADER + ": Bearer " + TOKEN + "\r\n";
    String line = "1\t" + "0.5\t".repeat(13) + "68fd1e64\t".repeat(26).strip() + "\n";
    return List.of("GET /health" + head + "\r\n", "GET /metrics" + head + "\r\n", "GET /why" + head + "\r\n",
        "GET /model" + head + "\r\n",
        "POST /predict" + head + "Content-Length: " + line.length() + "\r\n\r\n" + line,
        "PUT /job_worker/0" + head + "Content-Length: 5\r\n\r\nvalue", "GET /job_worker/0" + head + "\r\n",
        "DELETE /job_worker/0" + head + "\r\n");
  }

  private static String answer(int port, String request) throws IOException {
    try (HostileClient client = HostileClient.connect(port)) {
      client.send(request.getBytes(US_ASCII));
      return new String(client.awaitEnd(), US_ASCII);
    }
  }

  private Map<String, byte[]> floods() throws IOException {
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
    Map<String, byte[]> floods = new LinkedHashMap<>();
    floods.put("PING flood", join(hello(), repeat(frame(Http2FrameTypes.PING, 0, 0, new byte[8]), FLOOD_FRAMES)));
    floods.put("SETTINGS flood", join(hello(), repeat(frame(Http2FrameTypes.SETTINGS, 0, 0,
        new byte[] {0, 3, 0, 0, 0, 1}), FLOOD_FRAMES)));
    floods.put("CONTINUATION flood", join(hello(), frame(Http2FrameTypes.HEADERS, 0, 1, new byte[] {(byte) 0x83}),
        repeat(frame(Http2FrameTypes.CONTINUATION, 0, 1, new byte[0]), FLOOD_FRAMES)));
    floods.put("empty DATA flood", join(hello(), call(1, CHECK), repeat(frame(Http2FrameTypes.DATA, 0, 1,
        new byte[0]), FLOOD_FRAMES)));
    floods.put("RST flood", join(hello(), join(resets)));
    floods.put("health flood of empty messages", join(hello(), join(health)));
    floods.put("calls with another token", join(hello(), join(refused)));
    floods.put("gzip bomb", join(hello(), call(1, GROUPS, "grpc-encoding", "gzip"), frame(Http2FrameTypes.DATA, 1, 1,
        bomb())));
    floods.put("gzip bomb over HTTP/1.1", join(("POST / HTTP/1.1\r\nHost: a\r\nContent-Encoding: "
        + "gzip\r\nContent-Length: " + bomb().length
        + "\r\n\r\n").getBytes(US_ASCII), bomb()));
    floods.put("request line of 8 kB, often", repeat(("GET /" + "a\u0007".repeat(1900)
        + " HTTP/1.1\r\nHost: a\r\n\r\n").getBytes(US_ASCII), 50));
    floods.put("request line without end", repeat("GET /aaaaaaaa".getBytes(US_ASCII), FLOOD_FRAMES));
    floods.put("gzip bomb over HTTP/1.1, with the token", join(("POST /predict HTTP/1.1\r\nHost: a\r\nConnection: "
        + "close\r\n" + Token.HEADER + ": Bearer " + TOKEN + "\r\nContent-Encoding: gzip\r\nContent-Length: "
        + bomb().length + "\r\n\r\n").getBytes(US_ASCII), bomb()));
    floods.put("message of 2 GiB, as to an event bus", join(new byte[] {0x7f, -1, -1, -1}, new byte[GIANT_BYTES]));
    floods.put("rubbish", rubbish);
    floods.put("rubbish after the preface", join(hello(), rubbish));
    return floods;
  }

  private static byte[] bomb() throws IOException {
    ByteArrayOutputStream packed = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(packed)) {
      gzip.write(new byte[8 << 20]);
    }
    return packed.toByteArray();
  }

  /** Floods on some connections to each port at once, until the server has closed them all. */
  private static int flood(List<Integer> ports, Map<String, byte[]> floods) throws Exception {
    ExecutorService senders = Executors.newCachedThreadPool();
    try {
      Map<String, Future<Boolean>> sent = new LinkedHashMap<>();
      for (Map.Entry<String, byte[]> flood : floods.entrySet()) {
        for (int port : ports) {
          for (int i = 0; i < FLOODS_OF_A_PORT; i++) {
            sent.put(flood.getKey() + ", port " + port + ", connection " + i, senders.submit(() -> {
              try (HostileClient client = HostileClient.connect(port)) {
                boolean whole = client.send(flood.getValue());
                client.awaitEnd();
                return whole && flood.getValue().length > CUT_BYTES;
              }
            }));
          }
        }
      }
      for (Map.Entry<String, Future<Boolean>> each : sent.entrySet()) {
        assertThat(each.getValue()).as("closed: %s", each.getKey()).succeedsWithin(1, TimeUnit.MINUTES);
        assertThat(each.getValue().get()).as("read to its end: %s", each.getKey()).isFalse();
      }
      return sent.size();
    } finally {
      senders.shutdownNow();
    }
  }
}
