package io.regatta.fleet.role;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.node.process.Proxies;
import io.regatta.node.settings.Settings;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * A process's part in a job as its environment gives it. PaddlePaddle has three generations of variables for that: the
 * {@code PADDLE_INIT_*} of v2, those of Fluid's transpiler, and those of Fleet's role maker. MPI, Slurm and Kubernetes
 * give the index of this process and the number of processes. Variables of two generations at once are refused: they
 * would contradict each other.
 *
 * @param source origin of the variables, in words; empty: the environment gives no part
 * @param options keys that follow, each under the name of its variable
 * @param readings every variable that was read and is set
 * @param notes for the user, one line each
 */
public record RoleEnvironment(String source, List<Settings.Option> options, List<Reading> readings, List<String> notes) {

  /**
   * One variable.
   *
   * @param meaning its effect, for example {@code fleet.role = pserver}
   */
  public record Reading(String variable, String value, String meaning) {}

  public RoleEnvironment {
    options = List.copyOf(options);
    readings = List.copyOf(readings);
    notes = List.copyOf(notes);
  }

  /** No part in a job. */
  public static final RoleEnvironment NONE = new RoleEnvironment("", List.of(), List.of(), List.of());

  /**
   * Reads an environment.
   *
   * @param environment variables by name
   * @throws InvalidInput for a variable that is missing or wrong, which it names, with what was read
   */
  public static RoleEnvironment read(Map<String, String> environment) {
    return read(environment, Map.of());
  }

  /**
   * Reads an environment for a command with options in the words of v2's {@code paddle.init}, which take precedence
   * over the environment.
   *
   * @param arguments their values by the names of their variables, {@code PADDLE_INIT_*}
   */
  public static RoleEnvironment read(Map<String, String> environment, Map<String, String> arguments) {
    Reader reader = new Reader(InitVariables.with(environment, arguments));
    String source = reader.source();
    RunIdVariables.read(reader.variables, reader.found, source);
    reader.barrier();
    reader.unread(source);
    reader.proxies();
    return new RoleEnvironment(source, reader.found.options(), reader.found.readings(), reader.found.notes());
  }

  /**
   * Returns all errors of an environment, a line for each variable, where {@link #read(Map)} stops at the first; empty:
   * it can be read.
   */
  public static List<String> wrong(Map<String, String> environment) {
    EnvironmentVariables variables = InitVariables.with(environment, Map.of()).collecting();
    List<String> wrong = new ArrayList<>();
    try {
      new Reader(variables).source();
    } catch (InvalidInput e) { // behind which nothing can be read
      wrong.add(e.getMessage());
    }
    wrong.addAll(0, variables.wrong());
    return wrong;
  }

  /**
   * Reads the options and variables that have an effect on a process that trains alone: threads and device. A variable
   * that counts is noted.
   */
  public static RoleEnvironment alone(Map<String, String> environment, Map<String, String> arguments) {
    EnvironmentVariables variables = InitVariables.with(environment, arguments);
    EnvironmentReadings found = new EnvironmentReadings(variables::called);
    InitVariables.alone(variables, found);
    return new RoleEnvironment("", found.options(), found.readings(), found.notes());
  }

  /** Returns true if the environment gives this process a part. */
  public boolean isGiven() {
    return !source.isEmpty();
  }

  /** Returns the value of a key that follows; null if none does. */
  public String value(String key) {
    return options.stream().filter(option -> option.key().equals(key)).map(Settings.Option::value).findFirst().orElse(null);
  }

  /**
   * Returns this part, for a process whose role is known from elsewhere.
   *
   * @param role the lower-case form of its role
   * @param by the origin of the role
   * @throws InvalidInput if the environment gives it another one
   */
  public RoleEnvironment as(String role, String by) {
    String given = value("fleet.role");
    if (given != null && !given.equals(role)) {
      String variable = options.stream().filter(option -> option.key().equals("fleet.role")).findFirst().orElseThrow().name();
      throw new InvalidInput(by + " starts a " + role + ", but the " + variable + " makes this process a " + given
          + ": start it with regatta run, or unset that variable");
    }
    return this;
  }

