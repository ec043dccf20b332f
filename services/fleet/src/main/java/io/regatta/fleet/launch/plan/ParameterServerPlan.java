package io.regatta.fleet.launch.plan;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.role.LaunchedRole;
import io.regatta.fleet.role.WordList;
import io.regatta.node.address.HostPort;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

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

  private static final String HTTP = "PADDLE_GLOO_HTTP_ENDPOINT";

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
    Map<LaunchedRole, List<String>> places = new EnumMap<>(LaunchedRole.class);
    for (LaunchedRole role : LaunchedRole.parts()) {
      places.put(role, places(role, places));
    }
    List<String> workers = places.get(LaunchedRole.WORKER);
    String http = httpEndpoint(places.get(LaunchedRole.SERVER).get(0));
    Map<String, String> shared = shared(places, http);
    List<LaunchPlan.Planned> all = new ArrayList<>();
    places.forEach((role, each) -> all.addAll(processes(role, places, shared)));
    if (all.isEmpty()) {
      machine.of(places.values().stream().flatMap(List::stream).map(ParameterServerPlan::host).toList(),
          WordList.and(places.keySet().stream().filter(role -> !places.get(role).isEmpty())
              .map(role -> role.places().name()).toList()));
    }
    return new LaunchPlan(false, why, all, workers, workers.size(), 0);
  }

  /** Returns the variables of all processes. */
  private Map<String, String> shared(Map<LaunchedRole, List<String>> places, String http) {
    Map<String, String> shared = new LinkedHashMap<>();
    places.forEach((role, each) -> {
      if (role.isOfPaddle() || !each.isEmpty()) {
        shared.put(role.list(), String.join(",", each));
      }
    });
    shared.put("PADDLE_TRAINERS_NUM", Integer.toString(places.get(LaunchedRole.WORKER).size()));
    shared.putAll(options.glooVariables());
    if (!http.isEmpty()) {
      shared.put(HTTP, http);
    } else if (!options.gloo().equals(LaunchOptions.NO_GLOO)) {
      throw new InvalidInput("PADDLE_WITH_GLOO is " + options.gloo() + ", and programs of several machines then meet at a port of the "
          + "first server's that all are told: give --http_port PORT");
    }
    return shared;
  }

  /** Returns the processes of a role on this machine, with the variables that all have and their own. */
  private List<LaunchPlan.Planned> processes(LaunchedRole role, Map<LaunchedRole, List<String>> places,
      Map<String, String> shared) {
    List<String> ofRole = places.get(role);
    List<LaunchPlan.Planned> planned = new ArrayList<>();
    List<String> beside = new ArrayList<>();
    for (int i : here(ofRole)) {
      String host = host(ofRole.get(i));
      Map<String, String> variables = new LinkedHashMap<>(shared);
      variables.put("TRAINING_ROLE", role.trainingRole());
      if (role == LaunchedRole.WORKER) {
        variables.put("PADDLE_TRAINER_ID", Integer.toString(i));
      } else {
        HostPort at = HostPort.parse(ofRole.get(i), role.places().name());
        variables.put("POD_IP", at.host());
        variables.put("PADDLE_PORT", Integer.toString(at.port()));
      }
      if (role == LaunchedRole.SERVER && i == 0 && shared.containsKey(HTTP)) { // has rendezvous and store
        variables.put("REGATTA_RENDEZVOUS_HTTP_GLOO_PORT", Integer.toString(HostPort.parse(shared.get(HTTP),
            "--http_port").port()));
      }
      if (!role.gpus().isEmpty()) {
        LaunchedGpus own = LaunchedGpus.owner(each -> places.get(each).size()) == role ? gpus : gpus.none();
        variables.putAll(own.variables(machine.beside(host, beside), role.gpus()));
      }
      List<String> workers = places.get(LaunchedRole.WORKER);
      if (!role.lifetime().isEmpty() && here(workers).size() < workers.size()) {
        // Trainers of other machines use it: it ends with the job, and not with this machine's trainers.
        variables.put(role.lifetime(), "job");
      }
      beside.add(host);
      planned.add(new LaunchPlan.Planned(role, planned.size(), variables));
    }
    return planned;
  }

  /**
   * Returns the places of the processes of a role on all machines, whose ports here are held.
   *
   * @param before places of the roles before
   */
  private List<String> places(LaunchedRole role, Map<LaunchedRole, List<String>> before) {
    LaunchOptions.Asked asked = options.of(role);
    String number = role.number().bareName();
    String list = role.places().bareName();
    if (asked.places().isEmpty()) {
      if (asked.number() == null && !role.isAuxiliary()) {
        throw new InvalidInput("The setting of Parameter-Server must has " + number + " or " + list + ".");
      }
      List<String> servers = options.of(LaunchedRole.SERVER).places();
      if (asked.number() != null && servers.stream().anyMatch(server -> !machine.has(host(server)))) {
        throw new InvalidInput(role.number().name() + " counts the " + role.called()
            + "s of this machine alone, but --servers names "
            + "others as well: name the " + role.called() + "s of all with " + role.places().name());
      }
      return IntStream.range(0, asked.number() == null ? 0 : asked.number())
          .mapToObj(i -> options.ownHost() + ":" + port(role, i, before)).toList();
    }
    if (asked.number() != null && asked.number() != asked.places().size()) {
      throw new InvalidInput("The " + number + " and " + list + " doesn't match. Expect " + list
          + " endpoints num epual to " + number
          + ", but received " + list + " enpoint num: " + asked.places().size() + " and " + number + " "
          + asked.number());
    }
    if (role == LaunchedRole.WORKER) {
      return announced(asked.places(), before.get(LaunchedRole.SERVER).size());
    }
    for (int i : here(asked.places())) {
      HostPort at = HostPort.parse(asked.places().get(i), role.places().name());
      hold(role, at.host(), at.port(), i);
    }
    return asked.places();
  }

  /** Returns the port of a process of this machine: any free one, or one after those of the roles before. */
  private int port(LaunchedRole role, int i, Map<LaunchedRole, List<String>> before) {
    int stride = role == LaunchedRole.SERVER ? job.stride() : 1;
    if (options.startPort() == null || role == LaunchedRole.WORKER) {
      return machine.anyPort(options.ownHost(), stride);
    }
    int port = options.startPort() + i * stride;
    for (Map.Entry<LaunchedRole, List<String>> each : before.entrySet()) {
      int ports = each.getKey() == LaunchedRole.WORKER ? 0 : each.getKey() == LaunchedRole.SERVER ? job.stride() : 1;
      port += each.getValue().size() * ports;
    }
    hold(role, options.ownHost(), port, i);
    return port;
  }

  /** Holds the port of a process; of a server those of its shards, or the first one's if their number is not known. */
  private void hold(LaunchedRole role, String host, int first, int number) {
    int ports = role == LaunchedRole.SERVER ? Math.max(1, job.shards()) : 1;
    for (int i = 0; i < ports; i++) {
      machine.exactPort(host, first + i, role.called() + " " + number);
    }
  }

  /** Returns the places of trainers, those without a port with one after the servers'. */
  private static List<String> announced(List<String> places, int servers) {
    List<String> workers = new ArrayList<>();
    Map<String, Integer> onHost = new LinkedHashMap<>();
    for (String worker : places) {
      workers.add(worker.contains(":") ? worker
          : worker + ":" + (FIRST_PORT + servers + onHost.merge(worker, 1, Integer::sum) - 1));
    }
    return workers;
  }

  /** Returns the numbers of the places that are on this machine; there may be none of one role. */
  private List<Integer> here(List<String> places) {
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
    return machine.holdsPorts() && options.of(LaunchedRole.SERVER).places().stream()
        .allMatch(server -> machine.has(host(server))) ? host(firstServer) + ":"
        + machine.anyPort(host(firstServer), 1) : "";
  }
}
