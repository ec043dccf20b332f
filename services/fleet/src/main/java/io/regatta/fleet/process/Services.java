package io.regatta.fleet.process;

import io.regatta.aggregator.AggregatorConfig;
import io.regatta.aggregator.AggregatorMain;
import io.regatta.aggregator.AggregatorVerticle;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.launch.LauncherLink;
import io.regatta.fleet.process.Service.WholeJob;
import io.regatta.fleet.role.LaunchedRole;
import io.regatta.fleet.role.Role;
import io.regatta.node.Node;
import io.regatta.node.directory.Directory;
import io.regatta.parameterserver.ParameterServerConfig;
import io.regatta.parameterserver.ParameterServerConfig.Lifetime;
import io.regatta.parameterserver.ParameterServerMain;
import io.regatta.parameterserver.ParameterServerVerticle;
import io.regatta.predictor.PredictorConfig;
import io.regatta.predictor.PredictorMain;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.rendezvous.RendezvousMain;
import io.regatta.rendezvous.RendezvousService;
import io.regatta.rendezvous.RendezvousVerticle;
import io.regatta.trainer.TrainerMain;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.TrainerConfig;
import io.regatta.training.snapshot.StartingPoint;
import io.vertx.core.Deployable;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * The services of a fleet. Stateless. Commands, roles, sections and whole jobs in one process follow from this list. A
 * new service is one entry here, a name in {@link Directory}, and a {@link Role}. One that a launch starts has an entry
 * in {@link LaunchedRole}, too.
 */
public final class Services {

  /** All services, in the order in which a whole job starts them: any other works, but has lines about waits in the log. */
  private static final List<Service<?>> ALL = List.of(
      new Service<>(Directory.RENDEZVOUS, RendezvousConfig.class, "rendezvous", RendezvousMain.DESCRIPTION,
          (command, arguments, program) -> RendezvousMain.run(command, arguments), Role.RENDEZVOUS,
          (settings, job, program) -> rendezvous(settings),
          new WholeJob<>(job -> RendezvousConfig.defaults(), ProcessSettings::rendezvousOfAll,
              (node, section, job, program) -> List.of(new RendezvousVerticle(node, section)))),
      new Service<>(Directory.PARAMETER_SERVER, ParameterServerConfig.class, "pserver", ParameterServerMain.DESCRIPTION,
          (command, arguments, program) -> ParameterServerMain.run(command, arguments), Role.PSERVER,
          (settings, job, program) -> parameterServer(settings, job),
          new WholeJob<>(job -> ParameterServerConfig.defaults(), ProcessSettings::parameterServerOfAll,
              (node, section, job, program) -> parameterServers(node, section, job))),
      new Service<>(Directory.GRADIENT_AGGREGATOR, AggregatorConfig.class, "aggregator", AggregatorMain.DESCRIPTION,
          (command, arguments, program) -> AggregatorMain.run(command, arguments), Role.AGGREGATOR,
          (settings, job, program) -> aggregator(settings),
          new WholeJob<>(job -> AggregatorConfig.defaults(), (settings, job) -> settings.gradientAggregator(),
              (node, section, job, program) -> job.aggregator() ? List.of(new AggregatorVerticle(node, section))
              : List.of())),
      HeterWorkerService.SERVICE,
      new Service<>(Directory.TRAINER, TrainerConfig.class, "trainer", TrainerMain.DESCRIPTION, TrainerMain::run,
      Role.TRAINER, null,
          new WholeJob<>(job -> new TrainerConfig(job, -1, ""), ProcessSettings::trainerOfAll,
              (node, section, job, program) -> List.of())),
      new Service<>(Directory.PREDICTOR, PredictorConfig.class, "serve", PredictorMain.DESCRIPTION,
          (command, arguments, program) -> PredictorMain.run(command, arguments), null, null, null));

  private Services() {}

  /** Returns all services, in the order in which a whole job starts them. */
  public static List<Service<?>> all() {
    return ALL;
  }

  /** Returns the services of auxiliary services. */
  public static List<Service<?>> auxiliaries() {
    return ALL.stream().filter(service -> service.auxiliary() != null).toList();
  }

  /** Returns the services of which nothing but the place can be asked: all but rendezvous, servers and trainers. */
  public static List<Service<?>> silent() {
    return ALL.stream().filter(service -> service.isServer() && service.role() != Role.RENDEZVOUS
        && service.role() != Role.PSERVER)
        .toList();
  }

  /**
   * Returns the service of a role.
   *
   * @throws InvalidInput for the role of a process that trains
   */
  static Service<?> serving(Role role) {
    return ALL.stream().filter(service -> service.role() == role && service.isServer()).findFirst()
        .orElseThrow(() -> new InvalidInput("runServer: this process is a " + role.configName()
            + ", not a server; call train or initWorker"));
  }

  private static Function<Node, Deployable> rendezvous(ProcessSettings settings) {
    RendezvousConfig rendezvous = settings.rendezvous();
    return node -> new RendezvousVerticle(node, rendezvous);
  }

  private static Function<Node, Deployable> parameterServer(ProcessSettings settings, JobConfig job) {
    ParameterServerConfig server = lifetime(settings, job);
    if (!settings.fleet().hostsRendezvous()) {
      return node -> new ParameterServerVerticle(node, server);
    }
    RendezvousConfig rendezvous = settings.rendezvous();
    return node -> new ParameterServerVerticle(node, server, new RendezvousService(node, rendezvous));
  }

  /** A server for a known number of trainers ends with their job; one that a launcher has started is ended by it. */
  private static ParameterServerConfig lifetime(ProcessSettings settings, JobConfig job) {
    ParameterServerConfig server = settings.parameterServer(job);
    boolean known = job != null || settings.knowsTrainers();
    return server.lifetime() == Lifetime.AUTO && known && !System.getenv().containsKey(LauncherLink.VARIABLE)
        ? server.withLifetime(Lifetime.JOB) : server;
  }

  private static List<Deployable> parameterServers(Node node, ParameterServerConfig section, JobConfig job) {
    List<Deployable> servers = new ArrayList<>();
    for (int i = 0; i < job.servers(); i++) {
      ParameterServerConfig server = section.at(i, job.servers(),
          job.shards()).rootedAt(StartingPoint.directories(job));
      servers.add(new ParameterServerVerticle(node,
          job.sparseShards() < 0 ? server : server.withSparseShards(job.sparseShards())));
    }
    return servers;
  }

  private static Function<Node, Deployable> aggregator(ProcessSettings settings) {
    AggregatorConfig aggregator = settings.gradientAggregator();
    return node -> new AggregatorVerticle(node, aggregator);
  }
}
