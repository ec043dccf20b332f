package io.regatta.fleet.launch;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Which processes a job has on this machine, and what each is told. Immutable.
 *
 * @param collective whether trainers exchange among themselves; otherwise there are parameter servers
 * @param why the line that says how the mode was chosen
 * @param processes servers before workers, each in the order of its numbers
 * @param endpoints of all trainers of the job, in the order of their ranks
 */
record LaunchPlan(boolean collective, String why, List<Planned> processes, List<String> endpoints) {

  /**
   * One process.
   *
   * @param local its number among those of its role on this machine, from 0
   * @param environment its variables, beside those that it inherits
   */
  record Planned(LaunchedRole role, int local, Map<String, String> environment) {

    String name() {
      return role.word + " " + local;
    }
  }

  LaunchPlan {
    processes = List.copyOf(processes);
    endpoints = List.copyOf(endpoints);
  }

  List<Planned> of(LaunchedRole role) {
    return processes.stream().filter(process -> process.role() == role).toList();
  }

  /**
   * Chooses the mode and lists the processes.
   *
   * @param shards shards of a server, each of which has a port
   * @param machine addresses and ports of this machine
   * @param gpus number of GPUs that can be used here
   * @throws InvalidInput for options that contradict each other or leave something open
   */
  static LaunchPlan of(LaunchOptions options, int shards, ThisMachine machine, int gpus) {
    List<String> servers = options.parameterServerOptions();
    List<String> collective = options.collectiveOptions();
    if (!servers.isEmpty() && !collective.isEmpty()) {
      throw new InvalidInput("Only one mode(Collective or Parameter-Server) can be selected at the same time, but more than "
          + "one configuration was received: " + String.join(", ", servers) + " and " + String.join(", ", collective));
    }
    if (!servers.isEmpty()) {
      return new ParameterServerPlan(options, shards, machine).plan("Run parameter-server mode. pserver arguments:"
          + quoted(servers) + ", GPU count:" + gpus);
    }
    if (!collective.isEmpty()) {
      return new CollectivePlan(options, machine).plan("Run collective mode. gpu arguments:" + quoted(collective)
          + ", GPU count:" + gpus);
    }
    if (gpus > 0) {
      return new CollectivePlan(options, machine).plan("Not found distinct arguments and there are " + gpus
          + " GPUs. Default use collective mode");
    }
    throw new InvalidInput("Not found distinct arguments and there is no GPU, so this would be parameter-server mode. The "
        + "setting of Parameter-Server must has server_num or servers.");
  }

  private static String quoted(List<String> names) {
    List<String> quoted = new ArrayList<>();
    names.forEach(name -> quoted.add("'" + name + "'"));
    return "[" + String.join(", ", quoted) + "]";
  }
}
