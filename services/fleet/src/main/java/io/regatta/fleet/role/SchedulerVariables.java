package io.regatta.fleet.role;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The variables of MPI, Slurm or Kubernetes: rank and number of trainers. They do not tell where the services are. The
 * trainers that MPI or Slurm start host the services, unless configured otherwise.
 */
final class SchedulerVariables {

  /** Pods of a stateful set, or of an indexed job, end in their number. */
  private static final Pattern NUMBERED = Pattern.compile(".+-(\\d{1,4})"); // five digits may be a random suffix
  private static final int FIRST_PORT = 20_000;
  private static final int PORTS = 10_000;

  private SchedulerVariables() {}

  /**
   * Reads the variables.
   *
   * @return the scheduler's name, empty if there are none
   */
  static String read(EnvironmentVariables variables, EnvironmentReadings found) {
    if (several(variables, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")) {
      rankOf(variables, found, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE");
      meetHere(variables, found, "OMPI_COMM_WORLD_LOCAL_SIZE", variables.text("OMPI_COMM_WORLD_SIZE"), "PMIX_NAMESPACE");
      return "Open MPI";
    }
    if (several(variables, "PMI_RANK", "PMI_SIZE")) {
      rankOf(variables, found, "PMI_RANK", "PMI_SIZE");
      meetHere(variables, found, "MPI_LOCALNRANKS", variables.text("PMI_SIZE"), "PMI_JOBID");
      return "MPI";
    }
    if (several(variables, "SLURM_PROCID", "SLURM_NTASKS")) {
      rankOf(variables, found, "SLURM_PROCID", "SLURM_NTASKS");
      meetHere(variables, found, "SLURM_NNODES", "1", "SLURM_JOB_ID", "SLURM_STEP_ID");
      return "Slurm";
    }
    if (variables.has("JOB_COMPLETION_INDEX")) {
      int index = variables.required("JOB_COMPLETION_INDEX", 0);
      found.key("JOB_COMPLETION_INDEX", Integer.toString(index), "fleet.id", index);
      return "Kubernetes";
    }
    String pod = variables.text("POD_NAME");
    Matcher numbered = pod == null ? null : NUMBERED.matcher(pod);
    if (numbered != null && numbered.matches()) {
      found.key("POD_NAME", pod, "fleet.id", Integer.parseInt(numbered.group(1)));
      return "Kubernetes";
    }
    return "";
  }

  /** Returns true for a process of several: one alone, such as a shell within a reservation, has no part in a job. */
  private static boolean several(EnvironmentVariables variables, String rank, String size) {
    return variables.has(rank) && variables.has(size) && variables.number(size, 1, 1) > 1;
  }

  private static void rankOf(EnvironmentVariables variables, EnvironmentReadings found, String rank, String size) {
    int count = variables.required(size, 1);
    int id = variables.within(rank, variables.required(rank, 0), count, size);
    found.key(rank, Integer.toString(id), "fleet.id", id);
    found.implied(rank, "fleet.role", "trainer");
    found.implied(rank, "fleet.hosts_services", true);
    found.key(size, Integer.toString(count), "trainers", count);
  }

  /**
   * Sets the rendezvous endpoint of trainers on one machine: a port that follows from the name of their job, below
   * those that the kernel assigns. A job without a name could reach others without one: its endpoint must be given.
   *
   * @param variable tells whether they are on one machine
   * @param here its value if they are
   * @param job the variables with the job's name; the first is its own, the next that of its part
   */
  private static void meetHere(EnvironmentVariables variables, EnvironmentReadings found, String variable, String here,
      String... job) {
    if (!here.equals(variables.text(variable))) {
      if (variables.has(variable)) {
        found.reading(variable, variables.text(variable), "none: trainers on several machines meet at --seeds");
      }
      return;
    }
    if (!variables.has(job[0])) {
      found.reading(variable, here, "none: without " + job[0] + " the job has no name, and no meeting place of its own: give --seeds");
      return;
    }
    List<String> names = variables.set(job);
    String name = names.stream().map(variables::text).collect(Collectors.joining("."));
    int port = FIRST_PORT + Math.floorMod(name.hashCode(), PORTS);
    found.key(variable, here, "fleet.meeting_place", "127.0.0.1:" + port);
    names.forEach(each -> found.reading(each, variables.text(each), "names the job for its meeting place"));
  }
}