  /** A reader of the generations, in the order in which they are looked for. */
  private static final class Reader {

    private final EnvironmentVariables variables;
    private final EnvironmentReadings found;

    Reader(EnvironmentVariables variables) {
      this.variables = variables;
      found = new EnvironmentReadings(variables::called);
    }

    String source() {
      Map<String, List<String>> given = new LinkedHashMap<>();
      given.put("PADDLE_INIT_*", variables.beginningWith("PADDLE_INIT_"));
      given.put("PADDLE_PSERVER_IPS", TranspilerVariables.set(variables));
      boolean among = !variables.set("PADDLE_TRAINER_ENDPOINTS", "PADDLE_MASTER").isEmpty()
          && !variables.has("PADDLE_PSERVERS_IP_PORT_LIST");
      given.put("TRAINING_ROLE", among ? List.of() : variables.set("TRAINING_ROLE", "PADDLE_PSERVERS_IP_PORT_LIST"));
      given.values().removeIf(List::isEmpty);
      if (given.size() > 1) {
        throw new InvalidInput("the environment gives this process its part in " + given.size() + " ways at once: " + given
            .values().stream().map(this::called).collect(Collectors.joining(" and ")) + ". Unset those of all but one");
      }
      if (given.containsKey("PADDLE_INIT_*")) {
        InitVariables.read(variables, found);
        return "PaddlePaddle v2 (PADDLE_INIT_*)";
      }
      if (given.containsKey("PADDLE_PSERVER_IPS")) {
        TranspilerVariables.read(variables, found);
        return "PaddlePaddle Fluid (PADDLE_TRAINING_ROLE)";
      }
      if (given.containsKey("TRAINING_ROLE")) {
        return RoleMakerVariables.parameterServer(variables, found) ? "PaddlePaddle Fleet (TRAINING_ROLE)" : "";
      }
      if (variables.has("PADDLE_TRAINER_ENDPOINTS")) {
        return RoleMakerVariables.collective(variables, found) ? "PaddlePaddle Fleet, collective (PADDLE_TRAINER_ENDPOINTS)" : "";
      }
      if (variables.has("PADDLE_MASTER")) {
        MasterVariables.read(variables, found);
        return "PaddlePaddle launch, collective (PADDLE_MASTER)";
      }
      TranspilerVariables.checkRole(variables);
      for (String name : variables.set("PADDLE_TRAINER_ID", "PADDLE_TRAINERS_NUM", "PADDLE_TRAINING_ROLE")) {
        found.reading(name, variables.text(name), "none: neither servers nor trainers' endpoints are given");
        found.note(name + " is set, but neither PADDLE_PSERVERS_IP_PORT_LIST nor PADDLE_TRAINER_ENDPOINTS is: it has no effect");
      }
      return SchedulerVariables.read(variables, found);
    }

    private String called(List<String> names) {
      return names.stream().map(variables::called).collect(Collectors.joining(", "));
    }

    /** Records the launch barrier of Paddle's launchers, for a process with a part. */
    void barrier() {
      if (variables.has("FLAGS_LAUNCH_BARRIER")) {
        found.reading("FLAGS_LAUNCH_BARRIER", variables.text("FLAGS_LAUNCH_BARRIER"), "none: a trainer waits for its servers in any "
            + "case, for --ready-timeout at most");
      }
    }

    /** Records variables that a user may have set in the belief that they have an effect. */
    void unread(String source) {
      for (String name : variables.names(KnownVariables::contains)) {
        if (!found.hasRead(name)) {
          found.reading(name, variables.text(name), source.isEmpty() ? "none: it gives no part by itself"
              : "none: not looked at for this kind of part");
        }
      }
    }

    /** Records proxies. Data never goes through one, which every node logs; gRPC clients of other makes do use them. */
    void proxies() {
      for (String name : variables.names(Proxies::isOne)) {
        found.reading(name, variables.text(name), "none: tensors and control calls go past it");
      }
    }
  }
}
