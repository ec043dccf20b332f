package io.regatta.fleet.command.option;

import io.regatta.fleet.role.RoleEnvironment;
import io.regatta.node.Sections;
import io.regatta.node.settings.Settings;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import picocli.CommandLine.Option;

/** The options {@code -conf} and {@code --set} for settings of job and services beside the job file. */
public final class SettingsOptions {

  @Option(names = {"-conf", "--conf"}, paramLabel = "FILE", description = "configuration of this process and its "
      + "services: .json, .yaml or .yml with sections fleet, node, rendezvous, parameter_server, gradient_aggregator, "
      + "trainer")
  private Path conf;

  @Option(names = "--set", paramLabel = "KEY=VALUE", description = "overrides any key of the job, e.g. "
      + "optimizer.learning_rate=0.05, or of a section, e.g. node.admin.port=9000 (docs/configuration.md)")
  private List<String> keys = new ArrayList<>();

  private RoleEnvironment role = RoleEnvironment.NONE;
  /** Variables that keys and roles are read from. */
  private Map<String, String> environment = System.getenv();

  /** Returns the file of {@code -conf}; null: none was given. */
  public Path conf() {
    return conf;
  }

  /**
   * Takes the command's part in a job, unless it is given otherwise, from variables of launchers and schedulers.
   *
   * @param variables of this process, or of one that is to be started, by name
   * @return the part that they give
   */
  public RoleEnvironment takeRole(Map<String, String> variables) {
    readFrom(variables);
    return take(RoleEnvironment.read(variables));
  }

  /** Takes a part that has been read already. */
  public RoleEnvironment take(RoleEnvironment read) {
    role = read;
    return role;
  }

  /** Reads keys, but not the command's part, from these variables instead of this process's. */
  public void readFrom(Map<String, String> variables) {
    environment = variables;
  }

  /** Returns the keys that follow from such variables. */
  List<Settings.Option> variables() {
    return role.options();
  }

  /**
   * Returns the variables that may also set keys of job and sections: this process's, or those of another one that were
   * given.
   */
  Map<String, String> environment() {
    return environment;
  }

  /** Returns all {@code --set}, for a command that takes no job: a key of one is unknown to it. */
  public List<String> keys() {
    return List.copyOf(keys);
  }

  /** Returns each {@code --set} of keys of the job. */
  List<String> jobKeys() {
    return keys.stream().filter(key -> !Sections.holds(name(key))).toList();
  }

  /** Returns each {@code --set} of keys of sections. */
  public List<String> sectionKeys() {
    return keys.stream().filter(key -> Sections.holds(name(key))).toList();
  }

  /**
   * Returns {@code -conf}, and {@code --set} of keys of the sections node and rendezvous, as arguments for the job's
   * rendezvous.
   */
  public List<String> rendezvousArguments() {
    List<String> arguments = new ArrayList<>();
    if (conf != null) {
      arguments.addAll(List.of("-conf", conf.toString()));
    }
    keys.stream().filter(key -> isOf(Sections.NODE, name(key)) || isOf(Sections.RENDEZVOUS, name(key)))
        .forEach(key -> arguments.addAll(List.of("--set", key)));
    return arguments;
  }

  private static boolean isOf(String section, String key) {
    return key.equals(section) || key.startsWith(section + ".");
  }

  /** Adds an option that is short for a key; value null: it was not given. */
  public static void add(List<Settings.Option> given, String option, String key, Object value) {
    if (value != null) {
      given.add(new Settings.Option(option, key, value.toString()));
    }
  }

  private static String name(String key) {
    return key.substring(0, key.contains("=") ? key.indexOf('=') : key.length()).strip();
  }
}
