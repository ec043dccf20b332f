package io.regatta.fleet;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.command.option.FleetOptions;
import io.regatta.fleet.command.option.JobOptions;
import io.regatta.fleet.command.option.SettingsOptions;
import io.regatta.fleet.command.output.RoleLines;
import io.regatta.fleet.launch.LauncherLink;
import io.regatta.fleet.process.JobPart;
import io.regatta.fleet.process.ProcessSettings;
import io.regatta.fleet.role.Role;
import io.regatta.node.Sections;
import io.regatta.node.process.BadArguments;
import io.regatta.training.config.JobConfig;
import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/**
 * A builder of this process's place in a fleet in code, which takes precedence over command line, environment and
 * files.
 */
public final class FleetBuilder {

  @Command(name = "fleet")
  private static final class Arguments {
    @Mixin
    private SettingsOptions settings;

    @Mixin
    private JobOptions job;

    @Mixin
    private FleetOptions place;
  }

  private final JsonObject fleet = new JsonObject();
  private final JsonObject sections = new JsonObject();
  private final JsonObject job = new JsonObject();
  private String[] args = {};
  private Path jobFile;
  private Map<String, String> environment = System.getenv();

  FleetBuilder() {}

  /** Sets the variables that give this process its part in a job, in place of those of its own environment. */
  public FleetBuilder environment(Map<String, String> variables) {
    environment = Map.copyOf(variables);
    return this;
  }

  /**
   * Sets a command line; it takes precedence over environment and files, but not over the other settings of this
   * builder.
   */
  public FleetBuilder args(String... commandLine) {
    args = commandLine.clone();
    return this;
  }

  public FleetBuilder role(Role role) {
    fleet.put("role", role.configName());
    return this;
  }

  /** Sets the rank of a trainer, or the index of a server. */
  public FleetBuilder id(int id) {
    fleet.put("id", id);
    return this;
  }

  /**
   * Sets fixed control ports of the servers by index, {@code host:port} each; goes with {@link #rendezvousEndpoint}.
   */
  public FleetBuilder serverEndpoints(List<String> endpoints) {
    fleet.put("server_endpoints", new JsonArray(endpoints));
    job.put("servers", endpoints.size());
    return this;
  }

  public FleetBuilder rendezvousEndpoint(String endpoint) {
    fleet.put("rendezvous_endpoint", endpoint);
    return this;
  }

  /** Sets the endpoint that this trainer announces to the others. */
  public FleetBuilder endpoint(String endpoint) {
    fleet.put("endpoint", endpoint);
    return this;
  }

  public FleetBuilder trainers(int trainers) {
    job.put("trainers", trainers);
    return this;
  }

  /** Sets the job file, unless the command line names another one. */
  public FleetBuilder job(Path file) {
    jobFile = file;
    return this;
  }

  /** Sets keys of the job, nested as in its file; they take precedence over the file's. */
  public FleetBuilder job(JsonObject keys) {
    job.mergeIn(keys, true);
    return this;
  }

  /**
   * Sets keys of {@code node} and of the services' sections, nested as in a file; they take precedence over the file's.
   */
  public FleetBuilder sections(JsonObject keys) {
    sections.mergeIn(keys, true);
    return this;
  }

  /** Reads everything and checks it; starts nothing yet. */
  public Fleet init() {
    Arguments given = new Arguments();
    try {
      new CommandLine(given).parseArgs(args);
    } catch (CommandLine.ParameterException e) {
      throw new InvalidInput(BadArguments.words(e));
    }
    LauncherLink.follow(System.getenv());
    if (!fleet.containsKey("role") && !given.place.hasRole()) {
      RoleLines.log(given.settings.takeRole(environment));
    }
    ProcessSettings place = given.place.load(given.settings, given.job.readyTimeout(), null,
        sections.copy().mergeIn(new JsonObject().put(Sections.FLEET, fleet), true));
    given.job.file(jobFile);
    boolean described = given.job.given() || !job.isEmpty();
    JobConfig config = described ? given.job.load(given.settings, null, job) : null;
    return new Fleet(JobPart.of(place, config));
  }
}
