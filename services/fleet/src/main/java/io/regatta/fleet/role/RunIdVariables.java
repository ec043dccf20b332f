package io.regatta.fleet.role;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The variables that give the id of a job's run, if its launcher or scheduler names the job. Stateless. A process that
 * is started again within a run must have the same id, and every new run another one. {@code REGATTA_RUN_ID} takes
 * precedence over all of these.
 */
final class RunIdVariables {

  private static final String OWN = "REGATTA_RUN_ID";
  private static final String KEY = "run_id";
  private static final String PADDLE = "PADDLE_JOB_ID";
  /** Name of a job that was given none. */
  private static final String PADDLE_DEFAULT = "default";
  /** Variables that together make an id, by scheduler; the first must be there. */
  private static final Map<String, List<String>> SCHEDULERS = Map.of(
      "Open MPI", List.of("PMIX_NAMESPACE"),
      "MPI", List.of("PMI_JOBID"),
      "Slurm", List.of("SLURM_JOB_ID", "SLURM_STEP_ID", "SLURM_RESTART_COUNT"));

  private RunIdVariables() {}

  /**
   * Finds the id of this process's run.
   *
   * @param source origin of the variables that give the process its part
   */
  static void read(EnvironmentVariables variables, EnvironmentReadings found, String source) {
    if (variables.has(OWN)) {
      return;
    }
    List<String> names = SCHEDULERS.getOrDefault(source, List.of());
    if (!names.isEmpty() && variables.has(names.get(0))) {
      found.also(names.get(0), KEY, names.stream().filter(variables::has).map(variables::text).collect(Collectors.joining(".")));
    } else if (source.startsWith("PaddlePaddle") && variables.has(PADDLE) && !variables.text(PADDLE).equals(PADDLE_DEFAULT)) {
      launcher().ifPresent(launcher -> found.key(PADDLE, variables.text(PADDLE), KEY, variables.text(PADDLE) + "@" + launcher));
    }
  }

  /**
   * Returns a name of the process that has started this one. PaddlePaddle's job id is often a constant; its launcher
   * starts a process again itself, while a new run has a new launcher.
   */
  private static java.util.Optional<String> launcher() {
    return ProcessHandle.current().parent().flatMap(parent -> parent.info().startInstant()
        .map(start -> parent.pid() + "-" + start.toEpochMilli()));
  }
}
