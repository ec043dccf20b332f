package io.regatta.fleet.process;

import io.regatta.aggregator.AggregatorConfig;
import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.role.LaunchedRole;
import io.regatta.fleet.role.Role;
import io.regatta.node.NodeConfig;
import io.regatta.node.Sections;
import io.regatta.node.address.HostPort;
import io.regatta.node.cluster.ClusterConfig;
import io.regatta.node.cluster.ClusterConfig.DirectoryKind;
import io.regatta.node.cluster.ClusterConfig.MemberKind;
import io.regatta.node.directory.Directory;
import io.regatta.node.settings.EffectiveConfig;
import io.regatta.node.settings.EffectiveConfig.Dictated;
import io.regatta.node.settings.Schema;
import io.regatta.node.settings.Settings;
import io.regatta.parameterserver.ParameterServerConfig;
import io.regatta.rendezvous.RendezvousConfig;
import io.regatta.training.config.GpuAssignment;
import io.regatta.training.config.JobConfig;
import io.regatta.training.config.MeetingStore;
import io.regatta.training.config.TrainerConfig;
import io.regatta.training.result.ResultFile;
import io.regatta.training.snapshot.StartingPoint;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * This process's place in a fleet, and the settings of the services that it runs. Immutable. It holds all sections,
 * from file, environment, system properties, command line and code. Role, endpoints and job decide index, ports and
 * numbers in a service's section; a section that says otherwise is refused. Names are checked at once, values when they
 * are requested: a shared file may have values that hold for other processes only.
 */
public final class ProcessSettings {

  /** The key of the file for a run's figures. */
  public static final String RESULT = Sections.TRAINER + ".result";
  /** The key of the GPUs that a machine's trainers share. */
  public static final String GPUS = Sections.TRAINER + ".gpus";

  /** Origin of what a whole job in one process decides, for messages. */
  private static final String WHOLE = "a whole job in one process";

  private final EffectiveConfig effective;
  private final FleetConfig fleet;
  private final NodeConfig node;

  private ProcessSettings(EffectiveConfig effective) {
    this.effective = effective.checkNames();
    this.fleet = effective.bindSection(Sections.FLEET, FleetConfig.class, List.of());
    this.node = fleet.directory(effective.bindSection(Sections.NODE, NodeConfig.class, List.of()));
  }

  /**
   * Loads the settings.
   *
   * @param conf a file of sections, or null
   * @param options options of the command line that stand for keys
   * @param overrides {@code key=value} each
   * @param code values given by the program, nested as in a file
   */
  public static ProcessSettings load(Path conf, List<Settings.Option> options, List<String> overrides, JsonObject code) {
    return load(Settings.Sources.ofProcess(conf, options, overrides).withCode(code));
  }

  /** Loads the settings from these sources. */
  public static ProcessSettings load(Settings.Sources sources) {
    return new ProcessSettings(JobFile.load(sections().beside(Schema.of(JobConfig.class)), sources));
  }

  /**
   * Refuses a section {@code node} with which no process could be started, before it is passed on the command lines of
   * others. A token on a command line is refused, too.
   *
   * @param conf a file of sections, or null
   * @param overrides {@code key=value} each
   */
  public static void checkNode(Path conf, List<String> overrides) {
    JobFile.load(sections().beside(Schema.of(JobConfig.class)), Settings.Sources.ofProcess(conf, List.of(), overrides))
        .bindSection(Sections.NODE, NodeConfig.class, List.of());
  }

  /** Returns the schema of all sections. */
  static Schema sections() {
    Map<String, Class<? extends Record>> sections = new LinkedHashMap<>();
    sections.put(Sections.FLEET, FleetConfig.class);
    sections.put(Sections.NODE, NodeConfig.class);
    Services.all().forEach(service -> sections.put(Sections.of(service.name()), service.section()));
    return Schema.sections(sections);
  }

