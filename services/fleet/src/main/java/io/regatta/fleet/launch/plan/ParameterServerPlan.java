package io.regatta.fleet.launch.plan;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.address.HostPort;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The plan of the processes of a job with parameter servers, and their variables, which are those of Fleet's role
 * maker.
 */
public final class ParameterServerPlan {

  /**
   * Port of the first server on machines that are named; trainers without a port are announced at the ports after its
   * servers.
   */
  public static final int FIRST_PORT = 6170;

  private static final String HETER_WORKERS = "--heter_workers";

  private final LaunchOptions options;
  private final LaunchedJob job;
  private final Machines machine;
  private final LaunchedGpus gpus;

  ParameterServerPlan(LaunchOptions options, LaunchedJob job, Machines machine, LaunchedGpus gpus) {
    this.options = options;
    this.job = job;
    this.machine = machine;
    this.gpus = gpus;
  }

  LaunchPlan plan(String why) {
    List<String> servers = servers();
    List<String> workers = workers(servers.size());
    List<String> heterWorkers = heterWorkers(servers.size());
    String http = httpEndpoint(servers.get(0));
    Map<String, String> shared = new LinkedHashMap<>();
    shared.put("PADDLE_PSERVERS_IP_PORT_LIST", String.join(",", servers));
    shared.put("PADDLE_TRAINER_ENDPOINTS", String.join(",", workers));
    shared.put("PADDLE_HETER_TRAINER_IP_PORT_LIST", String.join(",", heterWorkers));
    shared.put("PADDLE_TRAINERS_NUM", Integer.toString(workers.size()));
    shared.putAll(options.glooVariables());
    if (!http.isEmpty()) {
      shared.put("PADDLE_GLOO_HTTP_ENDPOINT", http);
    } else if (!options.gloo().equals(LaunchOptions.NO_GLOO)) {
      throw new InvalidInput("PADDLE_WITH_GLOO is " + options.gloo() + ", and programs of several machines then meet at a port of the "
          + "first server's that all are told: give --http_port PORT");
    }
    List<LaunchPlan.Planned> all = new ArrayList<>();
    for (int i : here(servers, "--servers")) {
      HostPort at = HostPort.parse(servers.get(i), "--servers");
      Map<String, String> variables = new LinkedHashMap<>(shared);
      variables.put("TRAINING_ROLE", "PSERVER");
      variables.put("POD_IP", at.host());
      variables.put("PADDLE_PORT", Integer.toString(at.port()));
      if (i == 0 && !http.isEmpty()) { // which hosts the rendezvous, and with it the store
        variables.put("REGATTA_RENDEZVOUS_HTTP_GLOO_PORT", Integer.toString(HostPort.parse(http, "--http_port").port()));
      }
      all.add(new LaunchPlan.Planned(LaunchedRole.SERVER, count(all, LaunchedRole.SERVER), variables));
    }
    LaunchedGpus ofTrainers = heterWorkers.isEmpty() ? gpus : gpus.none();
    List<String> places = new ArrayList<>();
    for (int i : here(workers, "--workers")) {
      int local = count(all, LaunchedRole.WORKER);
      Map<String, String> variables = new LinkedHashMap<>(shared);
      variables.put("TRAINING_ROLE", "TRAINER");
      variables.put("PADDLE_TRAINER_ID", Integer.toString(i));
      variables.putAll(ofTrainers.variables(machine.beside(host(workers.get(i)), places), LaunchedGpus.OF_TRAINER));
      places.add(host(workers.get(i)));
      all.add(new LaunchPlan.Planned(LaunchedRole.WORKER, local, variables));
    }
    all.addAll(heterWorkers(heterWorkers, shared, workers.size() > count(all, LaunchedRole.WORKER)));
    if (all.isEmpty()) {
      machine.of(Stream.of(servers, workers, heterWorkers).flatMap(List::stream).map(ParameterServerPlan::host).toList(),
          heterWorkers.isEmpty() ? "--servers and --workers" : "--servers, --workers and --heter_workers");
    }
    return new LaunchPlan(false, why, all, workers, workers.size(), 0);
  }

  /**
   * Returns the heter workers of this machine. With {@code --gpus} they have these, and trainers have none: the
   * expensive part of the network is here.
   *
   * @param shared variables of all processes
   * @param outlived whether trainers of other machines use them: then they end with the job, and not with this
   * machine's
   */
  private List<LaunchPlan.Planned> heterWorkers(List<String> heterWorkers, Map<String, String> shared,
      boolean outlived) {
    List<LaunchPlan.Planned> planned = new ArrayList<>();
    List<String> places = new ArrayList<>();
    for (int i : here(heterWorkers, HETER_WORKERS)) {
      HostPort at = HostPort.parse(heterWorkers.get(i), HETER_WORKERS);
      Map<String, String> variables = new LinkedHashMap<>(shared);
      variables.put("TRAINING_ROLE", "HETER_TRAINER");
      variables.put("POD_IP", at.host());
      variables.put("PADDLE_PORT", Integer.toString(at.port()));
      variables.putAll(gpus.variables(machine.beside(at.host(), places), LaunchedGpus.OF_HETER_WORKER));
      if (outlived) {
        variables.put("REGATTA_HETER_WORKER_LIFETIME", "job");
      }
      places.add(at.host());
      planned.add(new LaunchPlan.Planned(LaunchedRole.HETER_WORKER, planned.size(), variables));
    }
    return planned;
  }

