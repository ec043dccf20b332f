package io.regatta.fleet.local;

import io.regatta.core.error.RegattaException.Cancelled;
import io.regatta.core.progress.Progress;
import io.regatta.fleet.process.ProcessSettings;
import io.regatta.fleet.process.Service;
import io.regatta.fleet.process.ServiceConfigs;
import io.regatta.fleet.process.Services;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.admin.Hosted;
import io.regatta.node.process.Blocking;
import io.regatta.node.process.PlainVertx;
import io.regatta.trainer.TrainerVerticle;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.TrainerConfig;
import io.regatta.training.result.RunResult;
import io.soabase.recordbuilder.core.RecordBuilder;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * A whole job in one JVM: a rendezvous, the job's parameter servers and trainers, and an aggregator if the job has one.
 * They use gRPC on free loopback ports and find each other through the directory, as they would as processes. Owned by
 * the code that starts it; any thread.
 */
public final class LocalCluster {

  /**
   * The description of a cluster to start.
   *
   * @param job the job; its servers, shards, trainers and aggregator say what is started
   * @param program that every trainer runs; null: the class that the job names
   * @param clustered true: a Vertx of its own joined through Hazelcast (one member, a free port), as processes do it;
   *     false: the same directory on a Vertx without cluster, which starts in no time
   * @param node the section {@code node}
   * @param services sections of the services
   * @param faults that are injected
   * @param progress where the first trainer reports; null: a bar on a terminal, lines elsewhere
   */
  @RecordBuilder
  public record Options(JobConfig job, TrainingProgram program, boolean clustered, NodeConfig node,
      ServiceConfigs services, Faults faults, Progress progress) implements LocalClusterOptionsBuilder.With {

    /** Returns options for the job as it is, in a Hazelcast cluster of its own. */
    public static Options of(JobConfig job) {
      return new Options(job, null, true, NodeConfig.defaults(), ServiceConfigs.defaults(job), Faults.none(), null);
    }

    /** Returns options as {@link #of(JobConfig)} does, with this process's settings of node and services. */
    public static Options of(JobConfig job, ProcessSettings place) {
      return of(job).withNode(place.simulationNode()).withServices(place.simulation(job));
    }

    /** Returns the same options with the directory on a Vertx without cluster. */
    public Options withoutHazelcast() {
      return withClustered(false);
    }
  }

  private final Options options;
  private final Promise<List<RunResult>> results = Promise.promise();
  private final Promise<Void> closed = Promise.promise();
  private final AtomicBoolean closing = new AtomicBoolean();
  private volatile Node.Starting starting;
  private volatile Future<Running> services = Future.failedFuture(new Cancelled("not started"));

  /** The Vertx, its node, and deployments in the order in which they are ended. */
  private record Running(Vertx vertx, boolean ownsVertx, Node node, List<Future<String>> trainers,
      List<Future<String>> others) {}

  private LocalCluster(Options options) {
    this.options = options;
  }

  /** Starts everything; problems show in {@link #results}. */
  public static LocalCluster start(Options options) {
    LocalCluster cluster = new LocalCluster(options);
    cluster.services = cluster.node();
    cluster.services.onSuccess(cluster::deploy).onFailure(cluster.results::tryFail);
    return cluster;
  }

  /** Runs one job from start to end. Blocks; not for event loops. */
  public static List<RunResult> run(Options options) {
    LocalCluster cluster = start(options);
    try {
      return Blocking.get(cluster.results());
    } finally {
      Blocking.get(cluster.close());
    }
  }

  /** Returns the results of the trainers, by rank; fails with the first failure of any service. */
  public Future<List<RunResult>> results() {
    return results.future();
  }

  /** Returns the node that all services share, once it has started. */
  public Future<Node> nodeReady() {
    return services.map(Running::node);
  }