  /** Returns the key of this role, nested as in a file. */
  public static JsonObject ofRole(Role role) {
    return new JsonObject().put(Sections.FLEET, new JsonObject().put("role", role.configName()));
  }

  /** Returns the section {@code fleet}. */
  public FleetConfig fleet() {
    return fleet;
  }

  /** Returns the section {@code node}, with the fleet's fixed endpoints if it has any. */
  public NodeConfig node() {
    return node;
  }

  /**
   * Returns the section {@code node} for a trainer of this job. For trainers that rendezvous through a store, there may
   * be no other process that holds the directory.
   *
   * @param otherwise see {@link NodeConfig#requireOthers}
   * @throws InvalidInput if it could find no other process
   */
  public NodeConfig trainerNode(JobConfig job, String otherwise) {
    if (!job.isOverStore() || job.collective().meeting().kind() == MeetingStore.Kind.HAZELCAST) {
      node.requireOthers(otherwise);
    }
    ClusterConfig cluster = node.cluster();
    return job.isOverStore() && cluster.member() == MemberKind.AUTO
        ? node.withCluster(cluster.holding(cluster.seeds(), cluster.port())) : node;
  }

  /**
   * Returns the job of the section {@code trainer}, which a file shared with trainer processes holds; null if there is
   * none.
   */
  public JobConfig job() {
    return effective.given(Sections.TRAINER + ".job.job")
        ? effective.bindSection(Sections.TRAINER, TrainerConfig.class, List.of()).job() : null;
  }

  /** Returns true if this process, a trainer, hosts services of its job. */
  private boolean hosts() {
    return fleet.isHost() && node.cluster().directory() == DirectoryKind.HAZELCAST;
  }

  /**
   * Returns the job as this process takes part in it: with a server in each trainer's process, it has as many servers
   * as trainers.
   */
  JobConfig partIn(JobConfig job) {
    return job == null || !hosts() || job.servers() == 0 ? job : job.withServers(job.trainers());
  }

  /** Returns the services of the job that this trainer's process hosts. */
  HostedServices hosted(JobConfig job) {
    boolean first = !job.isOverStore() && (fleet.hostsRendezvous() || hosts() && fleet.id() == 0);
    return new HostedServices(first ? rendezvous() : null, hosts() && job.servers() > 0 ? parameterServer(job) : null, job.job());
  }

  /** Returns true if the number of the job's trainers was given, with or without a job. */
  boolean knowsTrainers() {
    return effective.given("trainers");
  }

  /** Returns the section {@code rendezvous}, with the port of a fixed endpoint. */
  public RendezvousConfig rendezvous() {
    return effective.bindSection(Sections.RENDEZVOUS, RendezvousConfig.class, fleet.rendezvousEndpoint().isEmpty()
        ? List.of() : List.of(port("fleet.rendezvous_endpoint", fleet.rendezvousEndpoint())));
  }

  /**
   * Returns the section {@code parameter_server} of this process.
   *
   * @param job of the servers; null if this process was given none
   */
  public ParameterServerConfig parameterServer(JobConfig job) {
    if (job != null && job.servers() == 0) {
      throw new InvalidInput("job " + job.job() + " is collective, and has no parameter servers: start its rendezvous and its "
          + "trainers only");
    }
    List<Dictated> dictated = new ArrayList<>();
    if (fleet.id() >= 0) {
      dictated.add(new Dictated("index", fleet.id(), "fleet.id (" + effective.origin("fleet.id") + ")"));
    }
    List<String> endpoints = fleet.serverEndpoints();
    if (job != null) {
      dictated.addAll(shards(job));
    }
    if (!endpoints.isEmpty()) {
      dictated.add(new Dictated("servers", endpoints.size(), "fleet.server_endpoints, by its length,"));
      dictated.add(port("fleet.server_endpoints", endpoints.get(fleet.id())));
    } else if (job != null) {
      dictated.add(servers(job));
    }
    ParameterServerConfig server = effective.bindSection(Sections.PARAMETER_SERVER, ParameterServerConfig.class,
        dictated);
    return job == null ? server : server.rootedAt(StartingPoint.directories(job));
  }