  private static int count(List<LaunchPlan.Planned> all, LaunchedRole role) {
    return (int) all.stream().filter(process -> process.role() == role).count();
  }

  private List<String> servers() {
    Integer count = options.serverNum();
    if (options.servers().isEmpty() && count == null) {
      throw new InvalidInput("The setting of Parameter-Server must has server_num or servers.");
    }
    if (options.servers().isEmpty()) {
      return IntStream.range(0, count).mapToObj(i -> options.ownHost() + ":" + serverPort(i)).toList();
    }
    if (count != null && count != options.servers().size()) {
      throw new InvalidInput("The server_num and servers doesn't match. Expect servers endpoints num epual to server_num, "
          + "but received servers enpoint num: " + options.servers().size() + " and server_num " + count);
    }
    for (int i : here(options.servers(), "--servers")) {
      HostPort at = HostPort.parse(options.servers().get(i), "--servers");
      hold(at.host(), at.port(), i);
    }
    return options.servers();
  }

  private int serverPort(int i) {
    if (options.startPort() == null) {
      return machine.anyPort(options.ownHost(), job.stride());
    }
    int port = options.startPort() + i * job.stride();
    hold(options.ownHost(), port, i);
    return port;
  }

  /** Holds the ports of a server's shards; if their number is not known, the first one's. */
  private void hold(String host, int first, int server) {
    for (int shard = 0; shard < Math.max(1, job.shards()); shard++) {
      machine.exactPort(host, first + shard, "server " + server);
    }
  }

  private List<String> workers(int servers) {
    Integer count = options.workerNum();
    if (options.workers().isEmpty() && count == null) {
      throw new InvalidInput("The setting of Parameter-Server must has worker_num or workers.");
    }
    if (options.workers().isEmpty()) {
      if (!options.servers().isEmpty() && options.servers().stream().anyMatch(server -> !machine.has(host(server)))) {
        throw new InvalidInput("--worker_num counts the trainers of this machine alone, but --servers names others as well: "
            + "name the trainers of all with --workers");
      }
      return IntStream.range(0, count).mapToObj(i -> options.ownHost() + ":" + machine.anyPort(options.ownHost(), 1)).toList();
    }
    if (count != null && count != options.workers().size()) {
      throw new InvalidInput("The worker_num and workers doesn't match. Expect workers endpoints num epual to worker_num, "
          + "but received workers enpoint num: " + options.workers().size() + " and worker_num " + count);
    }
    List<String> workers = new ArrayList<>();
    Map<String, Integer> onHost = new LinkedHashMap<>();
    for (String worker : options.workers()) {
      workers.add(worker.contains(":") ? worker
          : worker + ":" + (FIRST_PORT + servers + onHost.merge(worker, 1, Integer::sum) - 1));
    }
    return workers;
  }

  /** Returns the places of the heter workers; none unless they were asked for. */
  private List<String> heterWorkers(int servers) {
    Integer count = options.heterWorkerNum();
    List<String> named = options.heterWorkers();
    if (named.isEmpty()) {
      if (count != null && options.servers().stream().anyMatch(server -> !machine.has(host(server)))) {
        throw new InvalidInput("--heter_worker_num counts the heter workers of this machine alone, but --servers "
            + "names others as well: "
            + "name the heter workers of all with " + HETER_WORKERS);
      }
      return IntStream.range(0, count == null ? 0 : count).mapToObj(i -> options.ownHost() + ":" + heterPort(servers,
          i)).toList();
    }
    if (count != null && count != named.size()) {
      throw new InvalidInput("The heter_worker_num and heter_workers doesn't match. Expect heter_workers endpoints "
          + "num epual to "
          + "heter_worker_num, but received heter_workers enpoint num: " + named.size() + " and heter_worker_num "
          + count);
    }
    for (int i : here(named, HETER_WORKERS)) {
      HostPort at = HostPort.parse(named.get(i), HETER_WORKERS);
      machine.exactPort(at.host(), at.port(), LaunchedRole.HETER_WORKER.inWords() + " " + i);
    }
    return named;
  }

  private int heterPort(int servers, int i) {
    if (options.startPort() == null) {
      return machine.anyPort(options.ownHost(), 1);
    }
    int port = options.startPort() + servers * job.stride() + i;
    machine.exactPort(options.ownHost(), port, LaunchedRole.HETER_WORKER.inWords() + " " + i);
    return port;
  }

  /** Returns the numbers of the places that are on this machine; there may be none of one role. */
  private List<Integer> here(List<String> places, String option) {
    return IntStream.range(0, places.size()).filter(i -> machine.has(host(places.get(i)))).boxed().toList();
  }

  private static String host(String place) {
    return place.contains(":") ? place.substring(0, place.lastIndexOf(':')) : place;
  }

  /**
   * Returns the endpoint of the HTTP store. A bare port is one of the first server's machine, and the same on every
   * machine that starts a part of the job.
   */
  private String httpEndpoint(String firstServer) {
    String given = options.httpPort();
    if (given.contains(":")) {
      return HostPort.parse(given, "--http_port").toString();
    }
    if (!given.isEmpty()) {
      return HostPort.parse(host(firstServer) + ":" + given, "--http_port").toString();
    }
    // Machines of one job have to say the same: without --http_port they have no store.
    return machine.holdsPorts() && options.servers().stream().allMatch(server -> machine.has(host(server))) ? host(firstServer) + ":"
        + machine.anyPort(host(firstServer), 1) : "";
  }
}
