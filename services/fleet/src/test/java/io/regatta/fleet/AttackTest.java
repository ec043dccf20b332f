package io.regatta.fleet;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.TlsConfig;
import io.regatta.node.cluster.ClusterConfig;
import io.regatta.node.directory.Directory;
import io.regatta.node.process.Blocking;
import io.regatta.node.testing.LogLines;
import io.regatta.protocol.connection.PeerLogClock;
import io.regatta.protocol.security.Token;
import io.regatta.protocol.stream.StreamPaths;
import io.regatta.protocol.testing.Certificates;
import io.regatta.protocol.testing.Certificates.Pem;
import io.regatta.protocol.testing.HostileClient;
import io.regatta.training.result.RunResult;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import net.jqwik.api.sessions.JqwikSession;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * Attacks on every port of a job that trains. All connections are closed in time, and memory and log stay within their
 * budgets. Meanwhile the job makes steps, and calls with its token succeed. It ends with the parameters of the same job
 * in peace.
 */
@Timeout(value = 40, unit = TimeUnit.MINUTES) // for the long version
class AttackTest {
  /** Connections of each kind in all, after one of each to each port; load-tests/attack.sh opens more. */
  private static final int CONNECTIONS_OF_A_KIND = Integer.getInteger("attack.connections", 0);
  private static final int MEMBER_CONNECTIONS_OF_A_KIND = Integer.getInteger("attack.member_connections", 2);
  /** Half of them come while the job is open, without its token; the others have it. */
  private static final int MUTATED_FRAMES = Integer.getInteger("attack.frames", 10_000);
  /** Part of the frames that comes within TLS, where a connection costs a handshake: a tenth. */
  private static final int TLS_PART = 10;
  /** Frames before memory is measured: classes are loaded, caches of threads are made. */
  private static final int WARMING_PART = 10;
  /** Whether each kind of flood is measured on its own, once all of them have come together. */
  private static final boolean EACH_FLOOD = Boolean.getBoolean("attack.each_flood");
  private static final int FLOODS_OF_A_PORT = 2;
  private static final int FLOODS_AT_ONCE = 1000;
  /** Few enough for their handshakes not to take all of a connection's time. */
  private static final int TLS_FLOODS_AT_ONCE = 32;
  private static final String SHOWN = "Bearer " + AttackedJob.TOKEN;
  private static final String OTHER = "Bearer some-other-token-of-nobody";

  private final Random random = new Random(7);

  @TempDir
  private static Path trained;
  private static Path model;

  @TempDir
  Path dir;

  @BeforeAll
  static void needsProc() {
    assumeTrue(Files.exists(Path.of("/proc/self/net/tcp")), "no list of ports here");
    model = AttackedJob.model(trained);
  }

  @Test
  void a_job_trains_on_while_strangers_attack_each_of_its_ports() throws Exception {
    try (AttackedJob job = AttackedJob.start(dir, model, null)) {
      assertPorts(job);
      List<Integer> ports = job.allPorts();
      Map<String, byte[]> floods = Floods.kinds();
      AttackCosts.Attack allFloods = () -> Floods.send(ports, floods, FLOODS_OF_A_PORT, FLOODS_AT_ONCE,
          Connector.TCP);
      allFloods.run(); // loops make what they keep: chunks of the pools of buffers, caches of threads
      try (AttackCosts costs = new AttackCosts(job, "", Connector.TCP)) {
        costs.measure("slow clients of each kind", AttackCosts.LOG_BYTES, slow(costs, slow ->
            slow.open(job.ports(), SlowClients.http(), 1, Connector.TCP)
                + slow.open(List.of(job.memberPort()), SlowClients.members(), MEMBER_CONNECTIONS_OF_A_KIND,
                Connector.TCP)));
        aMemberJoins(job, null);
        assertThat(costs.measure("all floods together", AttackCosts.LOG_BYTES, allFloods))
            .as("lines after the flood tell of those that were left out").anyMatch(AttackTest::tellsOfOthers);
        if (EACH_FLOOD) {
          for (Map.Entry<String, byte[]> flood : floods.entrySet()) {
            costs.measure(flood.getKey(), AttackCosts.LOG_BYTES, () -> Floods.send(ports,
                Map.of(flood.getKey(), flood.getValue()), FLOODS_OF_A_PORT, FLOODS_AT_ONCE, Connector.TCP));
          }
        }
        manySlow(job, costs, Connector.TCP);
        mutated(job, ports, costs, Connector.TCP, MUTATED_FRAMES);
      }
    }
  }

