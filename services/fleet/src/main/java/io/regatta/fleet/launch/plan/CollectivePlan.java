package io.regatta.fleet.launch.plan;

import io.regatta.fleet.role.LaunchedRole;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The processes of a collective job, and their variables, which are those of Fleet's role maker. */
final class CollectivePlan {

  /** First port of each machine, if there are several. */
  private static final int FIRST_PORT = 6070;

  private final LaunchOptions options;
  private final Machines machine;
  private final LaunchedGpus gpus;

  CollectivePlan(LaunchOptions options, Machines machine, LaunchedGpus gpus) {
    this.options = options;
    this.machine = machine;
    this.gpus = gpus;
  }

  LaunchPlan plan(String why) {
    int each = gpus.trainers(options);
    List<String> nodes = options.ips().isEmpty() ? List.of(options.ownHost()) : options.ips();
    List<Integer> here = machine.of(nodes, "--ips");
    List<String> endpoints = new ArrayList<>();
    for (String node : nodes) {
      for (int i = 0; i < each; i++) {
        endpoints.add(node + ":" + port(nodes, node, i));
      }
    }
    List<LaunchPlan.Planned> all = new ArrayList<>();
    List<String> places = new ArrayList<>();
    for (int node : here) {
      for (int i = 0; i < each; i++) {
        int rank = node * each + i;
        Map<String, String> variables = new LinkedHashMap<>();
        variables.put("PADDLE_TRAINER_ID", Integer.toString(rank));
        variables.put("PADDLE_CURRENT_ENDPOINT", endpoints.get(rank));
        variables.put("PADDLE_TRAINERS_NUM", Integer.toString(endpoints.size()));
        variables.put("PADDLE_TRAINER_ENDPOINTS", String.join(",", endpoints));
        variables.putAll(options.glooVariables());
        variables.putAll(gpus.variables(machine.beside(nodes.get(node), places), LaunchedRole.WORKER.gpus()));
        places.add(nodes.get(node));
        all.add(new LaunchPlan.Planned(LaunchedRole.WORKER, all.size(), variables));
      }
    }
    return new LaunchPlan(true, why, all, endpoints, endpoints.size(), 0);
  }

  private int port(List<String> nodes, String node, int i) {
    if (nodes.size() == 1 && options.startPort() == null && machine.holdsPorts()) {
      return machine.anyPort(node, 1);
    }
    int port = (options.startPort() == null ? FIRST_PORT : options.startPort()) + i;
    if (machine.has(node)) {
      machine.exactPort(node, port, "trainer " + i + " of " + node);
    }
    return port;
  }
}
