package io.regatta.fleet;

import io.regatta.collective.CollectiveOptions;
import io.regatta.collective.CollectivePort;
import io.regatta.core.progress.Progress;
import io.regatta.node.Node;
import io.regatta.node.process.Blocking;
import io.regatta.node.testing.FreePorts;
import io.regatta.predictor.PredictorConfig;
import io.regatta.predictor.PredictorVerticle;
import io.regatta.protocol.testing.Certificates;
import io.regatta.protocol.testing.Certificates.Pem;
import io.regatta.protocol.testing.SecretFiles;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.JobConfig;
import io.regatta.training.result.RunResult;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * A job with a token in this process, whose calls are recorded. It has trained, keeps its silent streams open, and
 * waits until an attack is over. It has a rendezvous, the rendezvous's key-value server, a server of two shards, an
 * aggregator, a rank, and the admin port. Owned by the test's thread.
 */
final class AttackedJob implements AutoCloseable {

  static final String TOKEN = "the-token-of-an-attacked-job";
  /** Longer in the long version, whose TLS handshakes keep all cores busy, also with those of the job's own calls. */
  private static final int AUTHENTICATE_MILLIS = Integer.getInteger("attack.authenticate_ms", 2000);
  /** Budget of time of a connection: one second is for the last answers, the others are for a crowded machine. */
  static final int CLOSED_WITHIN_MILLIS = AUTHENTICATE_MILLIS + 5000;
  private static final int PING_INTERVAL_MILLIS = 1000;
  /** A peer that has the token and does not answer is closed after this and one interval. */
  private static final int PING_TIMEOUT_MILLIS = AUTHENTICATE_MILLIS + 1000;

  private final CountDownLatch attacked = new CountDownLatch(1);
  private final TrafficRecorder recorder;
  private final LocalCluster cluster;
  private final Node node;
  private final CollectivePort rank;
  private final Set<Integer> ports;
  private final boolean hasMember;
  private final int memberPort;
  private final int rendezvousPort;
  private final int serverPort;

  /** Starts a job in a Hazelcast cluster, and a predictor; waits until it has trained. */
  static AttackedJob start(Path dir) throws Exception {
    Path model = dir.resolve("model");
    LocalCluster.run(LocalCluster.Options.of(Jobs.wideAndDeep(dir, "mode=sync", "output=" + model, "max_steps=2"))
        .withoutHazelcast().withProgress(Progress.none()));
    return new AttackedJob(dir, model, null);
  }

  /**
   * Starts a job with mutual TLS, without a Hazelcast member and a predictor; waits until it has trained.
   *
   * @param pem certificate and key of all its processes
   */
  static AttackedJob start(Path dir, Pem pem) throws Exception {
    return new AttackedJob(dir, null, pem);
  }

  private AttackedJob(Path dir, Path model, Pem pem) throws Exception {
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
    recorder = new TrafficRecorder(pem == null ? null : Certificates.trustAll(pem), rendezvous, server,
        server + 1, aggregator, member);
    List<String> all = new ArrayList<>(List.of("node.token_file=" + token,
        "node.connections.authenticate_ms=" + AUTHENTICATE_MILLIS, "node.admin.enabled=true",
        "node.cluster.port=" + member, "node.cluster.address=127.0.0.1",
        "node.cluster.published_host=" + TrafficRecorder.HOST, "node.host=" + TrafficRecorder.HOST,
        "node.bind=127.0.0.1", "rendezvous.port=" + rendezvous,
        "rendezvous.http.gloo_port=0", "rendezvous.lease_ms=60000", "parameter_server.port=" + server,
        "gradient_aggregator.port=" + aggregator,
        "parameter_server.stream.transport=grpc", "gradient_aggregator.stream.transport=grpc",
        "trainer.stream.transport=grpc"));
    for (String service : List.of("parameter_server", "gradient_aggregator", "trainer")) {
      all.add(service + ".stream.ping_interval_ms=" + PING_INTERVAL_MILLIS);
      all.add(service + ".stream.ping_timeout_ms=" + PING_TIMEOUT_MILLIS);
    }
    if (pem != null) {
      all.addAll(List.of("node.tls.certificate=" + pem.certificate(), "node.tls.key=" + pem.key(),
          "node.tls.ca=" + pem.ca(), "node.tls.verify_host=false"));
    }
    LocalCluster.Options options = LocalCluster.Options.of(job, ProcessSettings.load(null, List.of(), all, new JsonObject()))
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
      hasMember = model != null;
      memberPort = member;
      rendezvousPort = rendezvous;
      serverPort = server;
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

  /** Returns all ports of the job. */
  List<Integer> allPorts() {
    List<Integer> all = new ArrayList<>(ports);
    if (hasMember) {
      all.add(memberPort);
    }
    return all;
  }

  boolean hasMember() {
    return hasMember;
  }

  boolean hasPredictor() {
    return hasMember;
  }

  /** Returns Hazelcast's port. */
  int memberPort() {
    return memberPort;
  }

  int rendezvousPort() {
    return rendezvousPort;
  }

  /** Returns the control port of the parameter server. */
  int serverPort() {
    return serverPort;
  }

  /** Returns what the job's clients have sent, by connection. */
  List<Recording> recorded() {
    return recorder.sent().stream().map(Recording::of).toList();
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

  /** Ports on which this process listens, but those of a recorder, which are at 127.0.0.2. */
  private static Set<Integer> listening() throws IOException {
    return ListeningPorts.at(address -> !address.equals("0200007F"));
  }
}