  /** Strangers have a certificate that the job trusts, as if they had stolen it. */
  @Test
  void a_job_with_mutual_tls_trains_on_while_strangers_with_a_certificate_attack_it() throws Exception {
    Pem pem = new Certificates(dir).issue("ca", "node");
    SSLContext trusted = Certificates.trustAll(pem);
    try (AttackedJob job = AttackedJob.start(dir, model, pem)) {
      assertPorts(job);
      List<Integer> ports = job.allPorts();
      Connector tls = Connector.tls("TLSv1.3", trusted, job.memberPort());
      Connector old = Connector.tls("TLSv1.2", trusted, job.memberPort());
      Map<String, byte[]> floods = Floods.kinds();
      AttackCosts.Attack allFloods = () -> Floods.send(ports, floods, 1, TLS_FLOODS_AT_ONCE, tls);
      allFloods.run(); // loops make what they keep
      try (AttackCosts costs = new AttackCosts(job, "TLS: ", tls)) {
        costs.measure("slow clients of each kind", AttackCosts.LOG_BYTES, slow(costs, slow ->
            slow.open(job.ports(), SlowClients.http(), 1, tls)
                + slow.open(List.of(job.memberPort()), SlowClients.members(), 1, tls)
                + slow.open(ports, SlowClients.withinTls(), 1, tls)
                + slow.open(ports, SlowClients.withinTls(), 1, old)
                + slow.open(ports, SlowClients.handshakes(), 1, Connector.TCP)));
        aMemberJoins(job, pem);
        costs.measure("all floods together", AttackCosts.LOG_BYTES, allFloods);
        manySlow(job, costs, tls);
        mutated(job, ports, costs, tls, MUTATED_FRAMES / TLS_PART);
      }
    }
  }

  private static void assertPorts(AttackedJob job) {
    assertThat(job.ports()).as("rendezvous, key-value server, server, shard, aggregator, heter worker, rank, "
        + "predictor, admin; beside Hazelcast's port there is none of an event bus").hasSize(9);
  }

  private static boolean tellsOfOthers(String line) {
    return line.contains(" similar lines before)");
  }

  /** Opens slow connections. */
  @FunctionalInterface
  private interface Opening {
    int open(SlowClients slow) throws IOException;
  }

  /** Slow connections, until the server has closed them all. */
  private static AttackCosts.Attack slow(AttackCosts costs, Opening opening) {
    return () -> {
      try (SlowClients slow = new SlowClients(costs::noteHeap)) {
        int connections = opening.open(slow);
        slow.awaitEnds();
        return connections;
      }
    };
  }

  /** Many connections of each kind, if the property says how many. */
  private static void manySlow(AttackedJob job, AttackCosts costs, Connector connector) throws Exception {
    int each = CONNECTIONS_OF_A_KIND / job.ports().size();
    if (each > 0) {
      costs.measure("slow clients, " + CONNECTIONS_OF_A_KIND + " of each kind", AttackCosts.LOG_BYTES,
          slow(costs, slow -> slow.open(job.ports(), SlowClients.http(), each, connector)
              + slow.open(job.ports(), SlowClients.handshakes(), each, Connector.TCP)
              + (connector == Connector.TCP ? 0 : slow.open(job.ports(), SlowClients.withinTls(), each, connector))
              + slow.open(List.of(job.memberPort()), SlowClients.members(), CONNECTIONS_OF_A_KIND, connector)));
    }
  }

  /** The attack on Hazelcast's port keeps no member of the job out, and none of the attackers became one. */
  private void aMemberJoins(AttackedJob job, Pem pem) throws Exception {
    ClusterConfig cluster = ClusterConfig.of("regatta", List.of(TrafficRecorder.HOST + ":" + job.memberPort()), 0);
    TlsConfig tls = pem == null ? NodeConfig.defaults().tls()
        : new TlsConfig(pem.certificate().toString(), pem.key().toString(), pem.ca().toString(), true, false, 0);
    Node node = Blocking.get(Node.start(NodeConfig.defaults().withCluster(cluster)
        .withTls(tls).withTokenFile(dir.resolve("token").toString()), "client"));
    try {
      assertThat(Blocking.get(node.directory().list(Directory.RENDEZVOUS))).hasSize(1);
    } finally {
      Blocking.get(node.close());
    }
  }

