package io.regatta.fleet.role;

import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The variables that a user may expect to have an effect. Stateless. They are PaddlePaddle's, those of launchers and
 * schedulers from which a part is taken, and all that begin like PaddlePaddle's. The last may be typing errors.
 */
final class KnownVariables {

  private static final List<String> BEGINNINGS = List.of("PADDLE_", "CONF_PADDLE_", "FLAGS_communicator_");

  private static final Set<String> NAMES = Set.of("TRAINING_ROLE", "POD_IP", "SYS_JOB_ID", "CPU_NUM", "FLAGS_START_PORT",
      "FLAGS_LAUNCH_BARRIER", "FLAGS_selected_gpus", "FLAGS_selected_xpus",
      "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_SIZE", "PMIX_NAMESPACE", "PMI_RANK", "PMI_SIZE",
      "PMI_JOBID", "MPI_LOCALNRANKS", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_NNODES", "SLURM_JOB_ID", "SLURM_STEP_ID",
      "SLURM_RESTART_COUNT",
      "JOB_COMPLETION_INDEX", "POD_NAME");

  private static final Set<String> OF_AUXILIARIES = LaunchedRole.auxiliaries().stream()
      .flatMap(auxiliary -> Stream.concat(auxiliary.lists().stream(), auxiliary.ownVariables().stream()))
      .collect(Collectors.toSet());

  private KnownVariables() {}

  static boolean contains(String name) {
    return NAMES.contains(name) || OF_AUXILIARIES.contains(name) || BEGINNINGS.stream().anyMatch(name::startsWith);
  }
}
