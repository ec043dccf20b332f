package io.regatta.fleet.command.option;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.process.JobFile;
import io.regatta.fleet.process.Service.Auxiliary;
import io.regatta.fleet.process.Service;
import io.regatta.fleet.process.Services;
import io.regatta.node.settings.Settings;
import io.regatta.training.TrainingProgram;
import io.regatta.training.config.JobConfig;
import io.vertx.core.json.JsonObject;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The job on a command line: its file, and options that override its keys. */
public final class JobOptions {

  private static final Set<String> DISTRIBUTED = Stream.concat(Stream.of("--mode", "--servers", "--shards",
      "--trainers"),
      Services.auxiliaries().stream().map(service -> service.auxiliary().countOption())).collect(Collectors.toSet());

  @Parameters(index = "0", arity = "0..1", paramLabel = "JOB", description = "job file: .yaml, .yml or .json")
  private Path file;

  @Option(names = "--mode", paramLabel = "MODE", description = "exchange mode, for example sync or half-async")
  private String mode;

  @Option(names = "--servers", paramLabel = "N", description = "parameter servers")
  private String servers;

  @Option(names = "--shards", paramLabel = "N", description = "shards per server")
  private String shards;

  @Option(names = "--trainers", paramLabel = "N", description = "trainers")
  private String trainers;

  @Mixin
  private CommandSpec auxiliaries = AuxiliaryOptions.of(Auxiliary::countOption, "N",
      auxiliary -> auxiliary.launched().called() + "s, " + auxiliary.purpose());

  @Option(names = "--max-steps", paramLabel = "N", description = "steps after which a run ends")
  private String maxSteps;

  @Option(names = "--data", paramLabel = "DIR", description = "directory of the data set")
  private String data;

  @Option(names = "--output", paramLabel = "DIR", description = "where the run saves its model")
  private String output;

  @Option(names = "--trace", paramLabel = "FILE", description = "timeline of some steps, in Chrome's trace format")
  private String trace;

  @Option(names = "--ready-timeout", paramLabel = "SECONDS", description = "how long to wait for services and peers")
  private Integer readyTimeout;

  /** Sets the file to take if the command line names none. */
  public void file(Path otherwise) {
    if (file == null) {
      file = otherwise;
    }
  }

  /** Returns the job file; null: none was named. */
  public Path file() {
    return file;
  }

  /** Returns true if there is a job file. */
  public boolean given() {
    return file != null;
  }

  /** Returns {@code --ready-timeout} in seconds, or null. */
  public Integer readyTimeout() {
    return readyTimeout;
  }

  /** Returns the effective job; with a program given in code, the job file needs to name none. */
  public JobConfig load(SettingsOptions settings, TrainingProgram program) {
    return load(settings, program, new JsonObject());
  }

  /** Returns the effective job with values that the program gives; they take precedence. */
  public JobConfig load(SettingsOptions settings, TrainingProgram program, JsonObject code) {
    if (file == null && code.isEmpty()) {
      throw new InvalidInput("a job file is missing: give its path, for example configs/wide-and-deep.yaml");
    }
    JsonObject values = code.copy();
    if (program != null && !values.containsKey("program")) {
      values.put("program", program.getClass().getName());
    }
    return JobFile.load(file, settings.environment(), settings.variables(), options(), settings.jobKeys(), values);
  }

  /**
   * Refuses options that have no effect if one trainer trains with tables in process.
   *
   * @param more other such options of the command that were given
   */
  public void checkLocal(List<String> more) {
    List<String> without = new ArrayList<>(more);
    options().stream().map(Settings.Option::name).filter(DISTRIBUTED::contains).forEach(without::add);
    if (!without.isEmpty()) {
      throw new InvalidInput(String.join(", ", without) + ": no effect with --local, where one trainer trains with tables "
          + "in process, as in sync mode; leave out one or the other");
    }
  }

  private List<Settings.Option> options() {
    List<Settings.Option> given = new ArrayList<>();
    SettingsOptions.add(given, "--mode", "mode", mode == null ? null : mode.replace('-', '_'));
    SettingsOptions.add(given, "--servers", "servers", servers);
    SettingsOptions.add(given, "--shards", "shards", shards);
    SettingsOptions.add(given, "--trainers", "trainers", trainers);
    Services.auxiliaries().stream().map(Service::auxiliary).forEach(auxiliary ->
        SettingsOptions.add(given, auxiliary.countOption(),
        auxiliary.launched().countKey(), auxiliaries.findOption(auxiliary.countOption()).getValue()));
    SettingsOptions.add(given, "--max-steps", "max_steps", maxSteps);
    SettingsOptions.add(given, "--data", "data.dir", data);
    SettingsOptions.add(given, "--output", "output", output);
    SettingsOptions.add(given, "--trace", "trace.file", trace);
    return given;
  }
}