  private Future<Running> node() {
    if (options.clustered()) {
      starting = Node.begin(options.node(), "simulation");
      return starting.future().map(node -> services(node, node.vertx(), false));
    }
    Vertx vertx = Vertx.vertx(PlainVertx.options());
    return Node.embedded(vertx, null, options.node(), "simulation")
        .map(node -> services(node, vertx, true))
        .recover(e -> vertx.close().transform(v -> Future.failedFuture(e)));
  }

  private static Running services(Node node, Vertx vertx, boolean ownsVertx) {
    return new Running(vertx, ownsVertx, node, new CopyOnWriteArrayList<>(), new CopyOnWriteArrayList<>());
  }

  /** Deploys each kind of service in its order, then the trainers. */
  private void deploy(Running s) {
    Hosted.Service whole = s.node().starting("simulation");
    results.future().onFailure(whole::failed);
    Future<Void> deployed = Future.succeededFuture();
    for (Service<?> service : Services.all()) {
      deployed = deployed.compose(up -> deploy(s, s.others(), service.inWholeJob(s.node(), options.services(),
          options.job(),
          options.program())));
    }
    deployed.compose(up -> deployTrainers(s))
        .onSuccess(up -> whole.serves())
        .onFailure(results::tryFail);
  }

  private Future<Void> deployTrainers(Running s) {
    List<TrainerVerticle> trainers = new ArrayList<>();
    for (int rank = 0; rank < options.job().trainers(); rank++) {
      trainers.add(trainer(s.node(), rank));
    }
    Future<Void> deployed = deploy(s, s.trainers(), trainers);
    trainers.forEach(trainer -> trainer.result().onFailure(results::tryFail));
    Future.all(trainers.stream().map(TrainerVerticle::result).toList())
        .onSuccess(all -> results.tryComplete(all.list()));
    return deployed;
  }

  private TrainerVerticle trainer(Node node, int rank) {
    TrainerConfig config = options.services().of(TrainerConfig.class).with(t -> t.job(options.job()).rank(rank));
    if (options.faults().stepDelayMillis().containsKey(rank)) {
      config = config.withStepDelayMs(options.faults().stepDelayMillis().get(rank));
    }
    return new TrainerVerticle(node, config, options.program(), options.progress());
  }

  private Future<Void> deploy(Running s, List<Future<String>> deployments, List<? extends Deployable> verticles) {
    if (closing.get()) {
      return Future.failedFuture(new Cancelled("the cluster is closing"));
    }
    List<Future<String>> starting = verticles.stream().map(s.node()::deploy).toList();
    deployments.addAll(starting);
    return Future.all(starting).mapEmpty();
  }

  /**
   * Ends everything, trainers first, then servers and rendezvous, and leaves no thread, port or directory entry
   * behind. A model thread inside a native call is not waited for. A later call returns the same future.
   */
  public Future<Void> close() {
    if (closing.compareAndSet(false, true)) {
      results.tryFail(new Cancelled("job " + options.job().job() + " was stopped before its end"));
      if (starting != null) {
        starting.cancel();
      }
      services.onSuccess(this::closeAll).onFailure(notStarted -> closed.complete());
    }
    return closed.future();
  }

  /** Closes everything by callbacks in place of a chain: a future of a Vertx that has closed never completes. */
  private void closeAll(Running s) {
    s.node().endWaits();
    undeploy(s.vertx(), s.trainers()).onComplete(trainersEnded ->
        undeploy(s.vertx(), s.others()).onComplete(allEnded ->
            s.node().close().onComplete(nodeClosed -> {
              if (s.ownsVertx()) {
                s.vertx().close().onComplete(vertxClosed -> closed.complete());
              } else {
                closed.complete();
              }
            })));
  }

  /** Undeploys verticles. Those that still start are not waited for: they fail when the node ends their waits. */
  private static Future<Void> undeploy(Vertx vertx, List<Future<String>> deployments) {
    return Future.join(deployments.stream().filter(Future::succeeded)
        .map(deployment -> vertx.undeploy(deployment.result())).toList()).mapEmpty();
  }
}
