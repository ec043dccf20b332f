package io.regatta.fleet;

import io.regatta.collective.CollectiveOptions;
import io.regatta.collective.CollectivePort;
import io.regatta.core.progress.Progress;
import io.regatta.fleet.local.LocalCluster;
import io.regatta.fleet.process.ProcessSettings;
import io.regatta.node.Node;
import io.regatta.node.process.Blocking;
import io.regatta.node.testing.FreePorts;
import io.regatta.predictor.PredictorConfig;
import io.regatta.predictor.PredictorVerticle;
import io.regatta.protocol.testing.Certificates;
import io.regatta.protocol.testing.Certificates.Pem;
import io.regatta.protocol.testing.SecretFiles;
import io.regatta.training.config.JobConfig;
import io.regatta.training.result.RunResult;
import io.vertx.core.json.JsonObject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;

/**
 * A job with a token in this process, whose calls are recorded. It trains all the time, until the attacks are over. It
 * has a Hazelcast member, a rendezvous with its key-value server, a server of two shards, an aggregator, a heter
 * worker, and two trainers. Beside them are a rank of collectives, a predictor, and the admin port. Owned by the test's
 * thread.
 */
final class AttackedJob implements AutoCloseable {

  static final String TOKEN = "the-token-of-an-attacked-job";
  /** Shorter than the default, so that the test does not wait for it: nothing but that time depends on it. */
  private static final int AUTHENTICATE_MILLIS = Integer.getInteger("attack.authenticate_ms", 4000);
  /**
   * Budget of time of a connection. A health watch with calls beside it is closed after its second period. One of the
   * five seconds is for the last answers, the others are for a crowded machine.
   */
  static final int CLOSED_WITHIN_MILLIS = 2 * AUTHENTICATE_MILLIS + 5000;
  private static final int PING_INTERVAL_MILLIS = 1000;
  /** A peer that has the token and does not answer is closed by a server after this and one interval. */
  private static final int PING_TIMEOUT_MILLIS = AUTHENTICATE_MILLIS + 2000;
  /** Pause of each trainer in each step, which leaves the cores to the attacks. */
  private static final int STEP_DELAY_MILLIS = 50;
  private static final int STEPS_BEFORE = 8;

  private final JobConfig job;
  private final SteppingProgram program = SteppingProgram.endless();
  private final TrafficRecorder recorder;
  private final LocalCluster cluster;
  private final Node node;
  private final CollectivePort rank;
  private final Set<Integer> ports;
  private final int memberPort;
  private final int rendezvousPort;
  private final int serverPort;

  /** Trains a model for the predictor of a job. */
  static Path model(Path dir) {
    Path model = dir.resolve("model");
    LocalCluster.run(LocalCluster.Options.of(Jobs.wideAndDeep(dir, "mode=sync", "output=" + model, "max_steps=2"))
        .withoutHazelcast().withProgress(Progress.none()));
    return model;
  }

  /**
   * Starts a job; waits until it trains.
   *
   * @param model of its predictor
   * @param pem certificate and key of all its processes, for mutual TLS; null: none
   */
  static AttackedJob start(Path dir, Path model, Pem pem) throws Exception {
    return new AttackedJob(dir, model, pem);
  }

  private AttackedJob(Path dir, Path model, Pem pem) throws Exception {
    job = JobConfig.of(new JsonObject().put("job", "line").put("trainers", 2).put("servers", 1)
        .put("shards", 2).put("aggregator", true).put("heter", new JsonObject().put("workers", 1)).put("batch_size", 32)
        .put("compute_threads", 1));
    Path token = SecretFiles.write(dir.resolve("token"), TOKEN);
    int rendezvous = FreePorts.one();
    int server = FreePorts.first(2);
    int aggregator = FreePorts.one();
    int heterWorker = FreePorts.one();
    int member = FreePorts.one();
    Set<Integer> before = listening();
    recorder = new TrafficRecorder(pem == null ? null : Certificates.trustAll(pem), rendezvous, server,
        server + 1, aggregator, heterWorker, member);
    List<String> all = new ArrayList<>(List.of("node.token_file=" + token,
        "node.connections.authenticate_ms=" + AUTHENTICATE_MILLIS, "node.admin.enabled=true",
        "node.cluster.port=" + member, "node.cluster.address=127.0.0.1",
        "node.cluster.published_host=" + TrafficRecorder.HOST, "node.host=" + TrafficRecorder.HOST,
        "node.bind=127.0.0.1", "rendezvous.port=" + rendezvous,
        "rendezvous.http.gloo_port=0", "rendezvous.lease_ms=60000", "parameter_server.port=" + server,
        "gradient_aggregator.port=" + aggregator, "heter_worker.port=" + heterWorker, "heter_worker.lifetime=endless",
        "trainer.stream.transport=grpc", "trainer.step_delay_ms=" + STEP_DELAY_MILLIS));
    for (String service : List.of("parameter_server", "gradient_aggregator", "heter_worker")) {
      all.add(service + ".stream.transport=grpc");
      all.add(service + ".stream.ping_interval_ms=" + PING_INTERVAL_MILLIS);
      all.add(service + ".stream.ping_timeout_ms=" + PING_TIMEOUT_MILLIS);
    }
    if (pem != null) {
      all.addAll(List.of("node.tls.certificate=" + pem.certificate(), "node.tls.key=" + pem.key(),
          "node.tls.ca=" + pem.ca(), "node.tls.verify_host=false"));
    }
    cluster = LocalCluster.start(LocalCluster.Options
        .of(job, ProcessSettings.load(null, List.of(), all, new JsonObject())).withProgram(program)
        .withProgress(Progress.none()));
    cluster.results().onFailure(e -> program.stop());
    try {
      program.await(STEPS_BEFORE, TimeUnit.SECONDS.toMillis(JavaProcess.SECONDS));
      node = Blocking.get(cluster.nodeReady());
      rank = Blocking.get(CollectivePort.listen(node, CollectiveOptions.defaults()));
      PredictorConfig predictor = new PredictorConfig(model.toString(), "", 1000, 0, 1 << 20);
      Blocking.get(node.deploy(new PredictorVerticle(node, predictor, null)));
      memberPort = member;
      rendezvousPort = rendezvous;
      serverPort = server;
      ports = new TreeSet<>(listening());
      ports.removeAll(before);
      ports.remove(memberPort);
    } catch (Exception e) {
      if (cluster.results().failed()) {
        e.addSuppressed(cluster.results().cause());
      }
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
    all.add(memberPort);
    return all;
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

  /** Returns the steps of the job. */
  SteppingProgram training() {
    return program;
  }

  /** Returns true until {@link #finish}. */
  boolean isTraining() {
    return !cluster.results().isComplete();
  }

  /** Ends the job, which must succeed; its services stay. */
  List<RunResult> finish() {
    program.stop();
    return Blocking.get(cluster.results());
  }

  /** Returns the results of the same job, which has made as many steps, in peace, and without a network. */
  List<RunResult> inPeace() {
    return LocalCluster.run(LocalCluster.Options.of(job).withoutHazelcast()
        .withProgram(new SteppingProgram(program.stop())).withProgress(Progress.none()));
  }

  @Override
  public void close() throws IOException {
    program.stop();
    Blocking.get(rank.close());
    Blocking.get(cluster.close());
    recorder.close();
  }

  /** Ports on which this process listens, but those of a recorder, which are at 127.0.0.2. */
  private static Set<Integer> listening() throws IOException {
    return ListeningPorts.at(address -> !address.equals("0200007F"));
  }
}
