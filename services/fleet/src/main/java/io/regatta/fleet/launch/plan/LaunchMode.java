package io.regatta.fleet.launch.plan;

import io.regatta.core.error.RegattaException.InvalidInput;
import java.util.List;
import java.util.stream.Collectors;

/**
 * The mode in which a job is launched. Immutable. As in PaddlePaddle, options that belong to one mode decide; without
 * any, the machine does. A job whose mode is known to be collective is collective on every machine.
 *
 * @param collective whether trainers exchange among themselves; otherwise there are parameter servers
 * @param why the line that says how that was chosen
 */
public record LaunchMode(boolean collective, String why) {

  private static final String NONE = "Not found distinct arguments";
  private static final String IS_COLLECTIVE = "the job's mode is collective. Use collective mode, with one trainer";

  /**
   * Chooses the mode of a launch on this machine.
   *
   * @param gpus number of GPUs that can be used here
   * @throws InvalidInput for options that contradict each other, or the job
   */
  static LaunchMode here(LaunchOptions options, LaunchedJob job, int gpus) {
    if (isAsked(options)) {
      return asked(options, job, ", GPU count:" + gpus);
    }
    if (gpus > 0) {
      return new LaunchMode(true, NONE + " and there are " + gpus + " GPUs. Default use collective mode");
    }
    return job.collective() ? new LaunchMode(true, NONE + " and there is no GPU, but " + IS_COLLECTIVE + " (--nproc_per_node)")
        : new LaunchMode(false, NONE + " and there is no GPU. Default use parameter-server mode, with one server and one trainer "
            + "(--server_num, --worker_num)");
  }

  /** Chooses the mode of a launch on machines whose GPUs cannot be seen from here. */
  public static LaunchMode onHosts(LaunchOptions options, LaunchedJob job) {
    if (isAsked(options)) {
      return asked(options, job, "");
    }
    return job.collective() ? new LaunchMode(true, NONE + ", but " + IS_COLLECTIVE + " on each host, or one for each of --gpus "
        + "(--nproc_per_node)") : new LaunchMode(false, NONE + ". Default use parameter-server mode, with one server and one trainer on "
            + "each host (--server_num, --worker_num)");
  }

  private static boolean isAsked(LaunchOptions options) {
    return !options.parameterServerOptions().isEmpty() || !options.collectiveOptions().isEmpty();
  }

  private static LaunchMode asked(LaunchOptions options, LaunchedJob job, String gpus) {
    List<String> servers = options.parameterServerOptions();
    List<String> collective = options.collectiveOptions();
    if (!servers.isEmpty() && !collective.isEmpty()) {
      throw new InvalidInput("Only one mode(Collective or Parameter-Server) can be selected at the same time, but more than "
          + "one configuration was received: " + String.join(", ", servers) + " and " + String.join(", ", collective));
    }
    if (!servers.isEmpty() && job.collective()) {
      throw new InvalidInput(String.join(", ", servers) + ": the job's mode is collective, which has no parameter servers: give "
          + "--nproc_per_node N, the number of trainers on a machine, instead; or another --mode behind " + options.program());
    }
    return servers.isEmpty() ? new LaunchMode(true, "Run collective mode. gpu arguments:" + quoted(collective) + gpus)
        : new LaunchMode(false, "Run parameter-server mode. pserver arguments:" + quoted(servers) + gpus);
  }

  private static String quoted(List<String> names) {
    return names.stream().map(name -> "'" + name + "'").collect(Collectors.joining(", ", "[", "]"));
  }
}
