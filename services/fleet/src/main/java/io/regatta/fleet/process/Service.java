package io.regatta.fleet.process;

import io.regatta.fleet.role.LaunchedRole;
import io.regatta.fleet.role.Role;
import io.regatta.node.Node;
import io.regatta.node.Sections;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.JobConfig;
import io.vertx.core.Deployable;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.ToIntFunction;

/**
 * One kind of service: its names, its section, and how commands, processes with a role and a whole job in one process
 * run it. Immutable.
 *
 * @param name in the directory; its section has the same
 * @param section the record of its section
 * @param command the word after {@code regatta}
 * @param description of its purpose, for the usage
 * @param main its main
 * @param role of a process that runs it; null: there is none
 * @param process its verticle in a process with that role; null: such a process trains, or there is no role
 * @param wholeJob its part in a whole job in one process; null: it has none
 * @param auxiliary the properties of an auxiliary service; null: it is none
 */
public record Service<C extends Record>(String name, Class<C> section, String command, String description, Main main,
    Role role, Process process, WholeJob<C> wholeJob, Auxiliary<C> auxiliary) {

  /** Creates a service that is no auxiliary one. */
  Service(String name, Class<C> section, String command, String description, Main main, Role role, Process process,
      WholeJob<C> wholeJob) {
    this(name, section, command, description, main, role, process, wholeJob, null);
  }

  /**
   * The properties of auxiliary services: they serve trainers beside the servers, and a job may have none. Their
   * sections have the keys {@code job}, {@code index} and {@code port}.
   *
   * @param launched the role of their processes in a launch
   * @param purpose a relative clause about several, for the help: {@code which compute ...}
   * @param duty of one, which needs the job, for messages: {@code computes ...}
   * @param alone the effect of a job without services, for the log
   * @param count of those of a job
   * @param index of one; -1: any
   * @param port of one; 0: any
   */
  public record Auxiliary<C extends Record>(LaunchedRole launched, String purpose, String duty, String alone,
      ToIntFunction<JobConfig> count, ToIntFunction<C> index, ToIntFunction<C> port) {

    /** Returns the option of a job's number of them, which stands for the key {@link LaunchedRole#countKey}. */
    public String countOption() {
      return option(launched.countKey());
    }

    /** Returns the option of their fixed endpoints, which stands for the key {@link LaunchedRole#endpointsKey}. */
    public String endpointsOption() {
      return option(launched.endpointsKey().substring(Sections.FLEET.length() + 1));
    }

    private static String option(String key) {
      return "--" + key.replace('.', '-').replace('_', '-');
    }
  }

  /** The main of a service's jar. */
  @FunctionalInterface
  public interface Main {

    /**
     * Runs the service until it ends, and then the JVM.
     *
     * @param command as its user typed it
     * @param program given in code; null: the job's
     */
    void run(String command, String[] arguments, TrainingProgram program);
  }

  /** The verticle of a process that runs this service alone. */
  @FunctionalInterface
  interface Process {

    /**
     * Checks the settings, and returns the factory.
     *
     * @param job null: this process was given none
     * @param program given in code; null: the job's
     */
    Function<Node, Deployable> of(ProcessSettings settings, JobConfig job, TrainingProgram program);
  }

  /**
   * The part of a service in a whole job in one process.
   *
   * @param defaults returns its section of a job without settings
   * @param settings returns its section as this process's settings have it
   * @param verticles its verticles
   */
  record WholeJob<C extends Record>(Function<JobConfig, C> defaults, BiFunction<ProcessSettings, JobConfig, C> settings,
      Verticles<C> verticles) {}

  /** The verticles of a service in a whole job in one process. Trainers have none here: their results are awaited. */
  @FunctionalInterface
  interface Verticles<C extends Record> {

    /**
     * Returns the verticles.
     *
     * @param program given in code; null: the job's
     */
    List<? extends Deployable> of(Node node, C section, JobConfig job, TrainingProgram program);
  }

  /** Returns the verticles for a whole job in one process. */
  public List<? extends Deployable> inWholeJob(Node node, ServiceConfigs configs, JobConfig job,
      TrainingProgram program) {
    return wholeJob == null ? List.of() : wholeJob.verticles().of(node, configs.of(section), job, program);
  }

  /** Returns true if a process with this service's role serves, and does not train. */
  boolean isServer() {
    return process != null;
  }
}
