package io.regatta.fleet.process;

import io.regatta.aggregator.AggregatorConfig;
import io.regatta.aggregator.AggregatorVerticle;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.Fleet;
import io.regatta.fleet.launch.LauncherLink;
import io.regatta.fleet.role.Role;
import io.regatta.node.FiniteService;
import io.regatta.node.Node;
import io.regatta.node.NodeConfig;
import io.regatta.node.ServiceProcess;
import io.regatta.node.directory.Directory;
import io.regatta.node.process.Blocking;
import io.regatta.node.process.Interrupt;
import io.regatta.parameterserver.ParameterServerConfig;
import io.regatta.parameterserver.ParameterServerConfig.Lifetime;
import io.regatta.parameterserver.ParameterServerVerticle;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousService;
import io.regatta.rendezvous.RendezvousVerticle;
import io.regatta.training.config.JobConfig;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.function.Consumer;
import java.util.function.Function;

/** One service in this process, as {@link Fleet#runServer} runs it: its node and its verticle. Any thread. */
public final class ServerProcess {

  private final Promise<Void> ended = Promise.promise();
  private final Node.Starting node;

  private ServerProcess(NodeConfig config, String service, Function<Node, Deployable> verticle, Consumer<String> ready) {
    node = Node.begin(config, service);
    node.future().compose(n -> {
      Deployable deployable = verticle.apply(n);
      return ServiceProcess.deploy(n, service, deployable, ready).onSuccess(id -> {
        if (deployable instanceof ParameterServerVerticle server) {
          Runnable over = LauncherLink.finishesFirst(server::unused);
          ended.future().onComplete(v -> over.run());
        }
        if (deployable instanceof FiniteService finite) {
          finite.finished().onSuccess(line -> {
            ready.accept(String.valueOf(line));
            ended.tryComplete();
          }).onFailure(ended::tryFail);
        }
      });
    }).onFailure(ended::tryFail);
  }

  /**
   * Starts a service, after its settings have been checked.
   *
   * @param ready receives one line when the service serves
   */
  static ServerProcess start(ProcessSettings place, JobConfig job, Consumer<String> ready) {
    return new ServerProcess(place.node(), service(place.fleet().role()), check(place, job), ready);
  }

  /** Checks the settings only; returns a factory of the service. */
  static Function<Node, Deployable> check(ProcessSettings place, JobConfig job) {
    service(place.fleet().role());
    Function<Node, Deployable> verticle = verticle(place, job);
    if (place.fleet().role() != Role.RENDEZVOUS) {
      place.node().requireOthers("");
    }
    return verticle;
  }

  /**
   * Starts a parameter server at a fixed port to which trainers announce its index, with a rendezvous at its port.
   *
   * @param trainers of each job that it takes; 0: any number
   */
  public static ServerProcess announced(NodeConfig node, ParameterServerConfig server, RendezvousConfig rendezvous, int trainers,
      Consumer<String> ready) {
    return new ServerProcess(node, Directory.PARAMETER_SERVER, n -> ParameterServerVerticle.announced(n, server,
        new RendezvousService(n, rendezvous), trainers), ready);
  }

  /** Serves until {@link #close}, Ctrl-C, SIGTERM or the end of the job that the service lives for. The calling thread waits. */
  public void serve() {
    try (Interrupt interrupt = Interrupt.closes(this::close)) {
      Blocking.get(ended());
    } finally {
      Blocking.get(close());
    }
  }

  /**
   * Returns a future that completes when the service was closed or has done its work; fails if it could not start, or
   * its job has failed.
   */
  Future<Void> ended() {
    return ended.future();
  }

  Future<Void> close() {
    return node.close().onComplete(v -> ended.tryComplete());
  }

  /** Returns the name of a role's service; refuses roles that are none. */
  static String service(Role role) {
    return switch (role) {
      case PSERVER -> Directory.PARAMETER_SERVER;
      case AGGREGATOR -> Directory.GRADIENT_AGGREGATOR;
      case RENDEZVOUS -> Directory.RENDEZVOUS;
      case LOCAL, TRAINER -> throw new InvalidInput("runServer: this process is a "
          + role.name().toLowerCase(java.util.Locale.ROOT) + ", not a server; call train or initWorker");
    };
  }

  /** A server for a known number of trainers ends with their job; one that a launcher has started is ended by it. */
  private static ParameterServerConfig lifetime(ProcessSettings place, JobConfig job) {
    ParameterServerConfig server = place.parameterServer(job);
    boolean known = job != null || place.knowsTrainers();
    return server.lifetime() == Lifetime.AUTO && known && !System.getenv().containsKey(LauncherLink.VARIABLE)
        ? server.withLifetime(Lifetime.JOB) : server;
  }

  private static Function<Node, Deployable> verticle(ProcessSettings place, JobConfig job) {
    switch (place.fleet().role()) {
      case PSERVER -> {
        ParameterServerConfig server = lifetime(place, job);
        if (!place.fleet().hostsRendezvous()) {
          return node -> new ParameterServerVerticle(node, server);
        }
        RendezvousConfig rendezvous = place.rendezvous();
        return node -> new ParameterServerVerticle(node, server, new RendezvousService(node, rendezvous));
      }
      case AGGREGATOR -> {
        AggregatorConfig aggregator = place.gradientAggregator();
        return node -> new AggregatorVerticle(node, aggregator);
      }
      default -> {
        RendezvousConfig rendezvous = place.rendezvous();
        return node -> new RendezvousVerticle(node, rendezvous);
      }
    }
  }
}
