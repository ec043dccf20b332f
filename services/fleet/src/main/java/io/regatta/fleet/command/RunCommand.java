package io.regatta.fleet.command;

import io.regatta.core.error.RegattaException.InvalidInput;
import io.regatta.fleet.command.option.FleetOptions;
import io.regatta.fleet.command.option.JobOptions;
import io.regatta.fleet.command.option.SettingsOptions;
import io.regatta.fleet.command.output.Report;
import io.regatta.fleet.command.output.RoleLines;
import io.regatta.fleet.process.JobPart;
import io.regatta.fleet.process.ProcessSettings;
import io.regatta.node.process.BadArguments;
import io.regatta.training.TrainingProgram;
import io.regatta.training.result.ResultFile;
import io.regatta.training.result.RunResult;
import io.vertx.core.json.JsonObject;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/**
 * The command that takes this process's part in a job, whichever that is; a user's main runs it when no other command
 * is given.
 */
@Command(name = "run", mixinStandardHelpOptions = true,
    description = "Takes the part in a job that --role, the environment or -conf gives (fleet.role).")
final class RunCommand implements Callable<Integer> {

  @ParentCommand
  private Regatta regatta;

  @Spec
  private CommandSpec spec;

  @Mixin
  private SettingsOptions settings;

  @Mixin
  private JobOptions job;

  @Mixin
  private FleetOptions place;

  @Option(names = "--result", paramLabel = "FILE", description = "writes the run's figures there, as JSON")
  private Path result;

  @Override
  public Integer call() {
    PrintWriter out = spec.commandLine().getOut();
    ResultFile.at(result);
    if (!place.hasRole()) {
      RoleLines.say(settings.takeRole(System.getenv()), out);
    }
    try (JobPart part = part(regatta.program(), line -> Report.say(out, line))) {
      if (part.isWorker()) {
        RunResult end = part.train(regatta.program());
        Report.say(out, end);
        end.requireSuccess();
      } else {
        part.serve(regatta.program());
      }
      return Report.DONE;
    }
  }

  private JobPart part(TrainingProgram program, Consumer<String> ready) {
    ProcessSettings here = place.load(settings, job.readyTimeout(), result, new JsonObject());
    return JobPart.of(here, job.given() ? job.load(settings, program) : null, ready);
  }

  /**
   * Refuses arguments that a process started with them would refuse before it does anything.
   *
   * @param arguments of this command
   * @param environment of that process, by name
   * @throws InvalidInput for the first error
   */
  static void check(List<String> arguments, Map<String, String> environment) {
    RunCommand run = new RunCommand();
    try {
      new CommandLine(run).setCaseInsensitiveEnumValuesAllowed(true).parseArgs(arguments.toArray(String[]::new));
    } catch (CommandLine.ParameterException e) {
      throw new InvalidInput(BadArguments.words(e) + " (regatta run --help lists what there is)");
    }
    ResultFile.at(run.result);
    if (run.place.hasRole()) {
      run.settings.readFrom(environment);
    } else {
      run.settings.takeRole(environment);
    }
    try (JobPart part = run.part(null, line -> { })) {
      part.check();
    }
  }
}