  /** Returns the section {@code gradient_aggregator}. */
  public AggregatorConfig gradientAggregator() {
    return effective.bindSection(Sections.GRADIENT_AGGREGATOR, AggregatorConfig.class, List.of());
  }

  /**
   * Returns the section of this process, an auxiliary service.
   *
   * @param job null: the one of the section
   */
  <C extends Record> C auxiliary(Service<C> service, JobConfig job) {
    String section = Sections.of(service.name());
    LaunchedRole role = service.auxiliary().launched();
    List<Dictated> dictated = new ArrayList<>();
    if (job != null) {
      dictated.add(new Dictated("job", job, "the job"));
    } else if (!effective.given(section + ".job.job")) {
      throw new InvalidInput("no job was given: a " + role.called() + " " + service.auxiliary().duty()
          + ", so name the trainers' "
          + "job file on the command line, or give " + section + ".job");
    }
    if (fleet.id() >= 0) {
      dictated.add(new Dictated("index", fleet.id(), "fleet.id (" + effective.origin("fleet.id") + ")"));
    }
    List<String> endpoints = fleet.endpoints(role);
    if (!endpoints.isEmpty()) {
      dictated.add(port(role.endpointsKey(), endpoints.get(fleet.id())));
    }
    return effective.bindSection(section, service.section(), dictated);
  }

  /** Returns the section of all auxiliary services of one kind of a whole job in one process. */
  <C extends Record> C auxiliaryOfAll(Service<C> service, JobConfig job) {
    String section = Sections.of(service.name());
    C all = effective.bindSection(section, service.section(),
        List.of(new Dictated("job", job, "the job"), new Dictated("index", -1, WHOLE)));
    int port = service.auxiliary().port().applyAsInt(all);
    int count = service.auxiliary().count().applyAsInt(job);
    if (port != 0 && count > 1) {
      throw new InvalidInput(section + ".port is " + port + " (" + effective.origin(section + ".port") + "), which "
          + count + " "
          + service.auxiliary().launched().called() + "s in one process cannot share: leave it out");
    }
    return all;
  }

  /** Returns the section {@code trainer} for a trainer of this job. */
  public TrainerConfig trainer(JobConfig job) {
    if (job.servers() > 0 && !fleet.rendezvousEndpoint().isEmpty()
        && !node.cluster().endpoints().containsKey(Directory.PARAMETER_SERVER)) {
      throw new InvalidInput("job " + job.job() + " has parameter servers, and with a fixed rendezvous at "
          + fleet.rendezvousEndpoint() + " they are not looked up: give their endpoints, too (--server-endpoints, "
          + "fleet.server_endpoints)");
    }
    Services.auxiliaries().forEach(service -> checkFound(service, job));
    List<Dictated> dictated = new ArrayList<>(job(job));
    if (fleet.id() >= 0) {
      dictated.add(new Dictated("rank", fleet.id(), "fleet.id (" + effective.origin("fleet.id") + ")"));
    }
    if (!fleet.endpoint().isEmpty()) {
      dictated.add(new Dictated("endpoint", fleet.endpoint(), "fleet.endpoint"));
    }
    return effective.bindSection(Sections.TRAINER, TrainerConfig.class, dictated);
  }

  /** Refuses auxiliary services that a trainer with a fixed directory would not find. */
  private void checkFound(Service<?> service, JobConfig job) {
    Service.Auxiliary<?> auxiliary = service.auxiliary();
    int count = auxiliary.count().applyAsInt(job);
    if (count > 0 && !fleet.rendezvousEndpoint().isEmpty() && !node.cluster().endpoints().containsKey(service.name())) {
      LaunchedRole role = auxiliary.launched();
      throw new InvalidInput("job " + job.job() + " has " + count + " " + role.called() + (count == 1 ? "" : "s") + " ("
          + role.countKey()
          + "), and with a fixed rendezvous at " + fleet.rendezvousEndpoint()
          + " they are not looked up: give their endpoints, too "
          + "(launch " + role.number().name() + ", " + auxiliary.endpointsOption() + ", " + role.endpointsKey()
          + "), or set "
          + role.countKey() + ": 0");
    }
  }

