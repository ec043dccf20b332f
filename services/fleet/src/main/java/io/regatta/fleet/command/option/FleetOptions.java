package io.regatta.fleet.command.option;

import io.regatta.fleet.process.ProcessSettings;
import io.regatta.fleet.role.Role;
import io.regatta.node.settings.Settings;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** The options for this process's place in a fleet: short for keys of the sections {@code fleet} and {@code node}. */
public final class FleetOptions {

  /** The names of the roles. */
  private static final class Roles extends ArrayList<String> {
    Roles() {
      super(Stream.of(Role.values()).map(Role::configName).toList());
    }
  }

  @Option(names = "--role", paramLabel = "ROLE", description = "${COMPLETION-CANDIDATES}",
      completionCandidates = Roles.class)
  private String role;

  @Option(names = {"--id", "--rank"}, paramLabel = "N", description = "rank of a trainer, index of any other process")
  private String id;

  @Option(names = {"--gpus", "--selected_gpus"}, paramLabel = "N,...", description = "GPUs of this machine: in the order of their ranks "
      + "each of its trainers has the next one, in turn")
  private String gpus;

  @Mixin
  private ClusterOptions cluster;

  /** Returns true if {@code --role} was given: then the whole part comes from options and files. */
  public boolean hasRole() {
    return role != null;
  }

  /**
   * Loads the settings of this process.
   *
   * @param settings {@code -conf} and {@code --set}
   * @param readyTimeout seconds, null: as configured
   * @param result file for the run's metrics, null: as configured
   * @param code values given by the program, nested as in a file
   */
  public ProcessSettings load(SettingsOptions settings, Integer readyTimeout, Path result, JsonObject code) {
    List<Settings.Option> given = new ArrayList<>();
    SettingsOptions.add(given, "--role", "fleet.role", role);
    SettingsOptions.add(given, "--id", "fleet.id", id);
    cluster.addTo(given);
    SettingsOptions.add(given, "--ready-timeout", "node.ready_timeout_seconds", readyTimeout);
    SettingsOptions.add(given, "--result", ProcessSettings.RESULT, result);
    SettingsOptions.add(given, "--gpus", ProcessSettings.GPUS, gpus);
    return ProcessSettings.load(Settings.Sources.ofProcess(settings.conf(), given, settings.sectionKeys())
        .withEnvironment(settings.environment()).withVariables(settings.variables()).withCode(code));
  }
}
