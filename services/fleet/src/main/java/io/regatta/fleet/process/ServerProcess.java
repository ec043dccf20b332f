package io.regatta.fleet.process;

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
import io.regatta.parameterserver.ParameterServerVerticle;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousService;
import io.regatta.training.TrainingProgram;
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
   * @param program of a service that computes; null: the job's
   * @param ready receives one line when the service serves
   */
  static ServerProcess start(ProcessSettings place, JobConfig job, TrainingProgram program, Consumer<String> ready) {
    return new ServerProcess(place.node(), service(place.fleet().role()), check(place, job, program), ready);
  }

  /** Checks the settings only; returns a factory of the service. */
  static Function<Node, Deployable> check(ProcessSettings place, JobConfig job, TrainingProgram program) {
    Function<Node, Deployable> verticle = Services.serving(place.fleet().role()).process().of(place, job, program);
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
    return Services.serving(role).name();
  }
}
