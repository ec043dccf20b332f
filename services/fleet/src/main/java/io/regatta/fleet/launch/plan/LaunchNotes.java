package io.regatta.fleet.launch.plan;

import io.regatta.fleet.role.LaunchedRole;
import java.util.ArrayList;
import java.util.List;

/** Lines about a launch beside that of its mode: options without an effect in it, and guesses. Stateless. */
public final class LaunchNotes {

  private static final String WITHOUT = " has no effect: ";

  private LaunchNotes() {}

  public static List<String> of(LaunchOptions options, LaunchedJob job, LaunchPlan plan) {
    List<String> notes = new ArrayList<>();
    if (isGiven(options, "--max_restart") && plan.restarts() == 0 && !options.given().get("--max_restart").strip().equals("0")) {
      notes.add("--max_restart" + WITHOUT + "trainers are started again in elastic collective jobs alone (--nnodes N:M, "
          + "collective.min_trainers, collective.store), on one machine or at a --master");
    }
    if (isGiven(options, "--http_port") && plan.collective()) {
      notes.add("--http_port" + WITHOUT + "gloo's HTTP store is at the first parameter server, and a collective job has none");
    }
    if (isGiven(options, "--start_port") && !plan.meeting().isEmpty()) {
      notes.add("--start_port" + WITHOUT + "trainers that meet at a master have any free ports");
    }
    if (isGiven(options, "--start_port") && !plan.collective() && !options.of(LaunchedRole.SERVER).places().isEmpty()) {
      notes.add("--start_port" + WITHOUT + "--servers names the ports");
    }
    if (isGiven(options, "--rank") && options.meeting().master().isEmpty()) {
      notes.add("--rank" + WITHOUT + "it is the number of a machine of those that meet at a --master");
    }
    if (isGiven(options, "--ips") && !plan.collective() && options.given().get("--ips").contains(",")) {
      notes.add("--ips" + WITHOUT + "with parameter servers --servers and --workers name what is on several machines");
    }
    LaunchedRole computing = LaunchedGpus.owner(plan::count);
    if (computing != LaunchedRole.WORKER && isGiven(options, "--gpus")) {
      notes.add("--gpus are the " + computing.called() + "s', one each, in turn; the trainers have none");
    }
    if (isGiven(options, "--host") && isGiven(options, "--hosts")) {
      notes.add("--host" + WITHOUT + "--hosts names the machines");
    }
    if (job.masterless() && !plan.meeting().isEmpty()) {
      notes.add("no master is started: the trainers meet over collective.store, and PADDLE_MASTER, at which nobody listens, goes with "
          + "their number alone");
    }
    boolean fixed = isGiven(options, "--start_port") || isGiven(options, "--hosts");
    if (fixed && !job.knowsShards() && options.of(LaunchedRole.SERVER).places().isEmpty()
        && plan.of(LaunchedRole.SERVER).size() > 1) {
      notes.add("the number of shards of " + options.program() + " cannot be seen from here, so servers are " + job.stride()
          + " ports apart; a job file's is said behind it, as --shards N");
    }
    return notes;
  }

  private static boolean isGiven(LaunchOptions options, String option) {
    return options.given().containsKey(option);
  }
}