  /** Returns the GPUs that {@code trainer.gpus} gives to a trainer that is alone. */
  GpuAssignment gpus(JobConfig job) {
    String gpus = effective.text(GPUS);
    return gpus == null || gpus.isBlank() || gpus.equals("[]") ? GpuAssignment.NONE : new GpuAssignment(trainer(job).gpus());
  }

  /** Returns the file that {@code trainer.result} names, checked to be writable; null for none. */
  ResultFile resultFile() {
    String file = effective.text(RESULT);
    return file == null || file.isBlank() ? null : ResultFile.at(Path.of(file));
  }

  /** Returns the section {@code node} for a whole job in one process, whose services find each other on any ports. */
  public NodeConfig simulationNode() {
    return effective.bindSection(Sections.NODE, NodeConfig.class,
        List.of(new Dictated("cluster.directory", DirectoryKind.HAZELCAST, WHOLE)));
  }

  /**
   * Returns the settings of the services of a whole job in one process, which gives each server and trainer its own
   * number.
   */
  public ServiceConfigs simulation(JobConfig job) {
    return ServiceConfigs.of(this, job);
  }

  /** Returns the section {@code rendezvous} of a whole job in one process. */
  RendezvousConfig rendezvousOfAll(JobConfig job) {
    RendezvousConfig rendezvous = effective.bindSection(Sections.RENDEZVOUS, RendezvousConfig.class, List.of());
    if (job.trainers() > rendezvous.limits().members()) {
      throw new InvalidInput("trainers is " + job.trainers() + ", and the rendezvous takes at most "
          + rendezvous.limits().members() + " in a job (rendezvous.limits.members)");
    }
    return rendezvous;
  }

  /** Returns the section {@code parameter_server} of all servers of a whole job in one process. */
  ParameterServerConfig parameterServerOfAll(JobConfig job) {
    ParameterServerConfig server = effective.bindSection(Sections.PARAMETER_SERVER, ParameterServerConfig.class,
        Stream.concat(Stream.of(new Dictated("index", -1, WHOLE), servers(job)), shards(job).stream()).toList());
    if (server.port() != 0 && job.servers() > 1) {
      throw new InvalidInput("parameter_server.port is " + server.port() + " (" + effective.origin(
          "parameter_server.port") + "), which " + job.servers() + " servers in one process cannot share: leave it out");
    }
    return server;
  }

  /** Returns the section {@code trainer} of all trainers of a whole job in one process. */
  TrainerConfig trainerOfAll(JobConfig job) {
    return effective.bindSection(Sections.TRAINER, TrainerConfig.class,
        Stream.concat(job(job).stream(), Stream.of(new Dictated("rank", -1, WHOLE))).toList());
  }

  /** Returns the number of servers that the job dictates; 1 for a collective job, which starts none. */
  private static Dictated servers(JobConfig job) {
    return new Dictated("servers", Math.max(1, job.servers()), "the job");
  }

  /**
   * Returns the shards that the job dictates. If it does not say how many of them are for sparse tables, the servers
   * decide.
   */
  private static List<Dictated> shards(JobConfig job) {
    Dictated shards = new Dictated("shards", job.shards(), "the job");
    return job.sparseShards() < 0 ? List.of(shards)
        : List.of(shards, new Dictated("sparse_shards", job.sparseShards(), "the job"));
  }

  private List<Dictated> job(JobConfig job) {
    return job.equals(job()) ? List.of() : List.of(new Dictated("job", job, "the job"));
  }

  /** Returns the port of a fixed endpoint. */
  private static Dictated port(String key, String endpoint) {
    return new Dictated("port", HostPort.parse(endpoint, key).port(), key);
  }
}