  /**
   * Recorded calls of which much is changed. They come with another token while the job is open. They come with its own
   * one once it has ended, because a holder of that may end the job. The job's own calls continue all the time.
   */
  private void mutated(AttackedJob job, List<Integer> ports, AttackCosts costs, Connector connector, int frames)
      throws Exception {
    List<Recording> recordings = new ArrayList<>(job.recorded());
    assertThat(recordings).as("recorded connections").hasSizeGreaterThan(4)
        .flatExtracting(Recording::paths).contains(StreamPaths.PARAMETER_SHARD, StreamPaths.HETER_COMPUTE);
    JqwikSession.run(() -> mutated("mutated frames and requests without the token", ports, costs, connector,
        frames / 2, calls(recordings, OTHER)));
    assertEndsAsInPeace(job);
    for (String request : requests(SHOWN)) {
      List<String> answers = new ArrayList<>();
      for (int port : job.ports()) {
        answers.add(answer(port, request, connector));
      }
      assertThat(answers).as(request).allMatch(answer -> answer.startsWith("HTTP/1."));
      assertThat(answers).as(request).anyMatch(answer -> answer.matches("(?s)HTTP/1[.][01] 200.*"));
    }
    assertAdmitted(job, calls(recordings, SHOWN), connector);
    JqwikSession.run(() -> mutated("mutated frames and requests with the token", ports, costs, connector,
        frames / 2, calls(recordings, SHOWN)));
    for (int port : job.ports()) {
      assertThat(answer(port, requests(OTHER).get(0), connector)).as("port %d after the attack", port)
          .startsWith("HTTP/1.");
    }
  }

  private static void assertEndsAsInPeace(AttackedJob job) {
    List<RunResult> results = job.finish();
    List<RunResult> inPeace = job.inPeace();
    assertThat(results).hasSize(2).allMatch(RunResult::isSuccess);
    assertThat(results).extracting(RunResult::steps).isEqualTo(List.of(job.training().made(), job.training().made()))
        .isEqualTo(inPeace.stream().map(RunResult::steps).toList());
    assertThat(results).extracting(RunResult::parametersHash).doesNotContain("")
        .isEqualTo(inPeace.stream().map(RunResult::parametersHash).toList());
  }

  /** Recorded calls with the token pass its check: mutated ones reach the services. */
  private static void assertAdmitted(AttackedJob job, List<Recording> calls, Connector connector) throws IOException {
    PeerLogClock.pass();
    try (LogLines refused = LogLines.of("io.regatta.protocol.security.TokenGuard")) {
      for (Recording call : calls) {
        byte[] bytes = HostileClient.join(call.frames().toArray(byte[][]::new));
        try (HostileClient client = connector.connect(job.rendezvousPort(), bytes)) {
          client.send(bytes);
          client.halfClose();
          client.awaitEndWithin(AttackedJob.CLOSED_WITHIN_MILLIS);
        }
      }
      assertThat(refused.lines()).as("refused calls of %d recorded connections", calls.size()).isEmpty();
    }
  }

  private static List<Recording> calls(List<Recording> recordings, String authorization) {
    List<Recording> calls = new ArrayList<>();
    for (Recording recording : recordings) {
      calls.add(recording.withAuthorization(authorization));
      if (recording.paths().contains(StreamPaths.PARAMETER_SHARD)) {
        calls.add(recording.redirected(StreamPaths.PARAMETER_SHARD, StreamPaths.HETER_EXCHANGE, authorization));
      }
    }
    requests(authorization).forEach(request -> calls.add(Recording.of(request.getBytes(US_ASCII))));
    return calls;
  }

  private void mutated(String name, List<Integer> ports, AttackCosts costs, Connector connector, int frames,
      List<Recording> calls) throws Exception {
    try (MutatedTraffic traffic = new MutatedTraffic(calls, connector, AttackedJob.CLOSED_WITHIN_MILLIS)) {
      traffic.send(ports, frames / WARMING_PART, random);
      costs.measure(name, AttackCosts.MUTATED_LOG_BYTES, () -> traffic.send(ports, frames, random));
      assertThat(traffic.late()).as("connections that were not closed within %d ms, by port",
          AttackedJob.CLOSED_WITHIN_MILLIS).isEmpty();
      assertThat(traffic.answered().keySet()).as("ports that were attacked").containsAll(ports);
    }
  }

  /** Requests of HTTP/1.1, each of which some port answers. */
  private static List<String> requests(String authorization) {
    String head = " HTTP/1.1\r\nHost: a\r\nConnection: close\r\n" + Token.HEADER + ": " + authorization + "\r\n";
    String line = "1\t" + "0.5\t".repeat(13) + "68fd1e64\t".repeat(26).strip() + "\n";
    return List.of("GET /health" + head + "\r\n", "GET /metrics" + head + "\r\n", "GET /why" + head + "\r\n",
        "GET /model" + head + "\r\n",
        "POST /predict" + head + "Content-Length: " + line.length() + "\r\n\r\n" + line,
        "PUT /job_worker/0" + head + "Content-Length: 5\r\n\r\nvalue", "GET /job_worker/0" + head + "\r\n",
        "DELETE /job_worker/0" + head + "\r\n");
  }

  private static String answer(int port, String request, Connector connector) throws IOException {
    try (HostileClient client = connector.connect(port, request.getBytes(US_ASCII))) {
      client.send(request.getBytes(US_ASCII));
      return new String(client.awaitEnd(), US_ASCII);
    }
  }
}
