package io.regatta.fleet.launch;

import io.regatta.fleet.launch.plan.LaunchOptions;
import io.regatta.fleet.launch.plan.LaunchPlan;
import io.regatta.fleet.launch.plan.LaunchedGpus;
import io.regatta.fleet.launch.plan.LaunchedJob;
import io.regatta.fleet.launch.plan.Meeting;
import io.regatta.fleet.role.LaunchedRole;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Launchers' command lines in tests. */
public final class Words {

  /** A job of one shard. */
  public static final LaunchedJob JOB = new LaunchedJob(1, false, false, "", List.of());
  /** A collective one. */
  public static final LaunchedJob COLLECTIVE = new LaunchedJob(1, true, false, "", List.of());

  private Words() {}

  /** Options as on a command line: {@code name=value} each. */
  public static LaunchOptions options(String... given) {
    Map<String, String> by = new HashMap<>();
    for (String each : given) {
      by.put(each.substring(0, each.indexOf('=')), each.substring(each.indexOf('=') + 1));
    }
    Map<LaunchedRole, LaunchOptions.Asked> roles = LaunchedRole.parts().stream()
        .collect(Collectors.toMap(role -> role, role ->
        new LaunchOptions.Asked(number(by.get(role.number().bareName())),
            LaunchOptions.list(by.get(role.places().bareName())))));
    return new LaunchOptions(roles, LaunchOptions.list(by.get("ips")), number(by.get("nproc_per_node")),
        Meeting.of(by.get("master"), by.get("nnodes"), number(by.get("rank")), number(by.get("max_restart"))),
        LaunchOptions.gpus(by.get("gpus")), by.getOrDefault("host", ""), number(by.get("start_port")), by.getOrDefault("http_port", ""),
        by.getOrDefault("with_gloo", LaunchOptions.NO_GLOO), "log", LaunchOptions.JOB_ID, "job.yaml", List.of("--max-steps", "5"),
        by.entrySet().stream().collect(Collectors.toMap(entry -> "--" + entry.getKey(), Map.Entry::getValue)));
  }

  private static Integer number(String text) {
    return text == null ? null : Integer.valueOf(text);
  }

  /** The plan of such options on this machine, which has as many GPUs. */
  public static LaunchPlan plan(ReservedPorts ports, LaunchedJob job, int gpus, String... given) {
    LaunchOptions options = options(given);
    return LaunchPlan.of(options, job, new ThisMachine(options.host(), ports), LaunchedGpus.here(options.gpus(), null, gpus));
  }

  /** A variable of each worker, null where it has none. */
  public static List<String> ofWorkers(LaunchPlan plan, String variable) {
    return plan.of(LaunchedRole.WORKER).stream().map(worker -> worker.environment().get(variable)).toList();
  }
}
